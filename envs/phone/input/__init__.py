"""Fingers, keys and typed text on their way to the screen."""
