"""What the row of a logged sample must contain, whoever wrote the file: everything that readers use is checked here."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from lm_eval_tasks.core.text import day, is_valid, number

_LONGEST_NAME = 500
_CUT = re.compile(r"cut_[a-z_]{1,40}")


def check_doc(doc: object) -> dict[str, Any]:
    """The `doc` of a row.

    Raises:
        ValueError: a field is missing or not what it should be; the message names it.
    """
    if not isinstance(doc, dict):
        raise ValueError("doc is not an object")
    for name, check in _REQUIRED.items():
        _check(name, check, doc.get(name))
    for name, check in _OPTIONAL.items():
        if doc.get(name) is not None:
            _check(name, check, doc[name])
    for name in filter(_CUT.fullmatch, doc):
        _check(name, _count, doc[name])
    return doc


def _check(name: str, check: Callable[[Any], object], value: object) -> None:
    try:
        check(value)
    except (ValueError, TypeError, OverflowError) as err:
        raise ValueError(f"{name}: {err}") from err


def _text(value: object) -> None:
    if not isinstance(value, str) or not is_valid(value):
        raise ValueError("not a text")


def _name(value: object) -> None:
    _text(value)
    assert isinstance(value, str)
    if not value or len(value) > _LONGEST_NAME or not value.isprintable():
        raise ValueError(f"{value!r:.40} is not a name")


def _count(value: object) -> None:
    if number(value) < 0 or type(value) is not int:
        raise ValueError(f"{value!r:.40} is not a count")


def _rate(value: object) -> None:
    if number(value) < 0:
        raise ValueError(f"{value!r:.40} is not a rate")


def _names(value: object) -> None:
    if not isinstance(value, list):
        raise ValueError("not a list")
    for one in value:
        _name(one)


def _slots(value: object) -> None:
    if not isinstance(value, list):
        raise ValueError("not a list")
    for slot in value:
        if not isinstance(slot, Mapping):
            raise ValueError("a slot is not an object")
        for name, check in _SLOT.items():
            _check(name, check, slot.get(name))
        for name in ("head", "tail"):
            if name in slot:
                _check(name, _text, slot[name])


_SLOT: dict[str, Callable[[object], None]] = {
    "part": _name, "index": _count, "field": _name, "characters": _count, "start": _count, "end": _count,
}  # fmt: skip
_REQUIRED: dict[str, Callable[[Any], object]] = {
    "id": _name, "setting": _name, "prompt_name": _name, "prompt_version": _count, "first_author": _name, "published": day,
    "round": _name, "target": _text,
}  # fmt: skip
_OPTIONAL: dict[str, Callable[[Any], object]] = {
    "title": _text, "license": _name, "licenses": _names, "retriever": _text, "paper_id": _name, "prompt": _text,
    "tokens_before": _count, "tokens_after": _count, "slots": _slots,
    "of": _count, "place": _count, "places": _count, "dataset_revision": _text, "marker_words": _rate, "opens": _text, "closes": _text,
}  # fmt: skip
