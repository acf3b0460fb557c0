"""Rounds made of what SCALAR has published."""
