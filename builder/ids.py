"""The identifiers that papers and authors go by; titles go by `lm_eval_tasks.core.text.title_key`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from lm_eval_tasks.core.text import fold

_NEW = r"\d{4}\.\d{4,5}"
_OLD = r"[a-z][a-z-]*(?:\.[A-Z]{2})?/\d{7}"
# A bare id as it may occur in a text; both schemes of https://info.arxiv.org/help/arxiv_identifier.html.
ID_PATTERN = rf"(?:{_NEW}|{_OLD})"
_VERSION = r"(?:v(?P<version>[1-9]\d{0,3}))?"
_ID = re.compile(rf"(?P<id>{ID_PATTERN}){_VERSION}")
_STEM = re.compile(rf"(?P<id>{ID_PATTERN.replace('/', '_')}){_VERSION}")


@dataclass(frozen=True, slots=True)
class PaperId:
    """An arXiv identifier: nothing else becomes one, so that it can safely become a path or a URL.

    Attributes:
        bare: without version.
        version: None if none is named.
    """

    bare: str
    version: int | None = None

    @classmethod
    def parse(cls, text: str) -> PaperId | None:
        """The id that a text is, with or without `arXiv:` and version; None if it is not one."""
        return cls._of(_ID.fullmatch(text.strip().removeprefix("arXiv:")))

    @classmethod
    def of_stem(cls, stem: str) -> PaperId | None:
        """The id that a file name (without suffix) represents; None if it represents none."""
        found = cls._of(_STEM.fullmatch(stem))
        return replace(found, bare=found.bare.replace("_", "/")) if found else None

    @classmethod
    def _of(cls, match: re.Match[str] | None) -> PaperId | None:
        return cls(match["id"], int(match["version"]) if match["version"] else None) if match else None

    @property
    def stem(self) -> str:
        """The file name (without suffix) of the bare id: `/` of the old scheme becomes `_`."""
        return self.bare.replace("/", "_")


def bare_id(name: str) -> str:
    """A paper's id without its version; any other name (a cited paper known by its title) is returned unchanged."""
    parsed = PaperId.parse(name)
    return parsed.bare if parsed else name


def author_key(name: str) -> str:
    """The key under which an author name is filed: case, spaces, diacritics and full stops do not count."""
    plain = name.replace(".", " ")
    # Most names; a graph of millions asks for each of them.
    return " ".join(plain.casefold().split()) if plain.isascii() else fold(plain)
