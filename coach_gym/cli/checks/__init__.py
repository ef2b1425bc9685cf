"""The checks of `coach-gym doctor`."""
