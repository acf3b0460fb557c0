"""What a paper's record must contain before it may become part of a round, whatever source it comes from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from builder.ids import PaperId
from lm_eval_tasks.core.text import day, is_valid

if TYPE_CHECKING:
    from builder.records import Paper

_CATEGORY = re.compile(r"[A-Za-z][A-Za-z-]{1,30}(?:\.[A-Za-z-]{1,30})?")
_MOST_VERSIONS = 9999
_LONGEST = {"title": 10_000, "abstract": 100_000, "license": 1_000, "doi": 1_000, "author": 1_000}
_MOST_AUTHORS = 20_000


def checked_paper(paper: Paper) -> Paper:
    """The paper, if every field is what it should be.

    Raises:
        ValueError: one is not; the message names it.
    """
    parsed = PaperId.parse(paper.id)
    if parsed is None or (parsed.bare, parsed.version) != (paper.id, None):
        raise ValueError(f"{paper.id!r:.40} is not the bare id of a paper")
    if type(paper.version) is not int or not 1 <= paper.version <= _MOST_VERSIONS:
        raise ValueError(f"version {paper.version!r:.40}")
    for name in ("title", "abstract", "license", "doi"):
        _text(name, getattr(paper, name))
    if not paper.title or not 0 < len(paper.authors) <= _MOST_AUTHORS:
        raise ValueError("no title, no authors, or too many")
    for author in paper.authors:
        _text("author", author)
    for category in paper.categories:
        if not isinstance(category, str) or not _CATEGORY.fullmatch(category):
            raise ValueError(f"category {category!r:.40}")
    for moment in (paper.published, paper.updated):
        day(moment.isoformat())
    return paper


def _text(name: str, value: object) -> None:
    if not isinstance(value, str) or len(value) > _LONGEST[name] or not is_valid(value):
        raise ValueError(f"{name} is not a text, is too long, or contains what no text may contain")
