"""Made-up runs with known truths, for `inference.py`."""
