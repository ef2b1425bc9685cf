"""Demonstrations from elsewhere and from here, as episodes on disk."""
