"""Random choices that depend only on what they are made for: not on the order of work, nor on other choices."""

import hashlib


def digest_of(*values: object) -> bytes:
    """Return 32 bytes that the parts decide; to sort by, for an order that is random and always the same."""
    return hashlib.sha256("|".join(map(str, values)).encode()).digest()


def row_order(id_: str) -> bytes:
    """Return what rows are sorted by, so that the first ones of a split are a random sample of it: the hash of an id alone."""
    return digest_of("row", id_)


def integer_of(*values: object) -> int:
    """Return a whole number below 2**64 that the parts decide."""
    return int.from_bytes(digest_of(*values)[:8])


def share_of(*values: object) -> float:
    """Return a number in [0, 1) that the parts decide."""
    return integer_of(*values) / 2**64
