"""Answers -> scores."""
