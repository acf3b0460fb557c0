"""Which works exist: a compact filter over the titles, and the authors and years, of all records that a builder has.

A Bloom filter (Bloom 1970): a work that is in it is always found; one that is not is found by chance as often as `false_positives` says.
Names and years are shared by many works, so that a mention by author and year is weak evidence; a title is strong evidence.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from lm_eval_tasks.core.errors import DatasetError
from lm_eval_tasks.core.files import sha256_of_bytes
from lm_eval_tasks.core.text import ODD, parse_json, title_key

_MAGIC = b"academiceval works 1\n"
# Of a key: 10 bits and 7 hashes let 0.8 % of what is not there pass.
_BITS, _HASHES = 10, 7
_MOST = 1 << 33
_AT_ONCE = 1 << 20


# sha256 of a filter's file -> the filter, of those that this process has read.
_READ: dict[str, Works] = {}


def learn(data: bytes, origin: str) -> str:
    """Read a filter's file for `works_of`, and return its sha256.

    Raises:
        DatasetError: see `Works.from_bytes`.
    """
    name = sha256_of_bytes(data)
    if name not in _READ:
        _READ[name] = Works.from_bytes(data, origin)
    return name


def works_of(name: str) -> Works | None:
    """The filter whose file has this sha256; None where none was read."""
    return _READ.get(name)


def work_key(title: str) -> str:
    """The key of a work by its title."""
    return "t" + title_key(title)


def author_key(surnames: Sequence[str], year: int) -> str:
    """The key of a work by its first author, or both authors of two, and its year."""
    return f"a{'&'.join(map(title_key, surnames))}{year}"


def keys_of(title: str, authors: Sequence[str], year: int) -> Iterator[str]:
    """All keys of a work. Its year may be that of arXiv or the next, when it was published elsewhere."""
    surnames = [name.split()[-1] for name in authors[:2] if name.split()]
    yield work_key(title)
    for one in (year, year + 1):
        if surnames:
            yield author_key(surnames[:1], one)
        if len(authors) == 2 == len(surnames):
            yield author_key(surnames, one)


@dataclass(frozen=True, slots=True)
class Works:
    """The filter.

    Attributes:
        keys: how many are in it.
        size: bits.
        bits: packed, shape (size / 8,).
    """

    keys: int
    size: int
    bits: NDArray[np.uint8]

    @property
    def false_positives(self) -> float:
        """The share of keys that are not in it but seem to be."""
        return (1 - math.exp(-_HASHES * self.keys / self.size)) ** _HASHES

    def __contains__(self, key: str) -> bool:
        places = _places([key], self.size)[0]
        return bool(np.all((self.bits[places >> 3] >> (7 - (places & 7)).astype(np.uint8)) & 1))

    def to_bytes(self) -> bytes:
        """The filter as a file."""
        head = json.dumps({"keys": self.keys, "bits": self.size}).encode()
        return _MAGIC + head + b"\n" + self.bits.tobytes()

    @classmethod
    def of(cls, keys: Iterable[str]) -> Works:
        """The filter of some keys; the same ones in any order give the same filter."""
        unique = sorted(set(keys))
        size = max(64, -(-len(unique) * _BITS // 8) * 8)
        marks = np.zeros(size, dtype=bool)
        for start in range(0, len(unique), _AT_ONCE):
            marks[_places(unique[start : start + _AT_ONCE], size).ravel()] = True
        return cls(len(unique), size, np.packbits(marks))

    @classmethod
    def from_bytes(cls, data: bytes, origin: str) -> Works:
        """Read what `to_bytes` wrote.

        Args:
            origin: what to call it in an error.

        Raises:
            DatasetError: it is something else.
        """
        magic, head, bits = data[: len(_MAGIC)], *data[len(_MAGIC) :].partition(b"\n")[::2]
        try:
            facts = parse_json(head)
            keys, size = int(facts["keys"]), int(facts["bits"])
            if magic != _MAGIC or size != 8 * len(bits) or not 0 <= keys < size < _MOST:
                raise ValueError("its parts do not fit together")
        except ODD as err:
            raise DatasetError(f"{origin} is not a filter of works ({err}); take the dataset again") from err
        return cls(keys, size, np.frombuffer(bits, dtype=np.uint8))


def _places(keys: Sequence[str], size: int) -> NDArray[np.uint64]:
    """The bits of each key, shape (keys, hashes)."""
    digests = b"".join(blake2b(key.encode("utf-8", "replace"), digest_size=16).digest() for key in keys)
    first, step = np.frombuffer(digests, dtype="<u8").reshape(-1, 2).T
    return np.asarray((first[:, None] + np.arange(_HASHES, dtype=np.uint64) * (step | 1)[:, None]) % np.uint64(size))
