"""Errors that are not bugs: the caller's and the device's."""


class UsageError(ValueError):
    """The caller asked for something that does not exist. No device is at fault, and nothing was started."""


class TaskError(UsageError):
    """The code of the caller's own task or app is wrong; its cause is the exception that it raised."""


class DeviceError(RuntimeError):
    """The device failed or cannot be reached. The episode ends without a verdict."""
