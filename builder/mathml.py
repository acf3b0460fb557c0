"""Formulas in articles and pages -> text in one line, so that 1/2 stays 1/2 and 2^n is no "2n".

MathML (https://www.w3.org/TR/mathml-core/) becomes Unicode's linear format (Unicode Technical Note 28, UnicodeMath); a formula of which
there is only TeX stays TeX. A formula of neither is a gap, which the reader of the file counts.
"""

import re
from collections.abc import Sequence

from lxml import etree

# Of other forms of a formula, and what is not printed.
_SKIPPED = frozenset("annotation annotation-xml mphantom none mprescripts maligngroup malignmark".split())
_WITH_ONE = frozenset({"semantics", "maction"})
# Function application, times, separators and plus, which nobody sees.
_UNSEEN = re.compile("[\u2061-\u2064\u200b\ufeff]")
_SIMPLE = re.compile(r"[^\W_]+(?:[.,]\d+)?'*|.|\([^()]*\)|√\S", re.DOTALL)
# What stands over or under a letter and is part of it.
_ACCENTS = frozenset("^ˆ~˜¯‾˙¨→⃗´`ˇ˘°⏞⏟︷︸̂̃̄̇̈")
_DOCUMENT = re.compile(r"\\begin\{document\}(.*?)\\end\{document\}", re.DOTALL)
_FORMULAS = ("inline-formula", "disp-formula")


def write_formulas(root: etree._Element) -> None:
    """Put in place of each formula below an element, whose names have no namespaces, its text."""
    for formula in list(root.iter("math")):
        _replace(formula, linear(formula))
    for formula in root.iter(*_FORMULAS):
        source = next(formula.iter("tex-math"), None)
        if source is not None and not _shown(formula):
            tex = "".join(map(str, source.itertext()))
            match = _DOCUMENT.search(tex)
            _replace(formula, " ".join((match[1] if match else tex).replace("$", " ").split()))


def linear(element: etree._Element) -> str:
    """Return the text of an element of MathML."""
    tag = element.tag
    if not isinstance(tag, str) or tag in _SKIPPED:
        return ""
    children = [child for child in element if isinstance(child.tag, str) and child.tag not in _SKIPPED]
    if not children:
        return _token(element)
    write = _WRITERS.get(tag)
    if write:
        return write(element, children)
    return _row(children[:1] if tag in _WITH_ONE else children)


def _token(element: etree._Element) -> str:
    text = element.text or ""
    if element.tag == "mtext":
        return re.sub(r"\s+", " ", text)
    if element.tag == "mspace":
        return " "
    if element.tag == "ms":
        return f'"{text}"'
    text = " ".join(text.split())
    applied = " " if text == "\u2061" else ""
    return applied or _UNSEEN.sub("", text)


def _row(children: Sequence[etree._Element]) -> str:
    """Write children one behind the other; a number and a fraction are two."""
    text = ""
    for child in children:
        piece = linear(child)
        is_mixed = child.tag == "mfrac" and text[-1:].isdigit()
        text += f" {piece}" if is_mixed else piece
    return text


def _operand(element: etree._Element) -> str:
    """Write what an operator binds: in brackets if it is more than one thing."""
    text = linear(element).strip()
    return text if _SIMPLE.fullmatch(text) else f"({text})" if text else ""


def _fraction(element: etree._Element, children: Sequence[etree._Element]) -> str:
    above, below = _operand(children[0]), _operand(children[-1])
    if element.get("linethickness", "").strip("0 .empxt%") == "" and element.get("linethickness"):
        return f"({above}¦{below})"
    return f"{above}/{below}"


def _root(element: etree._Element, children: Sequence[etree._Element]) -> str:
    if element.tag == "msqrt":
        inner = _row(children)
        return f"√{inner}" if _SIMPLE.fullmatch(inner) else f"√({inner})"
    return f"√({linear(children[-1])}&{linear(children[0])})"


def _scripts(element: etree._Element, children: Sequence[etree._Element]) -> str:
    base, *scripts = children
    marks = {"msub": "_", "munder": "_", "msup": "^", "mover": "^"}.get(element.tag, "_^")
    text = linear(base) if _is_letter_or_operator(base) else _operand(base)
    for mark, script in zip(marks, scripts, strict=False):
        written = linear(script).strip()
        if element.tag in ("mover", "munder") and written in _ACCENTS:
            text += written
        elif written:
            text += written if written in ("′", "″", "'", "''") else f"{mark}{_operand(script)}"
    return text


def _is_letter_or_operator(element: etree._Element) -> bool:
    return element.tag in ("mi", "mn", "mo", "mtext")


def _multiple_scripts(element: etree._Element, children: Sequence[etree._Element]) -> str:
    base, *scripts = children
    return linear(base) + "".join(f"{'_^'[i % 2]}{_operand(script)}" for i, script in enumerate(scripts))


def _fenced(element: etree._Element, children: Sequence[etree._Element]) -> str:
    separator = (element.get("separators") or ",").strip()[:1]
    inner = separator.join(map(linear, children))
    return f"{element.get('open', '(')}{inner}{element.get('close', ')')}"


def _table(element: etree._Element, children: Sequence[etree._Element]) -> str:
    rows = ("&".join(linear(cell).strip() for cell in row if isinstance(cell.tag, str)) for row in children)
    return f"■({'@'.join(rows)})"


_WRITERS = {
    "mfrac": _fraction,
    "msqrt": _root,
    "mroot": _root,
    **dict.fromkeys(("msub", "msup", "msubsup", "munder", "mover", "munderover"), _scripts),
    "mmultiscripts": _multiple_scripts,
    "mfenced": _fenced,
    "mtable": _table,
}


def _shown(formula: etree._Element) -> str:
    """Return what a formula has besides its source and pictures of it."""
    pieces = [formula.text or ""]
    for child in formula.iterdescendants():
        is_source = child.tag in ("tex-math", "annotation") or not isinstance(child.tag, str)
        pieces += ["" if is_source else child.text or "", child.tail or ""]
    return "".join(pieces).strip()


def _replace(element: etree._Element, text: str) -> None:
    del element[:]
    element.text = text
