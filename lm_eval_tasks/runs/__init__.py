"""Runs of models: generating, logged samples, statistics, comparison."""
