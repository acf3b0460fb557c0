"""Damaged bytes."""

from __future__ import annotations

import random
from collections.abc import Sequence


def damaged(data: bytes, rng: random.Random, most: int = 12, put_in: Sequence[bytes] = ()) -> bytes:
    """The bytes with a few places changed, cut out, doubled or cut off, and with odd pieces put in where some are given."""
    out = bytearray(data)
    for _ in range(rng.randint(1, most)):
        at = rng.randrange(len(out))
        length = rng.choice((1, 1, 4, 40, 400))
        match rng.randrange(5 if put_in else 4):
            case 0:
                out[at : at + length] = bytes(rng.randrange(256) for _ in range(length))
            case 1:
                del out[at : at + length]
            case 2:
                out[at:at] = out[at : at + length]
            case 3:
                del out[at + rng.randrange(len(out) - at) :]
            case _:
                out[at:at] = rng.choice(put_in)
        if not out:
            break
    return bytes(out)
