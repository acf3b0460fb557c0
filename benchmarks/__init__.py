"""Benchmarks; `python -m benchmarks` runs all and writes `results.md`."""
