"""One entry of a reference list -> the record that it refers to.

An arXiv id or a DOI decides. Apart from damage done by reading a PDF, a title has to be the record's whole title,
and it is checked by first author and year: near misses (a sequel, a survey of the same subject, the same words in a
longer title) must not pass. If two records pass equally well, the entry is ambiguous and stays unresolved.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

from builder.extract.references import segments
from builder.extract.sections import ROMAN
from builder.ids import PaperId
from builder.records import LinkWay, Paper, Reference
from builder.store import Store
from builder.store.tables import title_words
from lm_eval_tasks.base.text import fold, title_key

_MIN_KEY = 16
# Shorter titles have to be printed exactly, with author and year.
_MIN_SHORT = 6
_LONG_NAME, _MIN_PREFIX = 4, 24
_PROPOSED = 12
# A title with a letter or two wrong is certain; one that has only lost letters (ligatures, its end) may have lost more.
# Another title by the same authors can be just as close, but has different letters in those places.
_SURE, _NEAR = 0.97, 0.88
# Between a preprint and the year under which it is cited; a short title such as "Preface" says less than its year.
_EARLIER, _LATER, _LATER_SHORT = 1, 7, 1
_LIGATURES = ("", "fi", "fl", "ff", "ffi", "ffl")
# Another year, part or version makes it another title.
_NUMERAL = re.compile(r"\d+(?:[A-Za-z]\b)?|\b[IVX]{2,5}\b")
# "Part II" is "part 2"; TeX's Greek letters and functions are what is printed, its other commands print no letter of a title.
_PART = re.compile(r"\b(part|(?P<short>pt\.?)|vol(?:ume|\.)?|chapter) (?P<number>[IVX]{1,4}|\d{1,2})\b", re.IGNORECASE)
_COMMAND, _GREEK = re.compile(r"\\([A-Za-z]+)"), re.compile("[\u0391-\u03f5\u2206]")
_PRINTED = frozenset(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega "
    "log ln exp sin cos tan min max sup inf lim det dim ker gcd arg deg hom mod ss ae oe".split()
)
# What is about a work and not the work, and what makes a title that of a sequel.
_ABOUT = re.compile(
    r"\b(?:comments? (?:on|to)|repl(?:y|ies) (?:on|to)|response to|errat(?:um|a)|corrigend(?:um|a)|addend(?:um|a)|corrections?|retraction"
    r"|review of|notes? on)\b(?: (?:to|of|for))?[\s:.“‘\"']*",
    re.IGNORECASE,
)
_SEQUEL = re.compile(
    r"\s*[,.:;–—-]?\s*(?:\(?\b(?i:part|pt\.?|vol(?:ume|\.)?) (?:\d+|[A-Z])\b|[IVX]{2,5}\b|[IVX]\b(?!\.))"
)
# Of a title's key, what is left behind a shorter one that is another part's.
_PART_KEY = re.compile(r"(?:part|vol|volume)?(?:[ivx]{1,5}|\d{1,2}|[a-z])")
_NEGATING = ("un", "non", "a", "anti", "in", "im", "ir", "dis", "semi", "quasi", "super", "sub")
# What may come before and after a whole title; a colon leads on to a subtitle.
_BEFORE = re.compile(r"(?:^|[.,:;)\]”“\"‘’'\d])\s*$")
_BEHIND = re.compile(r"\s*(?:$|[.,?!;”\"’')\](]|in\b|arxiv|corr\b|\d)", re.IGNORECASE)


# Similarity of two titles, whether the record's whole title is cited, and where in the entry it begins.
_Fit = tuple[float, bool, int | None]
_NO_FIT: _Fit = (0.0, False, None)


@dataclass(frozen=True, slots=True)
class Resolved:
    """What an entry was resolved to: a paper, found in some way, or nothing because it is ambiguous or unknown."""

    paper: Paper | None
    how: LinkWay
    score: float


@dataclass(frozen=True, slots=True)
class _Match:
    """How well a record fits an entry: similarity of the titles, whether the whole title fits, author and year."""

    paper: Paper
    similarity: float
    whole_title: bool
    author: bool
    year: bool

    @property
    def passes(self) -> bool:
        length = len(title_key(_comparable(self.paper.title)))
        if length >= _MIN_KEY and self.whole_title and self.similarity >= _SURE:
            return self.author or (self.similarity == 1.0 and length >= 2 * _MIN_KEY and self.year)
        least = 1.0 if length < _MIN_KEY else _NEAR if self.whole_title else _SURE
        return self.similarity >= least and self.author and self.year

    @property
    def is_exact(self) -> bool:
        return self.similarity == 1.0 and self.whole_title

    @property
    def rank(self) -> tuple[bool, float, bool, bool]:
        return self.whole_title, round(self.similarity, 3), self.author, self.year


def resolve_entry(store: Store, citing: Paper, entry: Reference) -> Resolved:
    """Resolve one entry by its ids or its title, against all records of the store.

    A work is never resolved to the citing paper or to a younger one.
    """
    for name, how in _known_as(store, entry):
        for paper in store.papers([name] if name else []):
            if can_cite(citing, paper):
                return Resolved(paper, how, 1.0)
    return _by_title(store, citing, entry)


def _known_as(store: Store, entry: Reference) -> Iterator[tuple[str | None, LinkWay]]:
    """Yield the ids of papers that an entry's own ids stand for."""
    yield arxiv_id(entry), "arxiv_id"
    if entry.doi:
        yield store.resolve(entry.doi.lower()), "doi"
    if entry.pubmed:
        yield entry.pubmed, "pubmed"
        yield store.id_of(entry.pubmed), "pubmed"


def arxiv_id(entry: Reference) -> str | None:
    """Return the arXiv id that an entry carries, as an id or as arXiv's DOI."""
    match = re.fullmatch(r"10\.48550/arxiv\.(.+)", entry.doi or "", re.IGNORECASE)
    parsed = PaperId.parse(match[1]) if match else None
    return entry.arxiv_id or (parsed.bare if parsed else None)


def ids_of(entry: Reference) -> Iterator[PaperId]:
    """Yield the ids that an entry carries."""
    for text in (arxiv_id(entry), entry.doi, entry.pubmed):
        if text and (parsed := PaperId.parse(text)):
            yield parsed


def can_cite(citing: Paper, known: Paper) -> bool:
    """Tell whether a paper can cite a known one: the two differ, and the known one is not younger."""
    return known.id != citing.id and known.published <= citing.published


def _by_title(store: Store, citing: Paper, entry: Reference) -> Resolved:
    text = _Text(entry)
    matches: dict[str, _Match] = {}
    for candidates in _candidates(store, text):
        for paper in store.papers(id_ for id_ in candidates if id_ not in matches):
            if can_cite(citing, paper):
                matches[paper.id] = text.match(paper)
        passing = [
            match for match in matches.values() if match.passes and (match.is_exact or _may_be(entry, match.paper))
        ]
        if passing:
            break
    else:
        return Resolved(None, "unresolved", 0.0)
    first = max(passing, key=lambda match: match.rank)
    best = [match.paper for match in passing if match.rank == first.rank]
    if len({(title_key(paper.title), fold(paper.authors[0])) for paper in best}) > 1:
        return Resolved(None, "ambiguous", 0.0)
    # Of one work's records the oldest.
    paper = min(best, key=lambda paper: (paper.published, paper.id))
    return Resolved(paper, "title" if first.is_exact else "near_title", round(first.similarity, 4))


def _numerals(title: str) -> list[str]:
    """Return the numbers of a title, with the letter behind: lists of references print "3D" as "3d"."""
    return [numeral.casefold() for numeral in _NUMERAL.findall(title)]


def _may_be(entry: Reference, paper: Paper) -> bool:
    """Tell whether a paper has no other arXiv id than an entry carries; some authors print a wrong one, but not beside its exact title."""
    known = PaperId.parse(paper.id)
    return arxiv_id(entry) in (None, paper.id) or known is None or known.kind != "arxiv"


def _candidates(store: Store, text: _Text) -> Iterator[Iterable[str]]:
    """Yield proposals, the cheapest and surest first."""
    yield (id_ for key in text.keys for id_ in store.ids_by_title(key))
    yield store.titles.propose(_repair_words(store, text.title or text.raw), _PROPOSED)
    if text.title:
        yield (id_ for key in text.keys if len(key) >= _MIN_PREFIX for id_ in store.ids_by_title_prefix(key))
        yield store.titles.propose(_repair_words(store, text.body), _PROPOSED)


def _repair_words(store: Store, text: str) -> list[str]:
    """Return the words of a text, and those that result from undoing what a PDF did to them.

    Breaks and lost ligatures (two pieces and perhaps a ligature make a word), and lost spaces (a word makes two).
    """
    words = title_words(text)
    frequency = store.titles.frequency
    repaired = list(words)
    for left, right in pairwise(words):
        if not frequency(left) or not frequency(right):
            repaired += [joined for ligature in _LIGATURES if frequency(joined := left + ligature + right)]
    run_together = (word for word in words if len(word) >= 7 and not frequency(word))
    return repaired + [piece for word in run_together for piece in _split(word, frequency)]


def _split(word: str, frequency: Callable[[str], int]) -> list[str]:
    """Return the two or three known words that a run of letters is made of, the longest first."""
    for end in range(len(word) - 2, 2, -1):
        if frequency(word[:end]):
            rest = word[end:]
            if frequency(rest):
                return [word[:end], rest]
            for middle in range(len(rest) - 2, 2, -1):
                if frequency(rest[:middle]) and frequency(rest[middle:]):
                    return [word[:end], rest[:middle], rest[middle:]]
    return []


class _Text:
    """What an entry prints, ready to be compared with titles.

    Attributes:
        raw: the entry without its addresses.
        title: as it was parsed, "" if it was not.
        body: from the start of the title, as far as that is known.
        keys: of what may be the title: the parsed title first, then the entry's sentences.
    """

    def __init__(self, entry: Reference) -> None:
        self.raw = _comparable(re.sub(r"https?://\S+", " ", entry.raw))
        self.title, self._year, self._names = _comparable(entry.title), entry.year, " ".join(entry.authors)
        pieces = dict.fromkeys(title_key(piece) for piece in (entry.title, self.title, *segments(self.raw)))
        self.keys = [key for key in pieces if len(key) >= _MIN_SHORT]
        self._title_key = title_key(self.title)
        self.body = self.raw[max(0, self.raw.find(self.title)) :]
        self._key, self._at = _key_with_places(self.raw)

    def match(self, paper: Paper) -> _Match:
        title = _comparable(paper.title)
        key = title_key(title)
        similarity, is_whole, start = self._compare(key, title)
        is_about = _ABOUT.match(title) is not None
        if is_about != bool(_ABOUT.match(self.title) or _ends_with_about(self.raw[: start or 0])):
            similarity, is_whole, start = _NO_FIT
        latest = _LATER if len(key) >= _MIN_KEY else _LATER_SHORT
        is_year = self._year is not None and -_EARLIER <= self._year - paper.published.year <= latest
        return _Match(paper, similarity, is_whole, self._has_author(paper, self.raw[:start]), is_year)

    def _compare(self, key: str, title: str) -> _Fit:
        """Return the best way in which a title, of this key, fits the entry."""
        numerals = _numerals(title)
        if key == self._title_key and key:
            at = self._key.find(key)
            if at < 0:
                return 1.0, True, None
            is_sequel = _SEQUEL.match(self.raw[self._at[at + len(key) - 1] + 1 :])
            return _NO_FIT if is_sequel else (1.0, True, self._at[at])
        if len(key) < _MIN_KEY:
            return _NO_FIT
        fits = [self._align(key, numerals)]
        cited = self._title_key
        shorter, longer = sorted((cited, key), key=len)
        is_part = longer.startswith(shorter) and _PART_KEY.fullmatch(longer[len(shorter) :]) is not None
        if is_part or _negates(title, self.title):
            return max(fits, key=lambda fit: fit[:2])
        if _numerals(self.title) == numerals:
            near = Indel.normalized_similarity(cited, key)
            damaged = near >= _SURE or Indel.distance(cited, key) == len(key) - len(cited)
            fits.append((near, near >= _NEAR and damaged, None))
        # Numerals may be left out with the end of a title only.
        if _MIN_PREFIX <= len(cited) < len(key) and _numerals(self.title) == _numerals_before(title, len(cited)):
            fits.append((Indel.normalized_similarity(cited, key[: len(cited)]), False, None))
        return max(fits, key=lambda fit: fit[:2])

    def _align(self, key: str, numerals: list[str]) -> _Fit:
        """Return where the title occurs in the entry: whole between punctuation, or in part if a colon continues it."""
        alignment = fuzz.partial_ratio_alignment(key, self._key, score_cutoff=100 * _SURE)
        if alignment is None or len(key) > len(self._key):
            return _NO_FIT
        start, end = self._at[alignment.dest_start], self._at[alignment.dest_end - 1] + 1
        ending, subtitle = _BEHIND.match(self.raw[end:]), re.match(r"\s*[:–—-]", self.raw[end:])
        if (
            not _BEFORE.search(self.raw[:start])
            or _SEQUEL.match(self.raw[end:])
            or not (ending or subtitle)
            or _numerals(self.raw[start:end]) != numerals
        ):
            return _NO_FIT
        return alignment.score / 100, ending is not None, start

    def _has_author(self, paper: Paper, head: str) -> bool:
        surname = next(reversed(title_words(paper.authors[0])), "")
        if len(surname) >= _LONG_NAME:
            return surname in title_key(head)
        return surname in title_words(head) or surname in title_words(self._names)


def _numerals_before(title: str, length: int) -> list[str]:
    """Return the numerals in as much of a title as has so long a key."""
    places = _key_with_places(title)[1]
    return _numerals(title[: places[length - 1] + 1])


def _ends_with_about(text: str) -> bool:
    """Tell whether a text ends with what makes what follows the subject of a comment, a reply or an erratum."""
    return any(match.end() == len(text) for match in _ABOUT.finditer(text))


def _negates(title: str, other: str) -> bool:
    """Tell whether titles differ by what turns a word into another one: "supervised", "unsupervised"."""
    mine, theirs = set(title_words(title)), set(title_words(other))
    pairs = ((short, long) for short in mine ^ theirs for long in mine ^ theirs if len(long) > len(short) > 3)
    return any(long.endswith(short) and long.removesuffix(short) in _NEGATING for short, long in pairs)


def _in_figures(roman: str) -> str:
    return str(ROMAN.index(roman.upper())) if roman.upper() in ROMAN else roman


@lru_cache(maxsize=1 << 14)
def _comparable(text: str) -> str:
    """Return a text with the numbers of parts in figures and formulas' letters by their names, as TeX and as Unicode have them."""
    text = _PART.sub(lambda part: f"{'part' if part['short'] else part[1]} {_in_figures(part['number'])}", text)
    if "\\" in text:
        text = _COMMAND.sub(lambda command: _letter(command[1]), text)
    return (
        text if text.isascii() else _GREEK.sub(lambda letter: _name_of(letter[0]), unicodedata.normalize("NFKC", text))
    )


def _letter(command: str) -> str:
    name = command.removeprefix("var").casefold()
    if name in _PRINTED:
        return name
    return {"ell": "l", "o": "o", "l": "l", "aa": "a", "i": "i", "j": "j"}.get(name, "")


def _name_of(letter: str) -> str:
    if letter == "\u2206":
        return "delta"
    words = unicodedata.name(letter, "").removeprefix("GREEK ").replace("FINAL ", "").casefold().split()
    name = next((word for word in words if word not in ("small", "capital", "letter")), letter)
    # Unicode spells it without a b.
    return "lambda" if name.startswith("lam") else name


def _key_with_places(text: str) -> tuple[str, list[int]]:
    """Return `text.title_key` of a text, and the place of each of its characters in the text."""
    keys = [title_key(character) for character in text]
    return "".join(keys), [position for position, key in enumerate(keys) for _ in key]
