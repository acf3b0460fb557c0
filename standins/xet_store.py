"""Content-addressed storage as the Hub's Xet protocol uploads to it, read back into whole files.

https://huggingface.co/docs/xet: a xorb holds chunks, a shard says of which chunks each file is made.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator

import pyarrow as pa

_HEADER = 48
_END = b"\xff" * 32
_VERIFIED, _HAS_SHA256 = 1 << 31, 1 << 30
_STORED, _LZ4 = 0, 1


class XetStore:
    """Xorbs by their hashes."""

    def __init__(self) -> None:
        self._chunks: dict[str, list[bytes]] = {}

    def add_xorb(self, hash_: str, data: bytes) -> None:
        self._chunks[hash_] = list(_chunks(data))

    def files(self, shard: bytes) -> dict[str, bytes]:
        """Return the files of a shard, by sha256."""
        found = {}
        at = _HEADER
        while shard[at : at + 32] != _END:
            flags, entries = struct.unpack_from("<II", shard, at + 32)
            at += _HEADER
            data = b""
            for i in range(entries):
                xorb, (first, last) = shard[at + i * 48 :][:32], struct.unpack_from("<II", shard, at + i * 48 + 40)
                data += b"".join(self._chunks[_name(xorb)][first:last])
            at += entries * 48 * (2 if flags & _VERIFIED else 1)
            assert flags & _HAS_SHA256, "the client gives the sha256 of each file"
            sha256 = _name(shard[at : at + 32])
            assert hashlib.sha256(data).hexdigest() == sha256
            at += 48
            found[sha256] = data
        return found


def _chunks(data: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        packed, scheme, size = int.from_bytes(data[at + 1 : at + 4], "little"), data[at + 4], data[at + 5 : at + 8]
        body = data[at + 8 : at + 8 + packed]
        plain = int.from_bytes(size, "little")
        yield _unpacked(body, scheme, plain)
        at += 8 + packed


def _unpacked(body: bytes, scheme: int, size: int) -> bytes:
    if scheme == _STORED:
        return body
    data: bytes = pa.Codec("lz4").decompress(body, size, asbytes=True)
    if scheme == _LZ4:
        return data
    # Grouped by byte: all first bytes of four, then all second ones, and so on.
    lengths = [(size + 3 - i) // 4 for i in range(4)]
    starts = [sum(lengths[:i]) for i in range(4)]
    return bytes(data[starts[i % 4] + i // 4] for i in range(size))


def _name(raw: bytes) -> str:
    return "".join(f"{word:016x}" for word in struct.unpack("<4Q", raw))
