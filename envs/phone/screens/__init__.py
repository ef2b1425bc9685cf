"""Screens that apps share: for dates and times, folders and new files, lists and forms."""
