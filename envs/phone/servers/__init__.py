"""Servers through which other programs reach the phone: the protocols of a real Android device."""
