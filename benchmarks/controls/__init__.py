"""The method against its baselines and controls, from one base, on the same tasks and instances."""
