"""An HTML page made by LaTeXML (arxiv.org/html, ar5iv) -> MeasuredDocument.

The page says what a PDF only shows: which element is a heading, a caption, a citation, and to which entry a citation links.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from lxml import etree, html

from builder.errors import ExtractError
from builder.extract.flowing_text import FlowingText, TextBlock, cited_by, runs, take_abstract, within_brackets
from builder.extract.headings import Heading, roles_of
from builder.extract.quality import MeasuredDocument
from builder.extract.references import parse_entry
from builder.extract.sections import split_number
from builder.ids import PaperId
from builder.mathml import write_formulas
from builder.packed import ERRORS, read_packed
from builder.records import Document, Mention, Reference, Role, Section
from builder.sources.jats.markup import closing_of, raised_mark

_LEVELS = dict.fromkeys(
    ("ltx_part", "ltx_chapter", "ltx_section", "ltx_appendix", "ltx_bibliography", "ltx_index"), 1
) | {"ltx_subsection": 2, "ltx_acknowledgements": 2, "ltx_subsubsection": 3, "ltx_paragraph": 4, "ltx_subparagraph": 5}
_ROLES: dict[str, Role] = {
    "ltx_bibliography": "references",
    "ltx_appendix": "appendix",
    "ltx_acknowledgements": "acknowledgements",
}
# What is not part of the running text: floats, notes, and the machine's copies of a formula.
_BESIDE = frozenset(
    "ltx_figure ltx_table ltx_float ltx_note ltx_tabular ltx_listing ltx_role_footnote ltx_caption ltx_TOC ltx_ERROR "
    "ltx_pagination ltx_note_mark ltx_glossary ltx_keywords ltx_tag_equation ltx_eqn_eqno ltx_biblist".split()
)
_BLOCKS = frozenset("ltx_para ltx_p ltx_theorem ltx_proof ltx_item ltx_equation ltx_equationgroup ltx_quote".split())
_MISSING = frozenset(("ltx_missing_citation", "ltx_missing_label"))
_SKIPPED_TAGS = frozenset(
    {"annotation", "annotation-xml", "script", "style", "figure", "figcaption", "table", "svg", "button", "nav"}
)
# Words before the first heading that are text, and no note on authors.
_LEAST_LEAD = 50
# What a reader of a page cannot see: elements that their own style hides, makes tiny, or moves off the page.
_UNSEEN_TAGS = ("template", "noscript", "dialog", "textarea", "iframe")
_NUMBER = r"(-?\d*\.?\d+)"
_SIZE, _ALPHA = re.compile(rf"{_NUMBER}([a-z%]*)"), re.compile(rf"(?:rgba|hsla)\(.*[,/]\s*{_NUMBER}(%?)\s*\)")
# The least size that can be read, in each unit.
_LEAST_SIZES = {"": 0.01, "px": 3, "pt": 2.5, "em": 0.25, "rem": 0.25, "%": 25, "vw": 0.3, "cm": 0.08, "mm": 0.8}
_LEAST_OPACITIES: dict[str, float] = {"": 0.1, "%": 10}
_CHANNEL = r"\s*(?:25[0-5]|24[89])\s*"
_WHITE = re.compile(
    rf"white|ivory|snow|rgb\((?:\s*100%\s*[, ]?){{3}}\)|hsla?\(.*[, ](?:9[7-9]|100)%\s*\)"
    rf"|#(?:f[7-9a-f]){{3}}|#fff|rgba?\({_CHANNEL}[, ]{_CHANNEL}[, ]{_CHANNEL}\b.*"
)
_COLORS, _GROUNDS = ("color", "--ltx-fg-color"), ("background", "background-color", "--ltx-bg-color")
_AWAY = re.compile(r"-\d{4,}(?:\.\d+)?p[xt]|-\d{3,}(?:\.\d+)?(?:r?em|vw|vh)")
_ATTRIBUTES = {"mathcolor": "color", "mathsize": "font-size", "mathbackground": "background", "color": "color"}
_PLACED = ("left", "top", "bottom")
_SIDES = (*_PLACED, "text-indent", "margin-left")
_ALL_CLIPPED, _NOTHING = re.compile(r"inset\((?:50|100)%|circle\(0|polygon\(0 0\)"), re.compile(r"0(?:\.0+)?[a-z%]*")
_SIZES = ("height", "width", "max-height", "max-width")
_SHRUNK = re.compile(r"scale\(0(?:\.0\d*)?[,)]")
_NO_CLIP = re.compile(r"rect\(\s*(?:[01](?:px)?[\s,]*){4}\)")


def read_html(path: Path) -> MeasuredDocument:
    """Read a LaTeXML page, plain or packed as .xz.

    Raises:
        ExtractError: missing_file, not_html, damaged.
    """
    try:
        data = read_packed(path)
    except ERRORS as err:
        raise ExtractError("missing_file", f"{path}: {err}") from err
    parser = html.HTMLParser(encoding="utf-8")
    try:
        page = html.document_fromstring(data, parser=parser)
    except (etree.ParserError, ValueError) as err:
        raise ExtractError("not_html", f"{path}: {err}") from err
    # The parser leaves out what is too large for it.
    if any(entry.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for entry in parser.error_log):
        raise ExtractError("damaged", f"{path}: a part of it is larger than any page's")
    hidden = _take_hidden(page)
    root = next((element for element in page.iter() if "ltx_document" in _classes(element)), None)
    if not isinstance(root, html.HtmlElement):
        raise ExtractError("not_html", f"{path} is not a page made by LaTeXML")
    return replace(_read(root, page), hidden=hidden)


def _read(root: html.HtmlElement, page: html.HtmlElement) -> MeasuredDocument:
    write_formulas(root)
    blocks: list[TextBlock] = []
    _walk(root, None, blocks)
    own_abstract = take_abstract(blocks)
    if (
        blocks
        and not blocks[0].heading.words
        and not blocks[0].block_class
        and len(str(blocks[0]).split()) < _LEAST_LEAD
    ):
        del blocks[0]
    items = root.find_class("ltx_bibitem")
    references = tuple(_entry(item) for item in items)
    raw = {item: entry.raw for item, entry in zip(items, references, strict=True)}
    lists = iter(
        "\n".join(raw[item] for item in each.find_class("ltx_bibitem")) for each in root.find_class("ltx_bibliography")
    )
    roles = roles_of([block.heading for block in blocks])
    if blocks and not blocks[0].block_class and "introduction" not in roles:
        roles[0] = "introduction"
    sections = tuple(_section(block, role, lists) for block, role in zip(blocks, roles, strict=True))
    index = {item.get("id", ""): i for i, item in enumerate(items)}
    abstracts = root.find_class("ltx_abstract")
    in_english = [each for each in abstracts if (each.get("lang") or "en").casefold().startswith("en")]
    marked = next((_plain_text(element, "ltx_title") for element in in_english or abstracts), "")
    abstract = marked or " ".join(own_abstract.split())
    title = next((_plain_text(element) for element in root.find_class("ltx_title_document")), "")
    # The id with version that arxiv.org prints above the paper.
    marks = (
        re.match(r"arXiv:\s*(\S+)", element.text_content().strip()) for element in page.xpath("//*[@id='watermark-tr']")
    )
    stamp = next((match[1] for match in marks if match and PaperId.parse(match[1])), None)
    document = Document(title, abstract, sections, references, tuple(_mentions(blocks, index, references)), stamp)
    # Everything on the page that is meant to be read; what is in no section is front matter, floats and notes.
    characters = sum(len(section.text) for section in sections) + len(abstract)
    beside = sum(len(_plain_text(element)) for name in ("ltx_figure", "ltx_table") for element in root.find_class(name))
    return MeasuredDocument(document, characters + beside, 0)


def _section(block: TextBlock, role: Role, lists: Iterator[str]) -> Section:
    """Make the section of a block; `lists` are the texts of the reference lists that are left."""
    return Section(
        heading=f"{block.heading.number} {block.heading.words}".strip(),
        role=_ROLES.get(block.block_class, role),
        level=block.heading.level,
        text=next(lists) if block.block_class == "ltx_bibliography" else str(block),
    )


def _walk(element: html.HtmlElement, block: TextBlock | None, blocks: list[TextBlock]) -> None:
    for child in element.iterchildren():
        block_class = next((name for name in _classes(child) if name in _LEVELS), None)
        if block_class:
            blocks.append(TextBlock(_heading(child, block_class), block_class))
            _walk(child, blocks[-1], blocks)
        elif _is_beside(child):
            pass
        elif block is None and "ltx_para" in _classes(child) and not any(each.block_class for each in blocks):
            # What stands before the first heading.
            blocks[:] = blocks or [TextBlock(Heading(0, 0, "", "", 1))]
            _write(child, blocks[0].text)
            blocks[0].text.end_block()
        elif block is None:
            _walk(child, None, blocks)
        elif any(name in _LEVELS for inner in child.iter() for name in _classes(inner)):
            _walk(child, block, blocks)
        elif not any(name.startswith("ltx_title") for name in _classes(child)):
            _write(child, block.text)
            block.text.end_block()
        if block is not None:
            block.text.add(child.tail)


def _heading(element: html.HtmlElement, block_class: str) -> Heading:
    title = next((child for child in element if "ltx_title" in _classes(child)), None)
    if title is None:
        return Heading(0, 0, "", "", _LEVELS[block_class])
    number = _plain_text(next(iter(title.find_class("ltx_tag")), None)).strip(" .:")
    words = _plain_text(title, "ltx_tag")
    # Some authors type the number.
    number, words = (number.removeprefix("Appendix "), words) if number else split_number(words)
    return Heading(0, 0, number, words, _LEVELS[block_class])


def _write(element: html.HtmlElement, text: FlowingText) -> None:
    """Append an element's text: formulas as their characters, citations with their place; notes and floats left out."""
    if _is_beside(element):
        return
    if not _MISSING.isdisjoint(_classes(element)):
        # The key of an entry or label that is not there.
        text.add("??")
        return
    mark = raised_mark(element, "cite")
    start = text.open_mark(mark)
    text.add(element.text)
    for child in element.iterchildren():
        _write(child, text)
        text.add(child.tail)
    text.add(closing_of(mark))
    if element.tag == "cite":
        targets = (unquote(link.get("href", "").rpartition("#")[2]) for link in element.iter("a"))
        text.cites.append((start, text.end(), tuple(dict.fromkeys(target for target in targets if target))))
    elif element.tag == "br":
        text.add(" ")
    elif not _BLOCKS.isdisjoint(_classes(element)):
        text.end_block()


def _mentions(blocks: list[TextBlock], index: dict[str, int], entries: Sequence[Reference]) -> Iterator[Mention]:
    for i, block in enumerate(blocks):
        text = str(block.text)
        cites = [cite for cite in block.text.cites if not index.keys().isdisjoint(cite[2])]
        for run in runs(text, cites, only_ranges=True):
            start, end = run[0][0], run[-1][1]
            targets = [target for cite in run for target in cite[2]]
            cited = cited_by(text[start:end], [index[target] for target in targets if target in index], entries)
            yield Mention(i, *within_brackets(text, start, end), cited, max(len(targets), len(cited)) > 1)


def _entry(item: html.HtmlElement) -> Reference:
    """Return one bibliography item; ids and addresses in its links count like printed ones."""
    label = _plain_text(next(iter(item.find_class("ltx_tag_bibitem")), None)).strip()
    if label[:1] + label[-1:] in ("[]", "()"):
        label = label[1:-1].strip()
    elif label.count("[") != label.count("]") or label.count("(") != label.count(")"):
        label = label.strip("[]() ")
    return replace(
        parse_entry(_plain_text(item, "ltx_tag_bibitem"), [link.get("href", "") for link in item.iter("a")]),
        label=label,
    )


def _plain_text(element: html.HtmlElement | None, without: str = "") -> str:
    """Return the text of an element on one line, children of a class left out."""
    text = FlowingText()
    if element is not None:
        text.add(element.text)
        for child in element.iterchildren():
            if not without or without not in _classes(child):
                _write(child, text)
            text.add(child.tail)
    return " ".join(str(text).split())


def _is_beside(element: html.HtmlElement) -> bool:
    return not isinstance(element.tag, str) or element.tag in _SKIPPED_TAGS or not _BESIDE.isdisjoint(_classes(element))


def _classes(element: etree._Element) -> list[str]:
    return (element.get("class") or "").split() if isinstance(element.tag, str) else []


def _take_hidden(page: html.HtmlElement) -> int:
    """Take what cannot be seen off a page; how many characters it had."""
    characters = 0
    for element in [each for each in page.iter(etree.Element) if isinstance(each, html.HtmlElement)]:
        # What is in a part that was taken off is counted already.
        if _is_hidden(element) and page in element.iterancestors():
            characters += len("".join(element.text_content().split()))
            element.drop_tree()
    return characters


def _is_hidden(element: html.HtmlElement) -> bool:
    # LaTeXML gives a phantom the room of a text that is not shown.
    if element.tag in _UNSEEN_TAGS or element.get("hidden") is not None or "ltx_phantom" in _classes(element):
        return True
    style = _style(element)
    return bool(style) and (_is_of_no_size(style) or _is_of_its_ground(element, style))


def _is_of_no_size(style: dict[str, str]) -> bool:
    """Tell whether a style shows nothing, or next to nothing, or puts it off the page."""
    return (
        style.get("display") == "none"
        or style.get("content-visibility") == "hidden"
        or style.get("visibility") in ("hidden", "collapse")
        or _is_less(style.get("font-size", style.get("font", "").partition("/")[0]), _LEAST_SIZES)
        or _is_less(style.get("opacity", ""), _LEAST_OPACITIES)
        or _SHRUNK.search(style.get("transform", "")) is not None
        or _NO_CLIP.fullmatch(style.get("clip", "")) is not None
        or any(_AWAY.match(style.get(name, "")) for name in _SIDES if name not in _PLACED or "position" in style)
        or _ALL_CLIPPED.match(style.get("clip-path", "")) is not None
        or (style.get("overflow") == "hidden" and any(_NOTHING.fullmatch(style.get(name, "")) for name in _SIZES))
    )


def _is_of_its_ground(element: html.HtmlElement, style: dict[str, str]) -> bool:
    """Tell whether the text of an element has no colour, or that of what it stands on."""
    color = next((style[name] for name in _COLORS if name in style), "")
    return (
        color == "transparent"
        or _is_less(color, _LEAST_OPACITIES, _ALPHA)
        or (_WHITE.fullmatch(color) is not None and not _has_ground(element))
        or bool(color and color in (style.get(name) for name in _GROUNDS))
    )


def _style(element: html.HtmlElement) -> dict[str, str]:
    """Return the style of an element, with what attributes of `font` and of MathML say of it."""
    told = [(name, element.get(attribute, "")) for attribute, name in _ATTRIBUTES.items()]
    for declaration in (element.get("style") or "").split(";"):
        name, _, value = declaration.casefold().partition(":")
        told.append((name.strip(), value.replace("!important", "")))
    return {name: value.casefold().strip() for name, value in told if value.strip()}


def _is_less(value: str, least: dict[str, float], pattern: re.Pattern[str] = _SIZE) -> bool:
    """Tell whether what a pattern finds in a value, number and unit, is less than the least of this unit."""
    match = pattern.fullmatch(value)
    return match is not None and match[2] in least and float(match[1]) < least[match[2]]


def _has_ground(element: html.HtmlElement) -> bool:
    """Tell whether an element stands on another colour than the page's."""
    grounds = (_style(each).get(name, "") for each in (element, *element.iterancestors()) for name in _GROUNDS)
    return any(
        ground and ground not in ("none", "transparent") and not _WHITE.match(ground) for ground in grounds
    ) or any(each.get("bgcolor") for each in (element, *element.iterancestors()))
