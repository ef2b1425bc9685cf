"""Pictures of this project: their style, and those that are not a benchmark's."""
