"""The system around the apps: windows, bars, keyboard, launcher, notification shade."""
