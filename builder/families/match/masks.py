"""Match: some citations of a paper are masked; which of the papers shown is each of them?

A work is masked at all its places under one number, if it is cited alone at one of them and no name gives it away; the works are
older than the paper, not by much, and not known to everybody.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain, islice

from builder.collect.near_duplicates import near_duplicate
from builder.families.reading.neutral import sentence_end, sentence_start, with_brackets
from builder.families.reading.papers_read import PaperLibrary, PaperRead
from builder.records import Mention, Paper, Reference
from builder.seeding import digest_of
from lm_eval_tasks.base.bm25 import bm25_scores
from lm_eval_tasks.base.text import title_key, without_marks

_WORD = re.compile(r"[^\W_][\w’'-]*")
_HEAD_END, _WRAPPED = re.compile(r":|\?|\s[–—-]\s"), re.compile(r"(?<=\w)[-\u00ad]\s+(?=\w)")
_SURNAME, _YEAR = re.compile(r"[A-Z][\w’'-]+"), re.compile(r"\d")
_LEAST, _MOST_OF_HEAD = 3, 3
# Letters of surnames that may be words.
_LONGEST_WORD = 5


def names_of(paper: Paper, entry: Reference | None = None) -> frozenset[str]:
    """Return what a text may name a work by, without accents: the few words that its title begins with before a colon or dash, words of the
    title with a capital or digit within them ("ResNet", "GPT2"), and the surnames of its authors, also the parts of double ones.

    Args:
        entry: of a reference list; where it has no more than how the work is cited, "Levine and Shah, [2023]", that names authors.
    """
    title = without_marks(paper.title)
    head, *rest = _HEAD_END.split(title, maxsplit=1)
    heads = [" ".join(head.split())] if rest and len(head.split()) <= _MOST_OF_HEAD else []
    coined = [word for word in _WORD.findall(title) if any(c.isupper() or c.isdigit() for c in word[1:])]
    authors = [*paper.authors, *(entry.authors if entry else ())]
    if entry and not entry.authors and len(entry.raw) <= _LONGEST_MARKER:
        authors += _SURNAME.findall(_YEAR.split(entry.raw)[0])
    surnames = [without_marks(author).split()[-1] for author in authors if author.split()]
    pieces = [piece for name in surnames if "-" in name for piece in name.split("-")]
    return frozenset([*(name for name in (*heads, *coined, *pieces) if len(name) >= _LEAST), *surnames])


def pattern_of(names: Iterable[str]) -> re.Pattern[str] | None:
    """Return what finds any of some names in a `bare` text, in capitals or not; None if there is none.

    Short ones are words too: "Long" counts with its capital alone, "He" only where it stands as a name.
    """
    ordered = sorted(names, key=lambda name: (-len(name), name))
    return (
        re.compile(rf"\b(?:{'|'.join(map(_one_pattern, ordered))})(?:’s|'s|s)?\b", re.IGNORECASE) if ordered else None
    )


def _one_pattern(name: str) -> str:
    escaped = re.escape(name).replace(r"\-", r"[-‐–]?\s*")
    if not (name.isalpha() and name.istitle()) or len(name) > _LONGEST_WORD:
        return escaped
    behind = r"(?=\s+(?:et\b|and\s+[A-Z]|&|[(\[])|\s*[,(]\s*(?:19|20)\d\d)" if len(name) <= _LEAST else ""
    return f"(?-i:(?:{escaped}|{re.escape(name.upper())}){behind})"


def bare(text: str) -> str:
    """Return a text without accents, and without the hyphens of words that go on in the next line."""
    return _WRAPPED.sub("", without_marks(text))


FEWEST, MOST = 3, 5
# Works that more papers of the round cite are known by heart.
MOST_CITED = 7
_MOST_PLACES = 4
# Characters between two markers that stand together, and around a mask.
_TOGETHER, _AROUND = 4, 500
_LONGEST_MARKER = 60
# What a text of its own may not have.
_MARK = "[MASK"
# Works of neighbours that are looked at.
_NEARBY = 3000
# A word with a capital or a digit in it, other than the first of a sentence.
_NAME_BEFORE = re.compile(r"\s\S*[A-Z\d]\S*$")


@dataclass(frozen=True, slots=True)
class Mask:
    """A cited work whose citations are masked.

    Attributes:
        spans: (section, first and last character of the marker with its brackets).
        age: months before the paper that cites it.
    """

    work: Paper
    spans: tuple[tuple[int, int, int], ...]
    age: int
    cited_by: int


def masks_of(read: PaperRead, library: PaperLibrary, seed: int, oldest: int | None) -> list[Mask]:
    """Return what may be masked, in a random order, at most `MOST`.

    Args:
        oldest: months that a work may be older than the paper; None for any number.
    """
    if _MARK in read.shown.text:
        return []
    mentions: dict[int, list[Mention]] = {}
    for mention in read.document.mentions:
        if mention.section in read.called:
            for entry in mention.references:
                mentions.setdefault(entry, []).append(mention)
    possible = (_mask(read, library, entry, spans, oldest) for entry, spans in sorted(mentions.items()))
    found = sorted(filter(None, possible), key=lambda mask: digest_of(seed, read.paper.id, mask.work.id, "mask"))
    # One work may be known under two ids.
    works = [mask.work for mask in found]
    return [mask for mask in found if sum(are_copies(mask.work, work) for work in works) == 1][:MOST]


def are_copies(first: Paper, second: Paper) -> bool:
    """Tell whether two works are one, or nearly the same."""
    return first.id == second.id or near_duplicate(first.title, first.abstract, second.title, second.abstract)


def _mask(
    read: PaperRead, library: PaperLibrary, entry: int, mentions: Sequence[Mention], oldest: int | None
) -> Mask | None:
    id_ = read.resolved.get(entry)
    cited = library.work(id_) if id_ else None
    if id_ is None or cited is None or cited.document is None or not cited.paper.abstract:
        return None
    new, old = read.paper.published, cited.paper.published
    # In months: of some works the day is not known.
    age = (new.year - old.year) * 12 + new.month - old.month
    if age <= 0 or (oldest and age > oldest) or library.citations[id_] > MOST_CITED or len(mentions) > _MOST_PLACES:
        return None
    names = names_of(cited.paper, read.document.references[entry])
    if all(_stands_together(read, each) for each in mentions):
        return None
    pattern = pattern_of(names)
    if pattern and pattern.search(bare(read.paper.abstract)):
        return None
    if any(_gives_away(read, each, names) for each in mentions):
        return None
    spans = tuple((mention.section, *marker(read, mention)) for mention in mentions)
    return Mask(cited.paper, spans, age, library.citations[id_])


def _stands_together(read: PaperRead, mention: Mention) -> bool:
    """Tell whether a marker cites several works, or stands next to another one."""
    others = (other for other in read.document.mentions if other.section == mention.section and other is not mention)
    return (
        mention.grouped
        or len(mention.references) > 1
        or any(other.start <= mention.end + _TOGETHER and mention.start <= other.end + _TOGETHER for other in others)
    )


def _gives_away(read: PaperRead, mention: Mention, names: frozenset[str]) -> bool:
    """Tell whether a name stands in the sentence of a marker, what looks like one right before it, or a passage within it."""
    before, _ = _sides(read, mention)
    sentence, pattern = _sentence(read, mention), pattern_of(names)
    letters = title_key(sentence)
    return (
        mention.end - mention.start > _LONGEST_MARKER
        or _NAME_BEFORE.search(before.rstrip(" ([\\")) is not None
        or (pattern is not None and pattern.search(bare(sentence)) is not None)
        # Long names count within others and in several words: "VisualWebArena", "Web Arena".
        or any(len(key) > _LONGEST_WORD + 1 and key in letters for key in map(title_key, names))
    )


def _sentence(read: PaperRead, mention: Mention) -> str:
    """Return the sentence of a marker, with a bar in place of it: a name may end before it with a hyphen."""
    return " | ".join(_sides(read, mention))


def _sides(read: PaperRead, mention: Mention) -> tuple[str, str]:
    """Return the sentence of a marker before and after it."""
    text = read.document.sections[mention.section].text
    begins, ends = sentence_start(text, mention.start), sentence_end(text, mention.end)
    # A line that goes on with a bracket or in small letters is none of its own.
    while begins and text[begins - 1] == "\n" and not text[begins].isupper():
        begins = sentence_start(text, begins - 1)
    while text[ends : ends + 1] == "\n" and not text[ends + 1 : ends + 2].isupper():
        ends = sentence_end(text, ends + 1)
    return text[begins : mention.start], text[mention.end : ends]


def marker(read: PaperRead, mention: Mention) -> tuple[int, int]:
    """Return the first character of a marker with the brackets around it, and the one after its last."""
    return with_brackets(read.document.sections[mention.section].text, mention.start, mention.end)


def distractors(read: PaperRead, chosen: Sequence[Mask], library: PaperLibrary) -> Iterator[Paper]:
    """Yield the papers that are none of the masked ones: first what the paper cites besides, then what its neighbours cite, those first
    that resemble a masked work; none that its reference list may have under another name.
    """
    day = read.paper.published
    gold = {mask.work.id for mask in chosen}
    titles = {title_key(mask.work.title) for mask in chosen}
    own = [id_ for id_ in dict.fromkeys(read.resolved.values()) if id_ not in gold]
    nearby = islice(library.cited_nearby(read.paper), _NEARBY)
    others = [id_ for id_ in nearby if id_ not in gold and id_ not in own and id_ != read.paper.id]
    near = [work for work in _all_shown(library, others, day) if title_key(work.title) not in read.listed_titles]
    for work in chain(_all_shown(library, own, day), _by_likeness(near, chosen)):
        key = title_key(work.title)
        if key not in titles and not any(are_copies(mask.work, work) for mask in chosen):
            titles.add(key)
            yield work


def _all_shown(library: PaperLibrary, ids: Iterable[str], day: date) -> Iterator[Paper]:
    """Yield the works that may be candidates: with text and abstract, older than a day."""
    for id_ in ids:
        cited = library.work(id_)
        if cited and cited.document and cited.paper.abstract and cited.paper.published < day:
            yield cited.paper


def _by_likeness(works: Sequence[Paper], chosen: Sequence[Mask]) -> list[Paper]:
    """Return the works by how much their titles and abstracts are like one of the masked works'."""
    if not works:
        return []
    scores = bm25_scores([summary(mask.work) for mask in chosen], list(map(summary, works))).max(axis=0)
    return [works[i] for i in sorted(range(len(works)), key=lambda i: (-scores[i], works[i].id))]


def summary(work: Paper) -> str:
    """Return title and abstract."""
    return f"{work.title}\n{work.abstract}"


def around(read: PaperRead, mask: Mask) -> str:
    """Return the sentences around the places of a mask."""
    return " ".join(
        _sentence(read, mention)
        for mention in read.document.mentions
        if (mention.section, *marker(read, mention)) in mask.spans
    )


def wide(read: PaperRead, mask: Mask) -> str:
    """Return 1,000 characters around each place of a mask."""
    texts = [(read.document.sections[i].text, start, end) for i, start, end in mask.spans]
    return " ".join(text[max(0, start - _AROUND) : start] + text[end : end + _AROUND] for text, start, end in texts)


def best(queries: Sequence[str], texts: Sequence[str], candidates: Sequence[Paper]) -> list[str]:
    """Return for each query the candidate whose text BM25 finds; of equal ones the first by id, which tells nothing."""
    order = sorted(range(len(candidates)), key=lambda i: candidates[i].id)
    scores = bm25_scores(queries, [texts[i] for i in order])
    return [candidates[order[int(index)]].id for index in scores.argmax(axis=1)]


def tag_of(by_title: bool, by_body: bool) -> str:
    """Return what solves a mask, of a shortcut over titles and abstracts, and one over whole texts."""
    return "title" if by_title else "body" if by_body else "neither"
