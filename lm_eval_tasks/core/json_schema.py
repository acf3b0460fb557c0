"""Parsed data checked against a JSON schema, with one sentence about the first mistake.

Nothing large is imported here, so that typing mistakes are found at once; what keys demand of each other is checked by those
who read the values. The schemas of what people write are written by `python -m tests.schemas`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from difflib import get_close_matches
from operator import ge, gt, le, lt
from pathlib import Path
from typing import Any

from lm_eval_tasks.core.text import day

Schema = Mapping[str, Any]
_UNKNOWN = "unknown key"
_NAMES = {
    "object": "a table", "array": "a list", "string": "a text", "integer": "a whole number", "number": "a number",
    "boolean": "true or false", "date": "a day such as 2026-06-30", "path": "a path",
}  # fmt: skip
# What is larger is a mistake, and does not fit where it is used.
_MOST = 1 << 62
_KINDS: dict[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,),
}  # fmt: skip
_BOUNDS: dict[str, tuple[str, Callable[[float, float], bool]]] = {
    "minimum": ("of at least", ge), "exclusiveMinimum": ("above", gt), "maximum": ("of at most", le), "exclusiveMaximum": ("below", lt),
}  # fmt: skip


def first_problem(content: Any, schema: Path) -> str | None:
    """What is wrong with some data; None if nothing is.

    Args:
        content: as TOML, YAML or JSON is parsed.
        schema: a file with the JSON schema of what it may contain.
    """
    root = json.loads(schema.read_text(encoding="utf-8"))
    # A mistyped key is named, not the key that is missing for it.
    return min(_problems(content, root, root, ""), key=lambda one: not one.startswith(_UNKNOWN), default=None)


def _problems(value: Any, schema: Schema, root: Schema, where: str) -> Iterator[str]:
    """The mistakes of a value, in order.

    Args:
        root: the whole schema, which holds the definitions.
        where: the value's key, as users should see it.
    """
    schema = _chosen(value, schema, root)
    choices = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    if choices:
        if value not in choices:
            yield f"`{where}` cannot be {_shown(value)}; {_hint(value, choices)}"
    elif not _fits(value, schema):
        quotes = f'; put it in quotes: "{value}"' if schema["type"] == "string" and type(value) in (int, float) else ""
        yield f"{f'`{where}`' if where else 'the whole'}: {_shown(value)} is not {_wanted(schema)}{quotes}"
    elif schema.get("type") == "object":
        yield from _problems_of_table(value, schema, root, where)
    elif schema.get("type") == "array":
        for place, one in enumerate(value):
            yield from _problems(one, schema["items"], root, f"{where}[{place}]")


def _problems_of_table(table: Mapping[str, Any], schema: Schema, root: Schema, where: str) -> Iterator[str]:
    keys, others = schema.get("properties", {}), schema.get("additionalProperties", False)
    for key, value in table.items():
        place = f"{where}.{key}".lstrip(".")
        if key in keys or others:
            yield from _problems(value, keys.get(key, {} if others is True else others), root, place)
        else:
            near = get_close_matches(str(key), keys, 1, 0.6)
            yield f"{_UNKNOWN} `{place}`; " + (f"did you mean `{near[0]}`?" if near else f"there are {', '.join(keys)}")
    for key in schema.get("required", ()):
        if key not in table:
            yield f"the key `{f'{where}.{key}'.lstrip('.')}` is missing"


def _chosen(value: Any, schema: Schema, root: Schema) -> Schema:
    """Of the schemas that a value may follow, the one that it is meant to."""
    if "$ref" in schema:
        return _chosen(value, root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    if "discriminator" in schema:
        key, mapping = schema["discriminator"]["propertyName"], schema["discriminator"]["mapping"]
        kind = value.get(key) if isinstance(value, dict) else None
        if isinstance(kind, str) and kind in mapping:
            return _chosen(value, {"$ref": mapping[kind]}, root)
        # Only that key can be checked, and only it is wrong.
        return {
            "type": "object",
            "properties": {key: {"enum": list(mapping)}},
            "required": [key],
            "additionalProperties": True,
        }
    # TOML has no null.
    outer = {key: one for key, one in schema.items() if key != "anyOf"}
    several = (_chosen(value, one, root) for one in schema.get("anyOf", ()) if one.get("type") != "null")
    return next(({**outer, **one} for one in several), schema)


def _fits(value: Any, schema: Schema) -> bool:
    """Whether a value is of the schema's type, form and bounds."""
    kind, form = schema.get("type"), schema.get("format")
    if kind is None:
        return True
    if form == "date":
        return type(value) is date or (isinstance(value, str) and _is_day(value))
    if isinstance(value, bool) != (kind == "boolean") or not isinstance(value, _KINDS[kind]):
        return False
    if isinstance(value, str):
        return "\0" not in value and re.search(schema.get("pattern", ""), value) is not None
    if isinstance(value, list):
        return len(value) >= int(schema.get("minItems", 0))
    if isinstance(value, int | float):
        return bool(abs(value) <= _MOST) and all(
            holds(value, schema[name]) for name, (_, holds) in _BOUNDS.items() if name in schema
        )
    return True


def _wanted(schema: Schema) -> str:
    """What a value should be, in words."""
    if "examples" in schema:
        return f"{schema.get('description', 'a value').partition(';')[0]}, such as {schema['examples'][0]}"
    bounds = " and ".join(f"{words} {schema[name]:,}" for name, (words, _) in _BOUNDS.items() if name in schema)
    if {"minimum", "maximum"} <= schema.keys():
        bounds = f"from {schema['minimum']:,} to {schema['maximum']:,}"
    name = _NAMES.get(schema.get("format", schema["type"]), _NAMES[schema["type"]])
    return f"{name} {bounds}".rstrip() + (" with something in it" if schema.get("minItems") else "")


def _hint(value: Any, choices: list[Any]) -> str:
    near = get_close_matches(str(value), map(str, choices), 1, 0.5)
    return f"did you mean {near[0]!r}?" if near else f"it must be one of {', '.join(map(repr, choices))}"


def _is_day(text: str) -> bool:
    try:
        day(text)
    except ValueError:
        return False
    return True


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        kind = "table" if isinstance(value, dict) else "list"
        return f"a {kind}" if value else f"an empty {kind}"
    return f"{value!r:.60}"
