"""Every key of `round.toml`, and every reason for which a stage drops papers, as tables read from the types.

`python -m docs.key_page` (`make tasks`) writes docs/keys.md.
"""

import json
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from builder.families.reading.works import WorkFault
from builder.families.scalar.questions import ClozeReason
from builder.families.walk import Withheld
from builder.records import CrawlReason, ExtractReason, GraphReason, LinkReason, ReadingReason, SampleReason
from builder.round.model import Round
from lm_eval_tasks.base.tables import Table, markdown

PAGE = Path(__file__).with_name("keys.md")
_HEAD = ("| key | type | default | meaning |", "| --- | --- | --- | --- |")
# Characters of a default that are shown.
_LONGEST = 80
_REASONS = {
    "crawl, update": CrawlReason,
    "graph": GraphReason,
    "extract": ExtractReason,
    "link (counts references)": LinkReason,
    "samples": SampleReason,
    "SCALAR levels (count citations)": ClozeReason,
    "reading (counts test papers)": ReadingReason,
    "Walk (counts works and questions)": Literal[WorkFault, Withheld],
}
_NAMES = {str: "text", int: "whole number", float: "number", bool: "true or false", Path: "path"}


def key_page() -> Iterator[str]:
    """Yield the lines of docs/keys.md."""
    yield from (
        "# Keys of round.toml, and reasons",
        "",
        "[Rounds](round.md) explains how they work together. Keys of `audit` are the largest share, or number, of rows that a check may",
        "find.",
        "",
    )
    yield from _HEAD
    tables = {
        get_args(type_.model_fields["kind"].annotation)[0]: type_
        for type_ in get_args(Round.model_fields["source"].annotation)
    }
    for name, field in Round.model_fields.items():
        if name == "source":
            shown = " or ".join(f'`"{label}"`' for label in tables)
            yield f"| `source.kind` | {shown} | required | where papers come from; each kind has keys of its own, below |"
        else:
            yield from _rows(name, field)
    for label, type_ in tables.items():
        yield from ("", f"## Source `{label}`", "", *_HEAD)
        for name, field in type_.model_fields.items():
            if name != "kind":
                yield from _rows(f"source.{name}", field)
    rows = [(stage, ", ".join(f"`{reason}`" for reason in get_args(reasons))) for stage, reasons in _REASONS.items()]
    yield from ("", "## Why papers are dropped", "", *markdown(Table(("stage", "reasons"), "ll", rows)))


def _rows(name: str, field: Any) -> Iterator[str]:
    """Yield a row for a key, or for each key of a table."""
    for type_ in (field.annotation, *get_args(field.annotation)):
        if isinstance(type_, type) and issubclass(type_, BaseModel):
            for key, inner in type_.model_fields.items():
                yield from _rows(f"{name}.{key}", inner)
            return
    value = None if field.is_required() else field.get_default(call_default_factory=True)
    default = "required" if field.is_required() else ""
    if value is not None:
        text = json.dumps(value, default=str)
        default = f"`{text}`" if len(text) <= _LONGEST else f"`{text[: text.rfind(',', 0, _LONGEST)]}, ...]`"
    meaning = (field.description or "").replace("|", "\\|")
    yield f"| `{name}` | {_type(field.annotation)} | {default} | {meaning} |"


def _type(type_: Any) -> str:
    """Return a type as readers of TOML call it."""
    origin, inner = get_origin(type_), get_args(type_)
    if origin is Annotated:
        return _type(inner[0])
    if origin in (Union, types.UnionType):
        return " or ".join(_type(option) for option in inner if option is not type(None))
    if origin is tuple:
        return f"list of {_type(inner[0])}"
    if origin is dict:
        return "table"
    if str(origin) == "typing.Literal":
        return " or ".join(f'`"{option}"`' for option in inner)
    return str(_NAMES.get(type_) or getattr(type_, "__name__", "text"))


if __name__ == "__main__":
    PAGE.write_text("\n".join(key_page()) + "\n", encoding="utf-8")
