"""Errors that are not bugs: the caller's and the device's."""


class UsageError(ValueError):
    """The caller asked for something that does not exist. No device is at fault, and nothing was started."""


class DeviceError(RuntimeError):
    """The device failed or cannot be reached. The episode ends without a verdict."""
