"""Environments outside this process: in another one, or on another machine of a Ray cluster."""
