"""Suites of tasks: what is asked of an agent, and how success is checked."""
