"""Tests compare bits, fork, and spawn several processes, which one GPU does not bear; so they do not see one.

`CUDA_VISIBLE_DEVICES=0 python -m pytest tests/agents` runs them on the first GPU nevertheless.
"""

import os

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")  # before torch is imported
