"""An article in JATS -> MeasuredDocument: sections, paragraphs and citations are marked as such, so that nothing has to be guessed.

Figures, tables, boxes, displayed formulas, footnotes and supplements are left out; decision letters and other sub-articles are
never part of the article (https://jats.nlm.nih.gov/archiving/tag-library/1.3/).
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from lxml import etree

from builder.errors import ExtractError
from builder.extract.flowing_text import FlowingText, TextBlock, cited_by, runs, take_abstract, within_brackets
from builder.extract.headings import Heading, roles_of
from builder.extract.jats_references import references_of
from builder.extract.quality import MeasuredDocument
from builder.extract.sections import normalise, role_of, split_number
from builder.records import Document, Mention, Reference, Role, Section
from builder.sources.jats.front import NOTES, abstract_of, title_of
from builder.sources.jats.markup import (
    BLOCKS,
    OF_FORMULAS,
    closing_of,
    entity_text,
    is_lost,
    links_to_note,
    one_line,
    raised_mark,
    read_article,
)

_BESIDE = OF_FORMULAS | frozenset(
    "fig fig-group table-wrap table-wrap-group table boxed-text supplementary-material media caption fn fn-group "
    "disp-formula disp-formula-group chem-struct-wrap chem-struct object-id ref-list array "
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
    r"(?:supporting|supplement(?:ary|al)|additional) (?:information|materials?|files?|data)\b.*|key terms|terms and definitions"
    r"|(?:box \d+ )?(?:list of |key |(?:non)?-?standard )?(?:abbreviations?|acronyms?|symbols|glossary|nomenclature)"
    r"(?: (?:used|list|and|of)\b.*)?"
)
_TERMS, _KINDS_LEFT_OUT = {"def-list", "glossary"}, ("supplementary-material", "abbreviations", "glossary")
# What is no introduction, where it stands before all headings.
_NO_INTRODUCTION = re.compile(
    r"(?:abbreviations?|key ?words|highlights|key (?:points|messages)|(?:author )?summary|editor|edited by|trial registration)\b",
    re.IGNORECASE,
)
# Where only methods have a heading, what stands before them is the whole paper.
_METHODS = re.compile(r"(?:online |materials and )?methods?\b.*|experimental (?:procedures|section)")
# Methods behind the body go by more names.
_METHODS_BEHIND = re.compile(
    r"(?!suppl)(?:\w+[ ★&-]+){0,3}methods?|experimental (?:procedures|section)|statistical analys[ei]s"
)
_OF_BODY = re.compile(
    r"(?:results|discussion|findings|limitations(?: of .*)?|outlook|future work|summary)(?: and (?!fund).*)?"
)
_FINDINGS = re.compile(r".*\b(?:results?|discussions?|conclusions?|findings|comments?)\b.*")
# What a paragraph or title follows on its line.
_LEADS = frozenset({"label", "speaker"})
# Elements within a line, whose absence leaves no gap.
_WITHIN_LINES = frozenset("fn inline-graphic tex-math annotation annotation-xml object-id index-term xref".split())


def read_jats(path: Path) -> MeasuredDocument:
    """Read an article, plain or packed.

    Raises:
        ExtractError: missing_file, not_jats, damaged, no_sections.
    """
    article = read_article(path)
    if (body := article.find("body")) is None:
        raise ExtractError("no_sections", f"{path} has no body")
    blocks = [TextBlock(Heading(0, 0, "", "", 1))]
    _walk(body, blocks[0].text, 1, blocks)
    for section in filter(_is_of_body, [*article.findall("back/sec"), *article.findall("back/notes/sec")]):
        _walk_section(section, blocks[-1].text, 1, blocks)
    blocks = blocks if blocks[0].text.length else blocks[1:]
    own_abstract = take_abstract(blocks)
    entries, indices = references_of(article)
    listed = "\n".join(entry.raw for entry in entries)
    sections = [
        Section(f"{block.heading.number} {block.heading.words}".strip(), role, block.heading.level, str(block))
        for block, role in zip(blocks, _roles(blocks), strict=True)
    ]
    if listed:
        sections.append(Section("References", "references", 1, listed))
    metadata = article.find("front/article-meta")
    abstract = (abstract_of(metadata) if metadata is not None else "") or " ".join(own_abstract.split())
    title = title_of(metadata) if metadata is not None else ""
    document = Document(title, abstract, tuple(sections), entries, tuple(_mentions(blocks, entries, indices)))
    return MeasuredDocument(document, sum(len(section.text) for section in sections) + len(abstract), 0)


def _walk(container: etree._Element, text: FlowingText, level: int, blocks: list[TextBlock]) -> None:
    for child in container.iterchildren("*"):
        if child.tag == "sec" and not _is_left_out(child):
            _walk_section(child, text, level, blocks)
        elif child.tag not in ("sec", "title", "label"):
            _write(child, text)
            text.end_block()


def _walk_section(section: etree._Element, text: FlowingText, level: int, blocks: list[TextBlock]) -> None:
    heading = _heading(section, level)
    if not heading.words and section.find("sec") is not None:
        # It only holds the others together.
        _walk(section, text, level, blocks)
    else:
        blocks.append(TextBlock(heading))
        _walk(section, blocks[-1].text, level + 1, blocks)


def _heading(section: etree._Element, level: int) -> Heading:
    label = one_line(section.find("label")).strip(" .|∣")
    printed = one_line(section.find("title"), NOTES) or _TITLES_OF_KINDS.get(section.get("sec-type", ""), "")
    return Heading(0, 0, *((label, printed.lstrip("|∣ ")) if label else split_number(printed)), level)


def _is_of_body(section: etree._Element) -> bool:
    """Tell whether a section behind the body belongs to it, as some journals place methods and conclusions."""
    words = normalise(_heading(section, 1).words)
    is_named = role_of(words) == "conclusion" or _METHODS_BEHIND.fullmatch(words) or _OF_BODY.fullmatch(words)
    return not _is_left_out(section) and bool(is_named or section.get("sec-type") in _TITLES_OF_KINDS)


def _is_left_out(section: etree._Element) -> bool:
    parts = {child.tag for child in section.iterchildren("*")} - {"title", "label"}
    words = normalise(split_number(one_line(section.find("title")))[1])
    is_kind = section.get("sec-type") in _KINDS_LEFT_OUT or bool(parts and parts <= _TERMS)
    return is_kind or _LEFT_OUT.fullmatch(words) is not None


def _roles(blocks: Sequence[TextBlock]) -> list[Role]:
    """Return a role for each section; where none is called an introduction, the background or what stands before all headings is one."""
    roles = roles_of([block.heading for block in blocks])
    if len(blocks) > 1 and "introduction" not in roles:
        words = [normalise(block.heading.words) for block in blocks]
        opening = next((each for each in words if each and not _NO_INTRODUCTION.match(each)), "")
        is_whole_paper = _METHODS.fullmatch(opening) and not any(map(_FINDINGS.fullmatch, words))
        if re.fullmatch(r"background(?: and .*)?", opening):
            roles[words.index(opening)] = "introduction"
        elif not words[0] and not is_whole_paper and not _NO_INTRODUCTION.match(str(blocks[0])):
            roles[0] = "introduction"
    # What a task would ask for is mere body where it, or a subsection, has a formula that is a picture alone.
    own: int | None = None
    for i, block in enumerate(blocks):
        if own is not None and i != own and block.heading.level <= blocks[own].heading.level:
            own = None
        own = i if roles[i] in ("introduction", "related_work") else own
        if own is not None and block.text.gaps:
            roles[own] = "body"
    return roles


def _write(element: etree._Element, text: FlowingText) -> None:
    """Append an element's text, what stands beside the running text left out; citations with their place.

    A raised citation is set apart, as "others [3]", and a raised number marked, as "10^5".
    """
    if is_lost(element):
        text.gaps += 1
        return
    if element.get("list-content", "").startswith("abbreviation") or element.tag in _BESIDE or links_to_note(element):
        text.add("" if element.tag in _WITHIN_LINES else " ")
        return
    if element.tag in BLOCKS:
        before = element.getprevious()
        if before is not None and before.tag in _LEADS:
            text.add(" ")
        else:
            text.end_block()
    mark = raised_mark(element, "xref")
    start = text.open_mark(mark)
    text.add(element.text)
    for child in element:
        if child.tag is etree.Entity:
            text.add(entity_text(child))
        else:
            _write(child, text)
        text.add(child.tail)
    text.add(closing_of(mark))
    if element.tag == "xref":
        text.cites.append((start, text.end(), tuple(element.get("rid", "").split())))
    elif element.tag == "break":
        text.add(" ")
    elif element.tag in BLOCKS:
        text.end_block()


# --- citations


def _mentions(
    blocks: Sequence[TextBlock], entries: Sequence[Reference], indices: dict[str, tuple[int, ...]]
) -> Iterator[Mention]:
    for i, block in enumerate(blocks):
        text = str(block.text)
        for run in runs(text, [cite for cite in block.text.cites if not indices.keys().isdisjoint(cite[2])]):
            linked = [index for cite in run for target in cite[2] for index in indices.get(target, ())]
            start, end = run[0][0], run[-1][1]
            cited = cited_by(text[start:end], linked, entries)
            start += len(text[start:end]) - len(text[start:end].lstrip())
            if start < end:
                yield Mention(i, *within_brackets(text, start, end), cited, len(cited) > 1)
