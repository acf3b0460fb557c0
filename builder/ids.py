"""The identifiers that papers and authors go by, and the names in lists of authors; titles go by `lm_eval_tasks.base.text.title_key`.

Nothing else knows how an id looks. Each kind of id is told from its form alone, so that an id is a plain text wherever it
is kept.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Literal
from urllib.parse import quote, unquote

from lm_eval_tasks.base.text import fold

IdKind = Literal["arxiv", "doi", "pmcid", "ppr", "pmid", "local"]
# A bare arXiv id as it may occur in a text; both schemes of https://info.arxiv.org/help/arxiv_identifier.html.
ARXIV_PATTERN = r"(?:\d{4}\.\d{4,5}|[a-z][a-z-]*(?:\.[A-Z]{2})?/\d{7})"
_VERSION = r"(?:v(?P<version>[1-9]\d{0,3}))?"
_PREFIX = re.compile(r"(?:arxiv:|doi:|https?://(?:dx\.)?doi\.org/)\s*", re.IGNORECASE)
# arXiv's own DOIs (https://info.arxiv.org/help/doi.html) stand for the same papers.
_ARXIV_DOI = re.compile(r"10\.48550/arxiv\.", re.IGNORECASE)
# File systems allow 255 bytes, of which endings need some.
_LONGEST_STEM = 200
_FORMS: dict[IdKind, re.Pattern[str]] = {
    "arxiv": re.compile(rf"(?P<id>{ARXIV_PATTERN}){_VERSION}", re.ASCII),
    # https://www.crossref.org/blog/dois-and-matching-regular-expressions/, with the signs of older ones (SICI).
    "doi": re.compile(r"(?P<id>10\.\d{4,9}/[-._;()/:<>\[\]#+a-zA-Z0-9]+)", re.ASCII),
    # PubMed Central, Europe PMC's preprints, and PubMed, whose bare numbers get its name before them.
    "pmcid": re.compile(r"(?P<id>PMC\d{1,9})", re.ASCII),
    "ppr": re.compile(r"(?P<id>PPR\d{1,9})", re.ASCII),
    "pmid": re.compile(r"(?P<id>PMID\d{1,9})", re.ASCII),
    # A file of somebody's own.
    "local": re.compile(r"(?P<id>local:[a-z0-9][a-z0-9-]{0,80})", re.ASCII),
}
_PAGES: dict[IdKind, str] = {
    "arxiv": "https://arxiv.org/abs/{}",
    "doi": "https://doi.org/{}",
    "pmcid": "https://europepmc.org/article/PMC/{}",
    "ppr": "https://europepmc.org/article/PPR/{}",
    "pmid": "https://europepmc.org/article/MED/{}",
}
# Signs of names that stand for one; marks that refer to notes are none of a name.
_SIGNS = str.maketrans(dict.fromkeys("‘’ʼʹ′´ʻ‛", "'") | dict.fromkeys("‐‑‒–—−", "-") | dict.fromkeys("†‡§¶\u00ad", ""))
_YEAR_MONTH = re.compile(r"(?:[^/]*/)?(?P<year>\d\d)(?P<month>0[1-9]|1[0-2])")
# "math.DG/0211159" is "math/0211159".
_SUBJECT_CLASS = re.compile(r"\.[A-Z]{2}(?=/)")
_ARXIV_STEM = re.compile(rf"{ARXIV_PATTERN.replace('/', '_')}{_VERSION}", re.ASCII)


@dataclass(frozen=True, slots=True)
class PaperId:
    """An identifier of a paper: nothing else becomes one, so that it can safely become a path or a URL.

    Attributes:
        bare: without version; a DOI in lower case.
        version: None if none is named; only arXiv's ids have one.
    """

    kind: IdKind
    bare: str
    version: int | None = None

    @staticmethod
    @lru_cache(maxsize=1 << 10)
    def parse(text: str) -> "PaperId | None":
        """Return the id that a text is, with or without `arXiv:`, `doi:` (or its address) and version; None if it is not one."""
        bare = text.strip()
        for prefix in (_PREFIX, _ARXIV_DOI):
            if match := prefix.match(bare):
                bare = bare[match.end() :]
        for kind, form in _FORMS.items():
            if match := form.fullmatch(bare):
                id_ = match["id"].lower() if kind == "doi" else match["id"]
                id_ = _SUBJECT_CLASS.sub("", id_) if kind == "arxiv" else id_
                version = match.groupdict().get("version")
                parsed = PaperId(kind, id_, int(version) if version else None)
                # It can become a path and a part of a URL.
                is_usable = len(parsed.stem) <= _LONGEST_STEM and {".", ".."}.isdisjoint(parsed.bare.split("/"))
                return parsed if is_usable else None
        return None

    @staticmethod
    def of_stem(stem: str) -> "PaperId | None":
        """Return the id that a file name (without suffix) represents; None if it represents none."""
        return PaperId.parse(stem.replace("_", "/") if _ARXIV_STEM.fullmatch(stem) else unquote(stem))

    @property
    def stem(self) -> str:
        """The file name (without suffix) of the bare id: `/` of arXiv's old scheme becomes `_`, a DOI is quoted."""
        return self.bare.replace("/", "_") if self.kind == "arxiv" else quote(self.bare, safe="")

    @property
    def url(self) -> str | None:
        """The page of the paper; None for a file of somebody's own."""
        if self.kind not in _PAGES:
            return None
        return _PAGES[self.kind].format(
            quote(self.bare.removeprefix("PMID"), safe="/") + (f"v{self.version}" if self.version else "")
        )

    @property
    def month(self) -> date | None:
        """The first day of the month that an arXiv id tells; None for any other."""
        digits = _YEAR_MONTH.match(self.bare) if self.kind == "arxiv" else None
        if digits is None:
            return None
        year = int(digits["year"])
        return date(year + (1900 if year > 90 else 2000), int(digits["month"]), 1)


@lru_cache(maxsize=1 << 16)
def bare_id(name: str) -> str:
    """Return a paper's id without its version; any other name (a cited paper known by its title) is returned unchanged."""
    parsed = PaperId.parse(name)
    return parsed.bare if parsed else name


@lru_cache(maxsize=1 << 16)
def with_version(name: str, version: int) -> str:
    """Return a paper's id, or any other name, with its version; ids that have none stay as they are."""
    parsed = PaperId.parse(name)
    return f"{name}v{version}" if parsed is None or parsed.kind == "arxiv" else name


def bare_ids(texts: Iterable[str]) -> list[str]:
    """Return those of some texts that are ids of open-access articles, without versions, in their order; arXiv's are left out."""
    return [parsed.bare for text in texts if (parsed := PaperId.parse(text)) and parsed.kind != "arxiv"]


def stem_of(name: str) -> str:
    """Return the file name (without suffix) of a bare id; a ValueError if it is not an id."""
    parsed = PaperId.parse(name)
    if parsed is None:
        raise ValueError(f"{name!r:.40} is not the id of a paper")
    return parsed.stem


def url_of(name: str) -> str | None:
    """Return the page of the paper with this id; None for a name that is no id."""
    parsed = PaperId.parse(name)
    return parsed.url if parsed else None


def author_key(name: str) -> str:
    """Return the key under which an author name is filed: case, spaces, diacritics, full stops, and the forms of apostrophes and
    hyphens do not count.
    """
    plain = name.replace(".", " ").replace("`", "'")
    # Most names; a graph of millions asks for each of them.
    return " ".join(plain.casefold().split()) if plain.isascii() else fold(plain.translate(_SIGNS))


# --- names in a list of authors, as records of any source give them

# What lists of authors have between names and behind them.
_NO_NAME = re.compile(
    r"(?:et\.? al\.?|(?:and )?others|(?:for|on behalf of)\b.*\b(?:collaborations?|consorti(?:um|a)|teams?|groups?)|(?:jr|sr)\.?"
    r"|(?-i:[IVX]+))",
    re.IGNORECASE,
)
_TAIL = re.compile(r"\s+(?:et\.? al\.?|and others)$", re.IGNORECASE)
# People in one name; groups such as "Institute of Physics and Chemistry" are one.
_BETWEEN = re.compile(r"\s+(?:and|&)\s+")
_PERSON = re.compile(r"(?:[^\W\d_][\w.'’-]*\s+){1,3}[^\W\d_][\w'’-]+")
_GROUP = re.compile(
    r"\b(?:of|for|the|collaborations?|consortium|teams?|groups?|institut\w*|universit\w*|departments?|societ\w*|gesellschaft|agenc\w*"
    r"|administration|labs?|laborator\w*|cent(?:er|re)s?|networks?|councils?|boards?|facilit\w*|research|foundations?|compan\w*|sciences?"
    r"|intelligence|technolog\w*|google|deepmind|openai|microsoft|meta|nvidia)\b",
    re.IGNORECASE,
)
# Marks of notes.
_NOTE_MARKS = str.maketrans("", "", "†‡§¶∗*")
# Numbers of notes behind a name, and what stands before the first one of a list.
_NUMBERS = re.compile(r"(?<=[^\W\d_])[\d,¹²³⁰⁴-⁹]+$|[\s,]+$|^(?:and|&)\s+|\s(?:and|&)$")
# TeX's accents: the combining character of each, and letters that have a name (The TeXbook, chapter 9).
_ACCENTS = dict(
    zip(
        "'`^\"~=.uvHckrdb",
        "\u0301\u0300\u0302\u0308\u0303\u0304\u0307\u0306\u030c\u030b\u0327\u0328\u030a\u0323\u0331",
        strict=True,
    )
)
_STACKED = 2
# What stands beside a name.
_LEFT_OUT = re.compile(
    r"\$\^?[^$]*\$|\\(?:thanks|textsuperscript|footnote|inst)\{[^{}]*\}|\\(?:textbf|textit|emph|mbox)(?=\{)"
)
_LETTERS = dict(
    zip("ss o O l L ae AE oe OE aa AA i j dj DJ ng NG dh DH th TH".split(), "ßøØłŁæÆœŒåÅijđĐŋŊðÐþÞ", strict=True)
)
_ACCENTED = re.compile(r"\{?\\(?:(['`^\"~=.])\s*|([uvHckrdb])(?:\s+|(?=\{)))\{?\\?([^\W\d_])\}?\}?")
_OTHER_COMMANDS = re.compile(r"\\(?:\\|[A-Za-z]+(?:\[[^\]]*\])?)")
_NAMED = re.compile(rf"\{{?\\({'|'.join(sorted(_LETTERS, key=len, reverse=True))})(?![A-Za-z])(?:\{{\}}|\s)?\}}?")


# Most names: nothing below changes them. An index of millions of records asks for each.
_USUAL = re.compile(
    r"(?!(?:For|On) )(?:(?!(?:And|Et)\b)[A-Z][a-z]+|[A-Z]\.)(?:[ -](?:(?!(?:And|Et)\b)[A-Z][a-z]+|[A-Z]\.))+"
)


def names_of(listed: Iterable[str]) -> tuple[str, ...]:
    """Return the names of a list of authors, without what stands between and behind names."""
    return tuple(name for text in listed for name in ((text,) if _USUAL.fullmatch(text) else _names_in(text)))


def _names_in(text: str) -> Iterator[str]:
    names = (_TAIL.sub("", " ".join(name.split())).strip(" :;,") for name in _people(text))
    return (name for name in names if any(map(str.isalpha, name)) and not _NO_NAME.fullmatch(name))


def _people(text: str) -> Iterator[str]:
    """Yield each person that one name of a list stands for, in Unicode and without marks of notes."""
    plain = _NUMBERS.sub("", _without_tex(text).translate(_NOTE_MARKS).strip())
    parts = _BETWEEN.split(plain)
    yield from parts if all(map(_PERSON.fullmatch, parts)) and not _GROUP.search(plain) else (plain,)


def _without_tex(name: str) -> str:
    r"""Return a name with the letters that TeX writes as commands: "J\"urgen", "{\L}ukasz", "Erd\H{o}s"."""
    plain = re.sub(r"(?<!\\)~|\\ ", " ", _LEFT_OUT.sub("", name))
    if "\\" in plain:
        for _ in range(_STACKED):
            plain = _ACCENTED.sub(lambda match: _accented(match[3], match[1] or match[2]), plain)
        plain = _OTHER_COMMANDS.sub("", _NAMED.sub(lambda match: _LETTERS[match[1]], plain))
    return plain.replace("{", "").replace("}", "")


def _accented(letter: str, accent: str) -> str:
    composed = unicodedata.normalize("NFC", letter + _ACCENTS[accent])
    # "O\'Brien" is an apostrophe.
    return composed if len(composed) == 1 or accent != "'" else f"'{letter}"
