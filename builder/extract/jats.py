"""An article in JATS -> Reading: sections, paragraphs and citations are marked as such, so that nothing has to be guessed.

Figures, tables, boxes, displayed formulas, footnotes and supplements are left out; decision letters and other sub-articles are
never part of the article (https://jats.nlm.nih.gov/archiving/tag-library/1.3/).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from builder.errors import ExtractError
from builder.extract.flowing_text import FlowingText, within_brackets
from builder.extract.headings import Heading, roles_of
from builder.extract.jats_references import read_references
from builder.extract.reading import MeasuredDocument
from builder.extract.roles import normalise, split_number
from builder.records import Document, Mention, Reference, Role, Section
from builder.sources.jats.front import NOTES, abstract_of
from builder.sources.jats.markup import BLOCKS, NotJatsError, entity_text, one_line, raised_mark, read_article

_BESIDE = frozenset(
    "fig fig-group table-wrap table-wrap-group table boxed-text supplementary-material media graphic inline-graphic caption fn fn-group "
    "disp-formula disp-formula-group chem-struct-wrap chem-struct tex-math annotation annotation-xml object-id ref-list array "
    "inline-supplementary-material floats-group sec-meta permissions index-term sub-article response def-list glossary".split()
)
# What sections are called that have a kind but no title (https://jats.nlm.nih.gov/archiving/tag-library/1.3/attribute/sec-type.html).
_TITLES_OF_KINDS = {
    "intro": "Introduction",
    "materials": "Materials",
    "methods": "Methods",
    "materials|methods": "Materials and Methods",
    "results": "Results",
    "discussion": "Discussion",
    "conclusions": "Conclusions",
}
# Of supplements and of lists of terms.
_LEFT_OUT = re.compile(
    r"(?:supporting|supplement(?:ary|al)|additional) (?:information|materials?|files?|data)\b.*"
    r"|(?:list of |key )?(?:abbreviations?|acronyms?|symbols|glossary|nomenclature)(?: (?:used|list|and|of)\b.*)?"
)
_BACKGROUND = re.compile(r"background(?: and .*)?")
# What stands between the marks of one bracket, and between the two ends of a range.
_JOINS = re.compile(r"\s*(?:[,;]|and|&|,\s*and)?\s*")
_RANGE = re.compile(r"[\])]?\s*[-‐‑‒–—−]\s*[\[(]?")
_PRINTED_RANGE = re.compile(r"\D{0,2}(\d{1,3})\s*[-‐‑‒–—−]\s*(\d{1,3})\D{0,2}")
# Years have four digits.
_NUMBER = re.compile(r"\s*[\[(]?\s*(\d{1,3})\s*[\])]?\s*")
# A wider one is a mistake in the file.
_WIDEST = 200


@dataclass(frozen=True, slots=True)
class _Block:
    """A section and its own text, that of its subsections left out."""

    heading: Heading
    text: FlowingText


def read_jats(path: Path) -> MeasuredDocument:
    """Read an article, plain or packed.

    Raises:
        ExtractError: missing_file, not_jats, damaged, no_sections.
    """
    try:
        article = read_article(path)
    except NotJatsError as err:
        raise ExtractError(err.reason, str(err)) from err
    body = article.find("body")
    if body is None:
        raise ExtractError("no_sections", f"{path} has no body")
    blocks = [_Block(Heading(0, 0, "", "", 1), FlowingText())]
    _walk(body, blocks[0].text, 1, blocks)
    if not blocks[0].text.length:
        blocks = blocks[1:]
    entries, places = read_references(article)
    listed = "\n".join(entry.raw for entry in entries)
    sections = [
        Section(f"{block.heading.number} {block.heading.words}".strip(), role, block.heading.level, _text(block))
        for block, role in zip(blocks, _roles(blocks), strict=True)
    ]
    if listed:
        sections.append(Section("References", "references", 1, listed))
    metadata = article.find("front/article-meta")
    abstract = abstract_of(metadata) if metadata is not None else ""
    document = Document(
        one_line(article.find("front/article-meta/title-group/article-title"), NOTES),
        abstract,
        tuple(sections),
        entries,
        tuple(_mentions(blocks, entries, places)),
    )
    return MeasuredDocument(document, sum(len(section.text) for section in sections) + len(abstract), 0)


def _walk(container: etree._Element, text: FlowingText, level: int, blocks: list[_Block]) -> None:
    """Collect the sections and texts of a body or section, in order."""
    for child in container.iterchildren("*"):
        if child.tag == "sec":
            if _is_left_out(child):
                continue
            heading = _heading(child, level, len(blocks))
            if not heading.number and not heading.words and child.find("sec") is not None:
                # It only holds the others together.
                _walk(child, text, level, blocks)
            else:
                block = _Block(heading, FlowingText())
                blocks.append(block)
                _walk(child, block.text, level + 1, blocks)
        elif child.tag not in ("title", "label"):
            _write(child, text)
            text.end_block()


def _heading(section: etree._Element, level: int, position: int) -> Heading:
    label = one_line(section.find("label")).strip(" .")
    printed = one_line(section.find("title"), NOTES) or _TITLES_OF_KINDS.get(section.get("sec-type", ""), "")
    number, words = (label, printed) if label else split_number(printed)
    return Heading(position, position, number, words, level)


def _is_left_out(section: etree._Element) -> bool:
    named = _LEFT_OUT.fullmatch(normalise(one_line(section.find("title"))))
    return section.get("sec-type") == "supplementary-material" or named is not None


def _roles(blocks: Sequence[_Block]) -> list[Role]:
    """A role for each section; where none is called an introduction, the background or what stands before all headings is one."""
    roles = roles_of([block.heading for block in blocks])
    if blocks and "introduction" not in roles and len(blocks) > 1:
        first = normalise(blocks[0].heading.words)
        if not first or _BACKGROUND.fullmatch(first):
            roles[0] = "introduction"
    return roles


def _write(element: etree._Element, text: FlowingText) -> None:
    """Append an element's text, what stands beside the running text left out; citations with their place.

    A raised citation is set apart, as "others [3]", and a raised number marked, as "10^5".
    """
    if element.tag in _BESIDE:
        return
    mark = raised_mark(element, "xref")
    start = text.open_mark(mark)
    text.add(element.text)
    for child in element:
        if child.tag is etree.Entity:
            text.add(entity_text(child))
        else:
            _write(child, text)
        text.add(child.tail)
    text.add("]" if mark == "[" else "")
    if element.tag == "xref":
        text.cites.append((start, text.end(), tuple(element.get("rid", "").split())))
    elif element.tag == "break":
        text.add(" ")
    elif element.tag in BLOCKS:
        text.end_block()


def _text(block: _Block) -> str:
    return str(block.text).strip("\n")


# --- citations


def _mentions(
    blocks: Sequence[_Block], entries: Sequence[Reference], places: dict[str, tuple[int, ...]]
) -> Iterator[Mention]:
    for i, block in enumerate(blocks):
        text = str(block.text)
        cites = [cite for cite in block.text.cites if not places.keys().isdisjoint(cite[2])]
        for run in _runs(text, cites):
            cited = tuple(dict.fromkeys(_cited(text, run, entries, places)))
            start, end = run[0][0], run[-1][1]
            start += len(text[start:end]) - len(text[start:end].lstrip())
            if cited and start < end:
                yield Mention(i, *within_brackets(text, start, end), cited, len(cited) > 1)


def _runs(
    text: str, cites: Sequence[tuple[int, int, tuple[str, ...]]]
) -> Iterator[list[tuple[int, int, tuple[str, ...]]]]:
    """Citations that stand together as one mark."""
    run: list[tuple[int, int, tuple[str, ...]]] = []
    for cite in cites:
        between = text[run[-1][1] : cite[0]] if run else ""
        if run and not (_JOINS.fullmatch(between) or _RANGE.fullmatch(between)):
            yield run
            run = []
        run.append(cite)
    if run:
        yield run


def _cited(
    text: str,
    run: Sequence[tuple[int, int, tuple[str, ...]]],
    entries: Sequence[Reference],
    places: dict[str, tuple[int, ...]],
) -> Iterator[int]:
    """The entries that a mark cites, with those between the ends of its ranges; a range is one of numbers, not of years or names."""
    last: tuple[int, int] | None = None
    end = 0
    for start, stop, targets in run:
        cited = [place for target in targets for place in places.get(target, ())]
        number = _number(text[start:stop])
        if last and number and cited and _RANGE.fullmatch(text[end:start]):
            yield from _between(last, (cited[0], number), entries)
        printed = _PRINTED_RANGE.fullmatch(text[start:stop])
        if printed and len(set(targets)) <= 2 and cited and entries[cited[0]].label in ("", printed[1]):
            first, until = int(printed[1]), int(printed[2])
            ends = (cited[-1], until) if len(set(targets)) == 2 else (len(entries), until + 1)
            cited[1:1] = _between((cited[0], first), ends, entries)
        yield from cited
        last, end = ((cited[-1], number) if cited and number else None), stop


def _number(mark: str) -> int:
    """The number that a mark is, in brackets or not; 0 for years and names."""
    match = _NUMBER.fullmatch(mark)
    return int(match[1]) if match else 0


def _between(first: tuple[int, int], last: tuple[int, int], entries: Sequence[Reference]) -> Iterator[int]:
    """The entries between two, by their labels if these are numbers, else by their places.

    Args:
        first, last: place and number of each.
    """
    if not first[1] < last[1] <= first[1] + _WIDEST:
        return
    labels = [int(entry.label) if entry.label.isdigit() else 0 for entry in entries]
    if any(labels):
        yield from (place for place, label in enumerate(labels) if first[1] < label < last[1])
    else:
        yield from range(first[0] + 1, min(last[0], len(entries)))
