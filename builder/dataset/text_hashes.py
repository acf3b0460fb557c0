"""What stands for a text that may not be published: its hash and length."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import pyarrow as pa

TEXTS = ("texts", pa.list_(pa.struct([("name", pa.string()), ("sha256", pa.string()), ("characters", pa.int64())])))


def digest(text: str) -> str:
    """The hash that stands for a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def described(texts: Mapping[str, str]) -> list[dict[str, object]]:
    """The column `TEXTS` of a row whose texts are these, by their places in it."""
    return [{"name": name, "sha256": digest(text), "characters": len(text)} for name, text in texts.items()]
