"""The commands of `coach-gym`, one file each."""
