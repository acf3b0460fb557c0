"""Formulas in articles and pages -> text in one line, so that 1/2 stays 1/2 and 2^n is no "2n".

MathML (https://www.w3.org/TR/mathml-core/) becomes Unicode's linear format (Unicode Technical Note 28, UnicodeMath); a formula of which
there is only TeX stays TeX. A formula of neither is a gap, which the reader of the file counts.
"""

import re
from collections.abc import Sequence
from typing import Literal

from lxml import etree

# Of other forms of a formula, and what is not printed.
_SKIPPED = frozenset("annotation annotation-xml mphantom none mprescripts maligngroup malignmark".split())
# What puts several things in a row, and changes nothing of them.
_GROUPS = frozenset("math mrow mstyle mpadded".split())
_SCRIPTED = frozenset({"msub", "msup", "msubsup", "munder", "munderover"})
_ROOTS = frozenset({"msqrt", "mroot"})
_WITH_ONE = frozenset({"semantics", "maction"})
# Letters, numbers, operators, words.
_TOKENS = frozenset("mi mn mo mtext".split())
# Function application, times, separators and plus, which nobody sees.
_TIMES = "\u2062"
_UNSEEN = re.compile("[\u2061-\u2064\u200b\ufeff]")
# What a fraction or a root would seem to be multiplied with below its line.
_OPENING = tuple("([{√⟨")
_SIMPLE = re.compile(r"[^\W_]+(?:[.,]\d+)?'*|.|\([^()]*\)|√\S", re.DOTALL)
# Bars and dots as they are typed; and what stands over or under a letter and is part of it.
_TYPED = {"-": "¯", "−": "¯", "_": "¯", ".": "˙", "..": "¨"}
_ACCENTS = frozenset("^ˆ~˜¯‾˙¨→⃗´`ˇ˘°⏞⏟︷︸̂̃̄̇̈")
_DOCUMENT = re.compile(r"\\begin\{document\}(.*?)\\end\{document\}", re.DOTALL)
_FORMULAS = ("inline-formula", "disp-formula")


def write_formulas(root: etree._Element) -> None:
    """Put in place of each formula below an element, whose names have no namespaces, its text."""
    for formula in list(root.iter("math")):
        is_mixed = _edge(formula, 0).tag == "mfrac" and _text_before(formula)[-1:].isdigit()
        _replace(formula, " " * is_mixed + (linear(formula) or _tex_of(formula)))
    for formula in list(root.iter(*_FORMULAS)):
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
    children = _shown_children(element)
    if not children:
        return _token(element)
    write = _WRITERS.get(tag)
    if write:
        # What is not printed has a place among them, too.
        return write(element, [child for child in element if isinstance(child.tag, str)])
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
    """Write children one behind the other. A blank parts a number and a fraction; a fraction, a root or a script and what follows; the name
    of a function and its argument; and two words. Two numbers that are multiplied are parted by a dot.
    """
    text, is_behind_fraction, is_behind_script = "", False, False
    pieces = list(map(linear, children))
    for i, (child, piece) in enumerate(zip(children, pieces, strict=True)):
        after = next(filter(None, pieces[i + 1 :]), "")[:1]
        last, first = text[-1:], _edge(child, 0)
        if last.isdigit() and after.isdigit() and (child.text or "").strip() == _TIMES:
            piece = "·"
        is_word = child.tag in ("mi", "mtext") and len(piece) > 1 and piece.isalpha()
        if first.tag == "mfrac" and last == "/":
            piece = f"({piece})"
        is_apart = (
            (first.tag == "mfrac" and last.isalnum())
            or (is_behind_fraction and (piece[:1].isalnum() or piece[:1] in _OPENING))
            or (is_behind_script and piece[:1].isalnum() and last.isalnum())
            or (is_word and last.isalpha())
        )
        text += (" " if is_apart and piece else "") + piece + (" " if is_word and after.isalnum() else "")
        final = _edge(child, -1).tag
        is_behind_fraction = final == "mfrac" or final in _ROOTS or (is_behind_fraction and not piece)
        is_behind_script = final in _SCRIPTED or (is_behind_script and not piece)
    return text


def _edge(element: etree._Element, index: Literal[0, -1]) -> etree._Element:
    """Return the first or the last thing that an element shows."""
    while element.tag in _GROUPS or element.tag in _WITH_ONE:
        inner = _shown_children(element)
        if not inner:
            break
        element = inner[0 if element.tag in _WITH_ONE else index]
    return element


def _shown_children(element: etree._Element) -> list[etree._Element]:
    return [child for child in element if isinstance(child.tag, str) and child.tag not in _SKIPPED]


def _unwrapped(element: etree._Element) -> etree._Element:
    """Return what an element that only groups has as its one child, and so on."""
    while element.tag in _GROUPS and len(element) == 1:
        element = element[0]
    return element


def _operand(element: etree._Element) -> str:
    """Write what an operator binds: in brackets if it is more than one thing."""
    text = linear(element).strip()
    return text if _SIMPLE.fullmatch(text) else f"({text})" if text else ""


def _fraction(element: etree._Element, children: Sequence[etree._Element]) -> str:
    above, below = _operand(children[0]), _operand(children[-1])
    # "1/2m" may be half of m.
    if len(_factors(children[-1])) > 1 and not below.startswith("("):
        below = f"({below})"
    if element.get("linethickness", "").strip("0 .empxt%") == "" and element.get("linethickness"):
        return f"({above}¦{below})"
    return f"{above}/{below}"


def _factors(element: etree._Element) -> list[str]:
    """Return what the parts of a row show, those that show nothing left out."""
    inner = _unwrapped(element)
    parts = list(inner) if inner.tag in _GROUPS else [inner]
    return list(filter(None, (linear(part).strip() for part in parts)))


def _root(element: etree._Element, children: Sequence[etree._Element]) -> str:
    if element.tag in ("msqrt", "menclose"):
        inner = _row(children)
        # "√2x" may be a root of 2.
        parts = [piece for child in children for piece in _factors(child)]
        return f"√{inner}" if _SIMPLE.fullmatch(inner) and len(parts) < 2 else f"√({inner})"
    return f"√({linear(children[-1])}&{linear(children[0])})"


def _scripts(element: etree._Element, children: Sequence[etree._Element]) -> str:
    base, *scripts = children
    marks = {"msub": "_", "munder": "_", "msup": "^", "mover": "^"}.get(element.tag, "_^")
    text = linear(base) if base.tag in _TOKENS else _operand(base)
    if _unwrapped(base).tag in _ROOTS:
        text = f"({text})"
    for mark, script in zip(marks, scripts, strict=False):
        written = linear(script).strip()
        accent = _TYPED.get(written, written)
        if element.tag in ("mover", "munder") and accent in _ACCENTS:
            is_product = len(_factors(base)) > 1 and not text.endswith(")")
            text = f"({text}){accent}" if is_product else f"{text}{accent}"
        elif written:
            text += written if written in ("′", "″", "'", "''") else f"{mark}{_operand(script)}"
    return text


def _multiple_scripts(element: etree._Element, children: Sequence[etree._Element]) -> str:
    base, *scripts = children
    tags = [child.tag for child in scripts]
    split = tags.index("mprescripts") if "mprescripts" in tags else len(tags)
    before, behind = scripts[split + 1 :], scripts[:split]
    return _marked(before) + linear(base) + _marked(behind)


def _marked(scripts: Sequence[etree._Element]) -> str:
    """Write scripts that are below and above in turn; one of a pair may be missing."""
    written = ((mark, _operand(script)) for mark, script in zip("_^" * len(scripts), scripts, strict=False))
    return "".join(f"{mark}{text}" for mark, text in written if text)


def _enclosed(element: etree._Element, children: Sequence[etree._Element]) -> str:
    return _root(element, children) if element.get("notation") == "radical" else _row(children)


def _fenced(element: etree._Element, children: Sequence[etree._Element]) -> str:
    separator = element.get("separators", ",").strip()[:1]
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
    "menclose": _enclosed,
    "mfenced": _fenced,
    "mtable": _table,
}


def _tex_of(formula: etree._Element) -> str:
    """Return the TeX that a formula without anything else carries along: its annotation, or LaTeXML's attribute; "" without."""
    sources = (each.text or "" for each in formula.iter("annotation") if "tex" in each.get("encoding", "").lower())
    return " ".join((next(sources, "") or formula.get("alttext", "")).split())


def _text_before(element: etree._Element) -> str:
    """Return the text right before an element, out of what only contains it too."""
    previous, parent = element.getprevious(), element.getparent()
    if previous is not None:
        return previous.tail or ""
    if parent is None:
        return ""
    return parent.text or (_text_before(parent) if parent.tag in _FORMULAS else "")


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
