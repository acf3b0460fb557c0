"""What a paper's record must contain before it may become part of a round, whatever source it comes from."""

from __future__ import annotations

import re
from collections.abc import Iterable

from builder.ids import PaperId
from builder.records import GROUP, Paper
from lm_eval_tasks.base.text import day, is_valid

_CATEGORY = re.compile(r"[A-Za-z][A-Za-z0-9-]{1,60}(?:\.[A-Za-z0-9-]{1,60})?")
_MOST_VERSIONS = 9999
_ORCID = re.compile(r"\d{4}-\d{4}-\d{4}-\d{3}[\dX]", re.ASCII)
_LONGEST = {"title": 10_000, "abstract": 100_000, "license": 1_000, "doi": 1_000, "author": 1_000}
_MOST_AUTHORS = 20_000
# What lists of authors have between names and behind them.
_NO_NAME = re.compile(
    r"(?:et\.? al\.?|(?:and )?others|(?:for|on behalf of)\b.*\b(?:collaborations?|consorti(?:um|a)|teams?|groups?)|(?:jr|sr)\.?"
    r"|(?-i:[IVX]+))",
    re.IGNORECASE,
)
_TAIL = re.compile(r"\s+(?:et\.? al\.?|and others)$", re.IGNORECASE)
# arXiv has no flag for withdrawal: authors or moderators say so in the comment or, at its beginning, in the abstract.
_PAPER = r"(?:paper|article|manuscript|submission|preprint|report)"
_IS, _BACK = (
    r"(?:(?:has|have) been|is|was|is being)(?: \w+ly)?",
    r"(?:withdrawn|retracted|removed (?:by|from) (?:the )?arxiv)\b",
)
_TAKEN_BACK = rf"(?:this|the|our) {_PAPER} {_IS} {_BACK}"
_WHY = r"(?=\W*$|\W+(?:by|due|because|for|as|pending|until|since|after|in order|temporarily)\b)"
_WITHDRAWN = re.compile(
    rf"^\W*(?:{_PAPER} )?withdrawn\b{_WHY}|{_TAKEN_BACK}|\b{_PAPER} (?:withdrawn|removed (?:by|from) arxiv)\b{_WHY}|\bremoved by arxiv\b",
    re.IGNORECASE,
)
_OPENS_WITHDRAWN = re.compile(rf"\W*(?:withdrawn\b{_WHY}|{_TAKEN_BACK})", re.IGNORECASE)
# What another paper is called.
_OTHER_PAPER = re.compile(
    r"supersede|replace|(?:previous|earlier|first|old) (?:version|paper|submission)|version of", re.IGNORECASE
)


def is_withdrawn(comment: str | None, abstract: str | None) -> bool:
    """Whether a record of arXiv says that its paper was taken back."""
    says_it = _WITHDRAWN.search(comment or "") and not _OTHER_PAPER.search(comment or "")
    return bool(says_it or _OPENS_WITHDRAWN.match(abstract or ""))


def names_of(listed: Iterable[str]) -> tuple[str, ...]:
    """The names of a list of authors, without what stands between and behind names."""
    names = (_TAIL.sub("", " ".join(name.split())).strip(" :;,") for name in listed)
    return tuple(name for name in names if any(map(str.isalpha, name)) and not _NO_NAME.fullmatch(name))


def checked_paper(paper: Paper) -> Paper:
    """The paper, if every field is what it should be; a ValueError if one is not; the message names it."""
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
    _check_ids(paper)
    for moment in (paper.published, paper.updated):
        day(moment.isoformat())
    return paper


def _check_ids(paper: Paper) -> None:
    if len(paper.author_ids) not in (0, len(paper.authors)):
        raise ValueError("not as many ids of authors as authors")
    for author_id in paper.author_ids:
        if author_id not in ("", GROUP) and not (isinstance(author_id, str) and _ORCID.fullmatch(author_id)):
            raise ValueError(f"id of an author {author_id!r:.40}")
    for other in paper.other_ids:
        if not isinstance(other, str) or (other_id := PaperId.parse(other)) is None or other_id.bare != other:
            raise ValueError(f"other id {other!r:.40}")


def _text(name: str, value: object) -> None:
    if not isinstance(value, str) or len(value) > _LONGEST[name] or not is_valid(value):
        raise ValueError(f"{name} is not a text, is too long, or contains what no text may contain")
