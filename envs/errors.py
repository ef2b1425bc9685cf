"""The two errors that are not bugs: the caller's, and the device's."""


class UsageError(ValueError):
    """The caller asked for something that does not exist. The device is all right; nothing was started."""


class DeviceError(RuntimeError):
    """The device failed, or cannot be reached. It has said nothing: the episode ends without a verdict."""
