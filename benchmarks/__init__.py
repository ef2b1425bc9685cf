"""Scripts behind every number that we claim: `python -m benchmarks.NAME`."""
