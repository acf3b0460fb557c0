"""A TOML file that people write, as a typed table; one sentence about the first mistake in it."""

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from builder.errors import RoundError
from lm_eval_tasks.base.text import suggestion

# What is larger is a mistake, and does not fit where it is used.
_MOST = 1 << 62


class RoundTable(BaseModel):
    """A table of the file: unknown keys are refused, and nothing changes once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


_Table = TypeVar("_Table", bound=RoundTable)


def among(names: Sequence[str]) -> AfterValidator:
    """Return a text that must be one of some names."""

    def check(name: str) -> str:
        if name not in names:
            raise ValueError(f"there is no {name!r:.60}; {suggestion(name, names)}")
        return name

    return AfterValidator(check)


def text_like(pattern: str, example: str) -> AfterValidator:
    """Return a text of a certain form, of which the message gives an example."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"{text!r:.60} is not of the form {example}")
        return text

    return AfterValidator(check)


def read_toml(path: Path, table: type[_Table], **instead: str) -> _Table:
    """Return what a file contains.

    Args:
        instead: values of top-level keys to use in place of the file's.

    Raises:
        RoundError: it cannot be read, is not TOML, or has a key or value that the type does not allow.
    """
    try:
        content = {**tomllib.loads(path.read_text(encoding="utf-8-sig")), **instead}
        for value in _values(content):
            if abs(value) > _MOST if isinstance(value, int) else isinstance(value, str) and "\0" in value:
                raise RoundError(f"{path}: {str(value)[:60]!r} is not a value that can be used")
    except OSError as err:
        raise RoundError(f"cannot read {path}: {err.strerror}") from err
    except (ValueError, RecursionError) as err:
        raise RoundError(f"{path} is not valid TOML: {err}") from err
    try:
        # As JSON, in which a day and a path are texts, types are checked strictly: "5" is not a number.
        return table.model_validate_json(json.dumps(content, default=str), strict=True)
    except ValidationError as err:
        raise RoundError(f"{path}: {_problem_in(err, content, table)}") from err


def _values(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for piece in value.values() if isinstance(value, dict) else value:
            yield from _values(piece)
    else:
        yield value


def _problem_in(err: ValidationError, content: Any, table: type[RoundTable]) -> str:
    """Return what is wrong with some data, in a sentence: the first problem; a mistyped key is named, not the key that is missing for
    it.
    """
    problem = min(err.errors(), key=lambda problem: problem["type"] != "extra_forbidden")
    where = _key_of(problem["loc"], content)
    match problem["type"]:
        case "extra_forbidden":
            known = _keys(table.model_json_schema())
            return f"unknown key `{where}`; {suggestion(where.rpartition('.')[2], known, '`{}`')}"
        case "missing":
            return f"the key `{where}` is missing"
        case "union_tag_not_found":
            return f"the key `{where}.kind` is missing"
        case "value_error":
            says = problem.get("ctx", {})["error"]
            return f"`{where}`: {says}" if where else str(says)
        case "literal_error" | "union_tag_invalid":
            return _choice(problem, where)
    message = problem["msg"][:1].lower() + problem["msg"][1:]
    return f"`{where or 'the whole'}` is {_display_value(problem['input'])}; {message}"


def _choice(problem: ErrorDetails, where: str) -> str:
    details = problem.get("ctx", {})
    choices = [name.strip(" '") for name in str(details.get("expected_tags") or details.get("expected")).split(",")]
    choices = [piece.strip(" '") for name in choices for piece in name.split(" or ")]
    value = details.get("tag") or problem["input"]
    key = f"{where}.{str(details['discriminator']).strip(chr(39))}" if "discriminator" in details else where
    return f"`{key}` cannot be {_display_value(value)}; {suggestion(str(value), choices)}"


def _key_of(loc: Sequence[str | int], content: Any) -> str:
    """Return the key that a problem is about, as users should see it: a tag that stands for a kind of table is none."""
    key, node = "", content
    for depth, piece in enumerate(loc):
        if isinstance(piece, int):
            key += f"[{piece}]"
            node = node[piece] if isinstance(node, list) and piece < len(node) else None
        elif isinstance(node, dict) and (piece in node or depth == len(loc) - 1):
            key = f"{key}.{piece}".lstrip(".")
            node = node.get(piece)
    return key


def _keys(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [name for piece in schema for name in _keys(piece)]
    if not isinstance(schema, dict):
        return []
    return [*schema.get("properties", ()), *(name for piece in schema.values() for name in _keys(piece))]


def _display_value(value: Any) -> str:
    return f"a {'table' if isinstance(value, dict) else 'list'}" if isinstance(value, dict | list) else f"{value!r:.60}"
