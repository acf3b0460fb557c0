"""Samples to columns, scores with intervals, comparisons."""
