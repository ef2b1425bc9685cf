"""Demonstrations from elsewhere and from here, as episodes on disk, and such episodes for others."""
