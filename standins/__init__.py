"""Small worlds, servers and models that stand in for real ones, in tests, benchmarks and the demo."""
