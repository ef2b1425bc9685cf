"""Whole programs of others, from their checkouts, on the embedded phone."""
