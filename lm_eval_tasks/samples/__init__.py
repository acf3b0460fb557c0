"""Samples and results of a run as typed records, and the files that they are kept in."""
