"""What replaces a text that may not be published: its hash and length."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from lm_eval_tasks.base.files import sha256_of_bytes

TEXTS = ("texts", pa.list_(pa.struct([("name", pa.string()), ("sha256", pa.string()), ("characters", pa.int64())])))


def digest(text: str) -> str:
    """The hash that represents a text."""
    return sha256_of_bytes(text)


def hash_column(texts: Mapping[str, str]) -> list[dict[str, object]]:
    """The column `TEXTS` of a row whose texts are these, by their places in it."""
    return [{"name": name, "sha256": digest(text), "characters": len(text)} for name, text in texts.items()]


def hashes_of(row: Mapping[str, Any]) -> dict[str, str]:
    """The hashes of a row by id: place of a text in the whole row -> its hash."""
    return {text["name"]: text["sha256"] for text in row["texts"]}


def matches(texts: Mapping[str, str], hashes: Mapping[str, str]) -> bool:
    """Whether texts are those that these hashes were made of."""
    return {name: digest(text) for name, text in texts.items()} == hashes
