"""The licence of an article, as its file states it: by address or in a sentence. What is in doubt is no licence.

A text that is published without a licence does harm, one that is left out does not: of several statements the narrowest counts, and
a statement that denies, excepts or reserves leaves none.
"""

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from builder.records import NO_LICENSE
from builder.sources.jats.markup import attribute, one_line

_ADDRESS = re.compile(
    r"(?:^|//|[\s(<\"'])(?:www\.)?creativecommons\.org/(?:licen[sc]es/(?P<terms>[a-z-]+)|publicdomain/(?P<zero>zero))"
    r"(?:/(?P<version>\d\.\d)(?:/(?P<port>[a-z]{2,3})(?![a-z]))?)?(?=$|[/\s)>\"'.,;?#])",
    re.IGNORECASE,
)
_ODD_ADDRESS = re.compile(r"(?:^|//|[\s(<\"'])(?:www\.)?creativecommons\.org/(?:licen|publicdomain)", re.IGNORECASE)
_TERMS = ("by", "by-nc", "by-nd", "by-sa", "by-nc-nd", "by-nc-sa")
_NAMED = re.compile(r"\b(?:creative commons|CC)[\s-]+(?:(?:licen[sc]e\s*\()?attribution|BY\b)", re.IGNORECASE)
_ZERO = re.compile(
    r"\bCC-?\s?0\b|creative commons (?:zero|public domain)|public domain dedication|free of all copyright",
    re.IGNORECASE,
)
# BMC's and others' sentence about data, which says nothing of the text.
_OF_DATA = re.compile(r"[^.]*\b(?:data|dataset)\b[^.]*", re.IGNORECASE)
_NARROWED = {
    "nc": re.compile(r"non-?\s?-?commercial|\bnot\b[^.]{0,60}\bcommercial|\bno commercial|\bby[\s-]nc", re.IGNORECASE),
    "nd": re.compile(
        r"\bnon?-?\s?-?deriv|\bnot\b[^.]{0,60}\b(?:deriv|alter|adapt|modif|transform)|\bby[\s-](?:nc[\s-])?nd\b",
        re.IGNORECASE,
    ),
    "sa": re.compile(r"share-?\s?alike|\bby[\s-](?:nc[\s-])?sa\b", re.IGNORECASE),
}
_DENIED = re.compile(
    r"all rights reserved|\bnot (?:published|distributed|available|licensed|made available|released) under"
    r"|\bunlike\b|\bexcept (?:for )?(?:the )?(?:figure|table|image)|\bmay not be (?:redistributed|reproduced|re-?used)",
    re.IGNORECASE,
)
_HYPHENS = re.compile(r"\s*[‐‑‒–—−_]\s*|(?<=[a-z])-\s+(?=[a-z]{2}\b)", re.IGNORECASE)
# Other versions of an article than the one that the file holds.
_OTHER_VERSIONS = frozenset({"am", "tdm", "textmining", "stm-asf"})


@dataclass(frozen=True, slots=True)
class _Stated:
    """Terms of Creative Commons: "by", "by-nc" and so on, or "zero"; version and country "" if they are not named."""

    terms: str
    version: str = ""
    port: str = ""

    @property
    def address(self) -> str:
        path = "publicdomain/zero" if self.terms == "zero" else f"licenses/{self.terms}"
        tail = "/".join(condition for condition in (path, self.version, self.port if self.version else "") if condition)
        return f"http://creativecommons.org/{tail}/"


def license_of(metadata: etree._Element) -> str:
    """Return the licence of an article as the address of one of Creative Commons', `NO_LICENSE` if it states none of them for certain.

    A sentence that does not say which version is meant gives an address without one.
    """
    statements = list(_statements(metadata))
    words = _plain(" ".join(map(one_line, statements)))
    published = max((one_line(year) for year in metadata.iterfind("pub-date/year")), default="")
    begins = (each.get("start_date", "")[:4] for rights in statements for each in rights.iter("license_ref"))
    # Before a licence begins, in a later year, the article has none.
    if _DENIED.search(words) or any(year > published for year in begins):
        return NO_LICENSE
    about_text = _OF_DATA.sub(" ", words) if _ZERO.search(words) else words
    is_of_data = bool(_ZERO.search(words)) and not _ZERO.search(about_text)
    links = [
        attribute(link, "href")
        for each in statements
        for link in each.iter("license", "ext-link", "uri", "license_ref")
    ]
    by_address = [
        stated
        for text in (*links, about_text)
        for stated in _in_addresses(_plain(text))
        if not (stated and stated.terms == "zero" and is_of_data)
    ]
    stated = [*filter(None, by_address), *_in_words(about_text)]
    return _narrowest(stated, about_text).address if stated and None not in by_address else NO_LICENSE


def _plain(text: str) -> str:
    """Return a text with one kind of hyphen, and its blanks collapsed."""
    return " ".join(_HYPHENS.sub("-", text.replace("%2D", "-").replace("%2d", "-")).split())


def _statements(metadata: etree._Element) -> Iterator[etree._Element]:
    """Yield what is said of rights, without what is said of another version of the article."""
    for child in metadata:
        if child.tag in ("permissions", "license", "copyright-statement"):
            rights = copy.deepcopy(child)
            for each in list(rights.iter(etree.Element)):
                if each.get("specific-use", "").casefold() in _OTHER_VERSIONS:
                    behind = each.tail
                    each.clear()
                    each.tail = behind
            yield rights


def _in_addresses(text: str) -> Iterator[_Stated | None]:
    """Yield what the addresses in a text stand for; None for one of Creative Commons that is not understood."""
    if not _ADDRESS.search(text) and _ODD_ADDRESS.search(text):
        yield None
    for match in _ADDRESS.finditer(text):
        terms = "zero" if match["zero"] else match["terms"].casefold().strip("-")
        is_known = terms in (*_TERMS, "zero")
        yield _Stated(terms, match["version"] or "", (match["port"] or "").casefold()) if is_known else None


def _in_words(text: str) -> Iterator[_Stated]:
    version = re.search(r"\b([1-4]\.0)\b", text)
    if _NAMED.search(text):
        yield _Stated("by", version[1] if version else "")
    elif _ZERO.search(text):
        yield _Stated("zero", "1.0")


def _narrowest(stated: list[_Stated], words: str) -> _Stated:
    """Return the licence that allows no more than any of the statements, nor than the words around them."""
    first = next((each for each in stated if each.terms != "zero"), stated[0])
    if first.terms == "zero":
        return first
    conditions = {condition for each in stated for condition in each.terms.split("-")} | {
        name for name, pattern in _NARROWED.items() if pattern.search(words)
    }
    # NoDerivatives rules out what ShareAlike is about.
    if "nd" in conditions:
        conditions.discard("sa")
    terms = "-".join(["by", *(name for name in _NARROWED if name in conditions)])
    with_version = next((each for each in stated if each.terms == terms and each.version), None)
    return with_version or _Stated(terms, first.version, first.port if terms == first.terms else "")
