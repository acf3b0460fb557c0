"""What we touch of other libraries that they do not promise to keep: one module for each library.

Each function says which public way we would rather use. `tests/test_compat.py` fails clearly when a new release breaks one.
"""
