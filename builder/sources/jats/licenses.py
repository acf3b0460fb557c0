"""The licence of an article, as its file states it: by address or in a sentence."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from builder.records import UNKNOWN_LICENSE
from builder.sources.jats.markup import attribute, one_line

if TYPE_CHECKING:
    from lxml import etree

_ADDRESS = re.compile(
    r"creativecommons\.org/(?:licen[sc]es/(?P<terms>by(?:-(?:nc|nd|sa)){0,2})|publicdomain/(?P<zero>zero|mark))(?:/(?P<version>\d\.\d))?",
    re.IGNORECASE,
)
_ZERO = re.compile(
    r"\bCC-?0\b|creative commons (?:cc0|zero|public domain)|public domain dedication|free of all copyright",
    re.IGNORECASE,
)
_NAMED = re.compile(r"\b(?:creative commons|CC)[\s-]+(?:(?:licen[sc]e\s*\()?attribution|BY\b)", re.IGNORECASE)
_TERMS = (
    ("nc", re.compile(r"non-?\s?commercial|\bBY-NC", re.IGNORECASE)),
    ("nd", re.compile(r"no-?\s?deriv|\bBY(?:-NC)?-ND\b", re.IGNORECASE)),
    ("sa", re.compile(r"share-?\s?alike|\bBY(?:-NC)?-SA\b", re.IGNORECASE)),
)
_VERSION = re.compile(r"\b([1-4]\.0)\b")


def license_of(metadata: etree._Element) -> str:
    """The licence of an article as the address of one of Creative Commons', `UNKNOWN_LICENSE` if it states none of them.

    An address counts before a sentence. A sentence that does not say which version is meant gives an address without one.

    Args:
        metadata: the element `article-meta`.
    """
    stated = [element for element in metadata.iter("license", "license_ref", "copyright-statement", "license-p")]
    addresses = [
        *(attribute(element, "href") for element in stated),
        *(one_line(element) for element in stated if element.tag == "license_ref"),
        *(attribute(link, "href") for element in stated for link in element.iter("ext-link", "uri")),
        *(one_line(element) for element in stated),
    ]
    if known := next((known for text in addresses if (known := known_license(text))), ""):
        return known
    return next((named for element in stated if (named := _in_words(one_line(element)))), UNKNOWN_LICENSE)


def known_license(text: str) -> str:
    """The licence that an address or a short name ("cc by-nc") in a text stands for; "" if it stands for none."""
    if match := _ADDRESS.search(text):
        path = f"licenses/{match['terms'].lower()}" if match["terms"] else f"publicdomain/{match['zero'].lower()}"
        return f"http://creativecommons.org/{path}/" + (f"{match['version']}/" if match["version"] else "")
    short = re.fullmatch(r"cc[\s-]?(by(?:-(?:nc|nd|sa)){0,2}|0)", text.strip(), re.IGNORECASE)
    if short is None:
        return ""
    return f"http://creativecommons.org/{'publicdomain/zero' if short[1] == '0' else f'licenses/{short[1].lower()}'}/"


def _in_words(sentence: str) -> str:
    if _NAMED.search(sentence):
        version = _VERSION.search(sentence)
        terms = "-".join(["by", *(name for name, pattern in _TERMS if pattern.search(sentence))])
        return f"http://creativecommons.org/licenses/{terms}/" + (f"{version[1]}/" if version else "")
    return "http://creativecommons.org/publicdomain/zero/1.0/" if _ZERO.search(sentence) else ""
