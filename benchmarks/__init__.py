"""The scripts behind every figure we publish: `python -m benchmarks.NAME`."""
