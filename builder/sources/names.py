"""The names in a list of authors, as records of any source give them."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

# What lists of authors have between names and behind them.
_NO_NAME = re.compile(
    r"(?:et\.? al\.?|(?:and )?others|(?:for|on behalf of)\b.*\b(?:collaborations?|consorti(?:um|a)|teams?|groups?)|(?:jr|sr)\.?"
    r"|(?-i:[IVX]+))",
    re.IGNORECASE,
)
_TAIL = re.compile(r"\s+(?:et\.? al\.?|and others)$", re.IGNORECASE)
# Two people in one name; groups such as "Institute of Physics and Chemistry" are one.
_BETWEEN = re.compile(r"\s+(?:and|&)\s+")
_TWO_PEOPLE = re.compile(
    r"(?:[^\W\d_][\w.'’-]*\s+){1,3}[^\W\d_][\w'’-]+\s+(?:and|&)\s+(?:[^\W\d_][\w.'’-]*\s+){1,3}[^\W\d_][\w'’-]+"
)
_GROUP = re.compile(
    r"\b(?:of|for|the|collaborations?|consortium|teams?|groups?|institut\w*|universit\w*|department)\b", re.IGNORECASE
)
# Marks of notes.
_MARKS = str.maketrans("", "", "†‡§¶∗")
# TeX's accents: the combining character of each, and letters that have a name (The TeXbook, chapter 9).
_ACCENTS = dict(
    zip(
        "'`^\"~=.uvHckrdb",
        "\u0301\u0300\u0302\u0308\u0303\u0304\u0307\u0306\u030c\u030b\u0327\u0328\u030a\u0323\u0331",
        strict=True,
    )
)
_LETTERS = dict(
    ss="ß",
    o="ø",
    O="Ø",
    l="ł",
    L="Ł",
    ae="æ",
    AE="Æ",
    oe="œ",
    OE="Œ",
    aa="å",
    AA="Å",
    i="i",
    j="j",
    dh="ð",
    DH="Ð",
    th="þ",
    TH="Þ",
)
_ACCENTED = re.compile(r"\{?\\(?:(['`^\"~=.])\s*|([uvHckrdb])(?:\s+|(?=\{)))\{?\\?([^\W\d_])\}?\}?")
_NAMED = re.compile(rf"\{{?\\({'|'.join(sorted(_LETTERS, key=len, reverse=True))})(?![A-Za-z])(?:\{{\}}|\s)?\}}?")


def names_of(listed: Iterable[str]) -> tuple[str, ...]:
    """Return the names of a list of authors, without what stands between and behind names."""
    names = (_TAIL.sub("", " ".join(name.split())).strip(" :;,") for text in listed for name in _people(text))
    return tuple(name for name in names if any(map(str.isalpha, name)) and not _NO_NAME.fullmatch(name))


def _people(text: str) -> Iterator[str]:
    """Yield the people that one name of a list is of, in Unicode and without marks of notes."""
    plain = without_tex(text).translate(_MARKS).strip()
    is_two = _TWO_PEOPLE.fullmatch(plain) and not _GROUP.search(plain)
    yield from _BETWEEN.split(plain) if is_two else (plain,)


def without_tex(name: str) -> str:
    r"""Return a name with the letters that TeX writes as commands: "J\"urgen", "{\L}ukasz", "Erd\H{o}s"."""
    if "\\" not in name:
        return name
    named = _NAMED.sub(lambda match: _LETTERS[match[1]], name)
    accented = _ACCENTED.sub(lambda match: match[3] + _ACCENTS[match[1] or match[2]], named)
    return unicodedata.normalize("NFC", accented).replace("{", "").replace("}", "")
