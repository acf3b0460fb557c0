"""A JATS file as a tree that can be read safely: its DTD and the entities it names are never fetched or expanded."""

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import etree

from builder.errors import ExtractError
from builder.mathml import write_formulas
from builder.packed import ERRORS, read_packed
from builder.records import NO_TEXT
from lm_eval_tasks.base.text import in_one_line

# The endings of files that are taken for JATS, plain or packed.
ENDINGS = tuple(ending + packed for ending in (".xml", ".nxml") for packed in ("", ".xz", ".gz", ".zst"))
# Elements that end a line: words on either side of them are not one.
BLOCKS = frozenset(
    "p disp-quote list list-item def-list def-item def term verse-group verse-line statement speech attrib preformat code title sec tr td "
    "th disp-formula fig table-wrap caption boxed-text".split()
)
# What an exponent belongs to although a blank lies between them.
UNIT = r"(?:\d|(?<![^\W_])(?:(?![aAI])[^\W\d_]|[cdkmnµμ]m|ft|ms|ns))"
_POWERS, _LINKS = ("msup", "msubsup"), ("xref", "a", "cite")
_EXPONENT = re.compile(r"[+\-−–]?\d+(?:[./]\d+)?[+\-−–]?")
# One that is no number, and what it stands behind: a number, a bracket or a letter alone; "5th" and "1er" have none.
_POWER = re.compile(r"(?!(?:st|nd|rd|th|er|re)$)[+\-−–]?\d*[^\W\d_](?:\s?[+\-−–*/]?\s?[^\W_]){0,4}")
_GROUPED = re.compile(r"\((?=[^()]*[+\-−–/*])[^()]{1,24}\)")
_ONE_PART = re.compile(r"[+\-−–]?[\w.,]+[+\-−–]?|\(.*\)")
_BASE = re.compile(r"(?:(?<!\w)\d[\d.,]*|[)\]]|(?<![^\W_])[^\W\d_])$")
# Raised marks of notes; raised numbers that cite behind a word, where no exponent stands.
_NOTE_MARKS = re.compile(r"[*∗⁎†‡§¶#\s]+")
_BARE_MARKS = re.compile(r"(?![23]$)\d{1,3}(?:\s*[,–-]\s*\d{1,3})*")
_WORD = re.compile(r"(?<![^\W_])(?!(?:sin|cos|tan|sec|cot)h)[^\W\d_]{4,}[.,;)]?$")
_NOTES = frozenset({"fn", "table-fn", "aff", "corresp", "author-notes"})
# Pictures, sources and other forms of a formula beside its text.
OF_FORMULAS = frozenset({"graphic", "inline-graphic", "tex-math", "annotation", "annotation-xml"})
# The longest article here has 1 MB.
_MOST_BYTES = 1 << 24


def read_article(path: Path) -> etree._Element:
    """Return the `article` element of a file; names of elements without their namespaces.

    Raises:
        ExtractError: missing_file, not_jats, damaged.
    """
    try:
        data = read_packed(path, _MOST_BYTES)
    except ERRORS as err:
        raise ExtractError("missing_file", f"{path}: {err}") from err
    return parse_article(data, str(path))


def parse_article(data: bytes, name: str) -> etree._Element:
    """Parse as `read_article` does; messages call the file by its name."""
    if b"<!ENTITY" in data:
        raise ExtractError("damaged", f"{name}: it declares entities of its own, which are not expanded")
    parser = etree.XMLParser(
        load_dtd=False, no_network=True, resolve_entities=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as err:
        raise ExtractError("damaged" if b"<article" in data else "not_jats", f"{name}: {err}") from err
    # In another encoding than ASCII's the declaration looks otherwise.
    declared: Any = root.getroottree().docinfo.internalDTD
    if declared is not None and any(True for _ in declared.iterentities()):
        raise ExtractError("damaged", f"{name}: it declares entities of its own, which are not expanded")
    for element in root.iter(etree.Element):
        element.tag = etree.QName(element).localname
    write_formulas(root)
    notes = {note.get("id") for note in root.iter("fn", "aff", "corresp")}
    for link in root.iter("xref"):
        if not link.get("ref-type") and link.get("rid") in notes:
            link.set("ref-type", "fn")
    if len(root.findall("article")) > 1:
        raise ExtractError("not_jats", f"{name} has several articles: give each a file of its own")
    article = root if root.tag == "article" else root.find(".//article")
    if article is None or article.find("front") is None:
        raise ExtractError("not_jats", f"{name} has no <article> with a <front>")
    return article


def attribute(element: etree._Element, name: str) -> str:
    """Return an attribute, whatever its namespace; "" if there is none."""
    return str(element.get(name) or element.get(f"{{http://www.w3.org/1999/xlink}}{name}") or "").strip()


def one_line(element: etree._Element | None, without: frozenset[str] = frozenset()) -> str:
    """Return the text of an element with its blanks collapsed, some elements in it left out; "" for None."""
    return "" if element is None else re.sub(rf"({UNIT}) \^", r"\1^", in_one_line("".join(_pieces(element, without))))


def _pieces(element: etree._Element, without: frozenset[str]) -> Iterator[str]:
    mark = _exponent_mark(element)
    yield mark
    yield element.text or ""
    for child in element:
        if child.tag is etree.Entity:
            yield entity_text(child)
        elif is_lost(child):
            yield NO_TEXT
        elif child.tag not in without and not (without and _is_mark(child)):
            apart = " " if child.tag in BLOCKS or child.tag == "break" else ""
            yield apart
            yield from _pieces(child, without)
            yield apart
        yield child.tail or ""
    yield closing_of(mark)


def _is_mark(element: etree._Element) -> bool:
    """Tell whether an element is a mark of a note or a raised citation, which is no word of a title or an abstract."""
    is_note = element.tag == "sup" and _NOTE_MARKS.fullmatch(one_line(element)) is not None
    return is_note or links_to_note(element) or raised_mark(element, "xref") == "["


def links_to_note(element: etree._Element) -> bool:
    """Tell whether an element is a link to a note, which is no text."""
    return element.tag == "xref" and element.get("ref-type") in _NOTES


def is_lost(element: etree._Element) -> bool:
    """Tell whether an element is a formula within a line of which there is only a picture or its source."""
    # One that holds others is not looked into: each of those is asked for itself.
    is_one = element.tag == "inline-formula" and element.find(".//inline-formula") is None
    return is_one and not one_line(element, OF_FORMULAS)


def closing_of(mark: str) -> str:
    """Return what closes what `raised_mark` opens."""
    return {"[": "]", "^(": ")"}.get(mark, "")


def _exponent_mark(element: etree._Element) -> str:
    """Return "^" for a superscript of digits and a sign, such as that of 10^5, in text or in a formula of MathML, "^(" for one of several
    parts, else "".
    """
    parent = element.getparent()
    is_power = parent is not None and parent.tag in _POWERS and element.getnext() is None
    if not is_power and element.tag != "sup":
        return ""
    is_linked = any(next(each, None) is not None for each in (element.iter(*_LINKS), element.iterancestors(*_LINKS)))
    printed = "".join(map(str, element.itertext())).strip()
    is_formula = _POWER.fullmatch(printed) or _GROUPED.fullmatch(printed)
    is_exponent = _EXPONENT.fullmatch(printed) or (is_formula and _BASE.search(_before(element)))
    if is_linked or not is_exponent:
        return ""
    return "^" if _ONE_PART.fullmatch(printed) else "^("


def _before(element: etree._Element) -> str:
    """Return the text before an element on its line, as far as the element before it."""
    previous, parent = element.getprevious(), element.getparent()
    if previous is None:
        return (parent.text or "") if parent is not None else ""
    return previous.tail or in_one_line("".join(map(str, previous.itertext())))


def raised_mark(element: etree._Element, link: str) -> str:
    """Return what marks an element in running text: "[" for a raised citation without brackets of its own, "^" or "^(" for an exponent,
    else ""; see `closing_of`.

    Args:
        link: the tag of a reference; a citation is a superscript of references to works, or a reference that is all superscript.
    """
    if element.tag in ("sup", link):
        inner = next(element.iterdescendants(link if element.tag == "sup" else "sup"), None)
        if _is_linked_citation(element, inner, link) if inner is not None else _is_bare_citation(element):
            return "["
    return _exponent_mark(element)


def _is_linked_citation(element: etree._Element, inner: etree._Element, link: str) -> bool:
    """Tell whether a superscript with links, or a link that is all superscript, is a citation without brackets of its own."""
    printed = one_line(element)
    if (
        printed[:1] in "[("
        or (element.tag != "sup" and printed != one_line(inner))
        or any(each.get("ref-type", "bibr") != "bibr" for each in element.iter(link))
    ):
        return False
    # Some set the brackets, too, as superscripts of their own.
    previous = element.getprevious()
    is_behind_sup = previous is not None and previous.tag == "sup" and not previous.tail
    return not (is_behind_sup and one_line(previous).endswith(("[", "(", ",", "-", "–")))


def _is_bare_citation(element: etree._Element) -> bool:
    """Tell whether a superscript without links cites: numbers behind a word."""
    is_raised = element.tag == "sup" and _WORD.search(_before(element)) is not None
    return is_raised and _BARE_MARKS.fullmatch(one_line(element).removeprefix("^")) is not None


def entity_text(entity: etree._Element) -> str:
    """Return the character that a named entity of HTML stands for; "" for one that only a DTD explains."""
    text = html.unescape(entity.text or "")
    return "" if text.startswith("&") else text
