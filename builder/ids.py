"""The identifiers that papers, authors and titles go by."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_NEW = r"\d{4}\.\d{4,5}"
_OLD = r"[a-z][a-z-]*(?:\.[A-Z]{2})?/\d{7}"
_ARXIV_ID = re.compile(rf"(?P<id>{_NEW}|{_OLD})(?:v(?P<version>[1-9]\d*))?")
_STEM = re.compile(rf"(?P<id>{_NEW}|[a-z][a-z-]*(?:\.[A-Z]{{2}})?_\d{{7}})(?:v(?P<version>[1-9]\d*))?")


def parse_arxiv_id(text: str) -> tuple[str, int | None] | None:
    """Split an arXiv identifier into its bare id and version; None when it is none.

    Both schemes of https://info.arxiv.org/help/arxiv_identifier.html are accepted; nothing else is, so that an id
    can safely become a path or a URL.
    """
    match = _ARXIV_ID.fullmatch(text.strip().removeprefix("arXiv:"))
    if match is None:
        return None
    return match["id"], int(match["version"]) if match["version"] else None


def id_to_stem(arxiv_id: str) -> str:
    """The file name (without suffix) of an arXiv id: `/` of the old scheme becomes `_`."""
    return arxiv_id.replace("/", "_")


def stem_to_id(stem: str) -> str | None:
    """The bare arXiv id that a file name stands for; None when it stands for none."""
    match = _STEM.fullmatch(stem)
    return match["id"].replace("_", "/") if match else None


def fold(text: str) -> str:
    """Lower-case a text and strip diacritics and repeated spaces."""
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text)
        text = "".join(c for c in decomposed if not unicodedata.combining(c))
    return " ".join(text.casefold().split())


@lru_cache(maxsize=1 << 17)  # the same names come again and again
def author_key(name: str) -> str:
    """The key under which an author name is filed: case, spaces, diacritics and full stops do not count."""
    return fold(name.replace(".", " "))


def title_key(title: str) -> str:
    """The key under which a title is filed: only its letters and digits count."""
    return "".join(c for c in fold(title) if c.isalnum())
