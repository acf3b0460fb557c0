"""Texts made worse on purpose, and changed without harm: what metrics are measured with."""
