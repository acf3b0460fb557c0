"""Reference lists -> records of the papers that they cite."""
