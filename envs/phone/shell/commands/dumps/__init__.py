"""What `dumpsys` prints."""
