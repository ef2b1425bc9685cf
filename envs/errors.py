"""Errors that are nobody's fault but the caller's."""


class UsageError(ValueError):
    """The caller asked for something that does not exist. The device is all right; nothing was started."""
