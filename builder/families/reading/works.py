"""Cited works: entries of several papers' reference lists that are certainly the same work, and those that may not be."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from builder.records import Document
from lm_eval_tasks.base.text import fold, title_key

# A title of fewer words is found in too many texts.
_LEAST_WORDS = 4
# A preprint may be older than what was published.
_MOST_YEARS = 2

_GARBLED = re.compile(r"[\u00a8\u00b4\u00b8\u02c6-\u02dd`^~\ufffd]|\w- \w")
# The share of two titles' words that are the same if they may be one.
_NEAR = 0.5
WorkFault = Literal["short_title", "no_author", "other_author", "other_year", "other_id", "inside_another_title"]


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a paper's reference list.

    Attributes:
        cited_id: of the arXiv paper that it was resolved to; "" for none.
    """

    paper: str
    number: int
    title: str
    author: str
    year: int | None
    cited_id: str


@dataclass(frozen=True, slots=True)
class CitedWork:
    """A work that papers cite: its title as most of them print it, and their entries by paper."""

    key: str
    title: str
    entries: Mapping[str, Entry]


def is_garbled(title: str) -> bool:
    """Tell whether a file has lost letters of a title: accents stand alone, or words are broken."""
    return _GARBLED.search(title) is not None


def near_titles(entries: Iterable[Entry]) -> Callable[[CitedWork], bool]:
    """Return what tells whether a paper that does not cite a work has an entry of about the same year that may be the work under another
    title: half of the words of both are the same.
    """
    having: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        for word in _words(entry.title):
            having[word].append(entry)

    def has_near(work: CitedWork) -> bool:
        words = _words(work.title)
        # With half of the words in common, one of the rarer half is.
        rare = sorted(words, key=lambda word: (len(having[word]), word))[: len(words) // 2 + 1]
        others = {(entry.paper, entry.number): entry for word in rare for entry in having[word]}
        return any(entry.paper not in work.entries and _are_near(work, words, entry) for entry in others.values())

    return has_near


def _are_near(work: CitedWork, words: frozenset[str], entry: Entry) -> bool:
    if entry.year and all(abs((other.year or 0) - entry.year) > _MOST_YEARS for other in work.entries.values()):
        return False
    others = _words(entry.title)
    return len(words & others) >= _NEAR * len(words | others)


@lru_cache(maxsize=1 << 14)
def _words(title: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", fold(title)))


def entries_of(paper: str, document: Document, resolved: Mapping[int, str]) -> list[Entry]:
    """Return the entries of a paper's reference list that have a title; `resolved` are the ids of the arXiv papers that entries are."""
    return [
        Entry(paper, i, entry.title, fold(entry.authors[0]) if entry.authors else "", entry.year, resolved.get(i, ""))
        for i, entry in enumerate(document.references)
        if entry.title
    ]


def certain_works(entries: Iterable[Entry]) -> tuple[dict[str, CitedWork], Counter[WorkFault]]:
    """Return the works that the papers of a set cite, by the keys of their titles; and why titles stand for no work that is certain, with
    how many such titles several papers cite.
    """
    by_key: dict[str, list[Entry]] = defaultdict(list)
    titles_of_id: dict[str, set[str]] = defaultdict(set)
    for entry in entries:
        key = title_key(entry.title)
        by_key[key].append(entry)
        titles_of_id[entry.cited_id].add(key)
    all_keys = "\n".join(by_key)
    works: dict[str, CitedWork] = {}
    faults: Counter[WorkFault] = Counter()
    for key, of_key in sorted(by_key.items()):
        if fault := _fault(key, of_key, titles_of_id, all_keys):
            faults[fault] += len({entry.paper for entry in of_key}) > 1
        else:
            title = min(Counter(entry.title for entry in of_key).items(), key=lambda item: (-item[1], item[0]))[0]
            works[key] = CitedWork(key, title, {entry.paper: entry for entry in of_key})
    return works, faults


def _fault(key: str, entries: list[Entry], titles_of_id: Mapping[str, set[str]], all_keys: str) -> WorkFault | None:
    if len(entries[0].title.split()) < _LEAST_WORDS:
        return "short_title"
    if not all(entry.author for entry in entries):
        return "no_author"
    authors, papers = {entry.author for entry in entries}, {entry.paper for entry in entries}
    if len(authors) > 1 or len(papers) < len(entries):
        return "other_author"
    years = [entry.year for entry in entries if entry.year]
    if len(years) < len(entries) or max(years) - min(years) > _MOST_YEARS:
        return "other_year"
    ids = {entry.cited_id for entry in entries if entry.cited_id}
    if len(ids) > 1 or any(len(titles_of_id[id_]) > 1 for id_ in ids):
        return "other_id"
    # Titles are looked for among those that several papers cite: counting costs time.
    return "inside_another_title" if len(entries) > 1 and all_keys.count(key) > 1 else None
