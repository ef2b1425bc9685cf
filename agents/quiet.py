"""Silences what transformers prints while it is imported: it imports torchao wherever that is installed.

torchao then reports that its kernels for other GPUs cannot be loaded, which nothing here uses, and torch reports that
torchao calls something deprecated.
"""

import logging

NOISE = {"torchao": "Failed to load ", "torch.utils._pytree": "%s is an Enum subclass"}
"""Beginnings of the messages, by logger."""


def _silence(logger: str, beginning: str) -> None:
    logging.getLogger(logger).addFilter(lambda record: not str(record.msg).startswith(beginning))


for _logger, _beginning in NOISE.items():
    _silence(_logger, _beginning)
