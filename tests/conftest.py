"""Tests compare bits, fork, and spawn several processes, which one GPU does not bear; so they do not see one.

`CUDA_VISIBLE_DEVICES=0 python -m pytest tests/agents` runs them on the first GPU nevertheless.
"""

import gc
import os

import pytest

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")  # before torch is imported


def pytest_collection_finish():
    """Keeps the collector away from what stays to the end: modules and twelve thousand tests."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def _collect_garbage():
    """Frees phones and agents, which refer to themselves: the collector counts objects and not their megabytes."""
    yield
    gc.collect()
