"""The parts of other libraries that we use although they may change without notice: one module for each library.

Each function says which public way we would rather use. `tests/test_compat.py` fails clearly when a new release breaks one.
"""
