"""What a reader of a web page cannot see: elements that their own style hides, makes tiny, or moves off the page."""

from __future__ import annotations

import re

from lxml import etree, html

_SKIPPED = ("template", "noscript", "dialog", "textarea", "iframe")
_NUMBER = r"(-?\d*\.?\d+)"
_SIZE, _ALPHA = re.compile(rf"{_NUMBER}([a-z%]*)"), re.compile(rf"(?:rgba|hsla)\(.*[,/]\s*{_NUMBER}(%?)\s*\)")
# The least size that can be read, in each unit.
_LEAST_SIZES = {"": 0.01, "px": 3, "pt": 2.5, "em": 0.25, "rem": 0.25, "%": 25, "vw": 0.3, "cm": 0.08, "mm": 0.8}
_LEAST_OPACITY = 0.1
_CHANNEL = r"\s*(?:25[0-5]|24[89])\s*"
_WHITE = re.compile(rf"white|#f[8-f]f[8-f]f[8-f]|#fff|rgba?\({_CHANNEL}[, ]{_CHANNEL}[, ]{_CHANNEL}\b.*")
_COLORS, _GROUNDS = ("color", "--ltx-fg-color"), ("background", "background-color", "--ltx-bg-color")
_AWAY = re.compile(r"-\d{4,}(?:\.\d+)?px|-\d{3,}(?:\.\d+)?(?:r?em|vw|vh)")
_PLACED = ("left", "top")
_SIDES = (*_PLACED, "text-indent", "margin-left")
_NO_CLIP = re.compile(r"rect\(\s*(?:[01](?:px)?[\s,]*){4}\)")


def take_hidden(page: html.HtmlElement) -> int:
    """Take what cannot be seen off a page; how many characters it had."""
    characters = 0
    for element in [each for each in page.iter(etree.Element) if isinstance(each, html.HtmlElement)]:
        if element.getparent() is not None and _is_hidden(element):
            characters += len("".join(element.text_content().split()))
            element.drop_tree()
    return characters


def _is_hidden(element: html.HtmlElement) -> bool:
    if element.tag in _SKIPPED or element.get("hidden") is not None:
        return True
    style = _style(element)
    if not style:
        return False
    color = next((style[name] for name in _COLORS if name in style), "")
    return (
        style.get("display") == "none"
        or style.get("visibility") in ("hidden", "collapse")
        or _is_less(style.get("font-size", style.get("font", "").partition("/")[0]), _LEAST_SIZES)
        or _is_less(style.get("opacity", ""), {"": _LEAST_OPACITY, "%": 100 * _LEAST_OPACITY})
        or "scale(0" in style.get("transform", "").replace("scale(0.", "")
        or _NO_CLIP.fullmatch(style.get("clip", "")) is not None
        or any(_AWAY.match(style.get(name, "")) for name in _SIDES if name not in _PLACED or "position" in style)
        or color == "transparent"
        or _is_clear(color)
        or (_WHITE.fullmatch(color) is not None and not _has_ground(element))
    )


def _style(element: html.HtmlElement) -> dict[str, str]:
    """The declarations of an element's own style, in lower case."""
    pairs = (part.partition(":") for part in (element.get("style") or "").casefold().split(";"))
    return {name.strip(): value.replace("!important", "").strip() for name, _, value in pairs if value.strip()}


def _is_less(value: str, least: dict[str, float]) -> bool:
    match = _SIZE.fullmatch(value)
    return match is not None and match[2] in least and float(match[1]) < least[match[2]]


def _is_clear(color: str) -> bool:
    match = _ALPHA.fullmatch(color)
    return match is not None and float(match[1]) / (100 if match[2] else 1) < _LEAST_OPACITY


def _has_ground(element: html.HtmlElement) -> bool:
    """Whether an element stands on another colour than the page's."""
    grounds = (_style(each).get(name, "") for each in (element, *element.iterancestors()) for name in _GROUNDS)
    is_dark = any(ground and ground not in ("none", "transparent") and not _WHITE.match(ground) for ground in grounds)
    return is_dark or any(each.get("bgcolor") for each in (element, *element.iterancestors()))
