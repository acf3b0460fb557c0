"""What all tables of a TOML file share, and how an unknown key is reported."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


class Table(BaseModel):
    """Unknown keys are refused, and nothing changes once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def first_problem(err: ValidationError) -> ErrorDetails:
    """The problem of a file to name: a mistyped key rather than the key that is missing for it."""
    problems = err.errors()
    return next((one for one in problems if one["type"] == "extra_forbidden"), problems[0])


def unknown_key(where: str, table: type[Table], place: Sequence[int | str]) -> str:
    """One sentence about a key that a table does not have.

    Args:
        where: the key, as users should see it.
        table: of the whole file.
        place: of the key in it, as pydantic gives it.
    """
    keys = _keys_beside(table, place)
    near = get_close_matches(str(place[-1]), keys, 1, 0.6)
    return f"unknown key `{where}`; " + (f"did you mean `{near[0]}`?" if near else f"there are {', '.join(keys)}")


def _keys_beside(table: type[Table], place: Sequence[int | str]) -> list[str]:
    """The keys that the table of a place has."""
    tables = [table]
    for part in place[:-1]:
        if len(tables) > 1:  # of the sources' tables, a place names one by its kind
            tables = [one for one in tables if part in get_args(one.model_fields["kind"].annotation)]
        elif part in tables[0].model_fields:
            tables = _tables_in(tables[0].model_fields[str(part)].annotation)
    return list(tables[0].model_fields)


def _tables_in(annotation: Any) -> list[type[Table]]:
    if isinstance(annotation, type) and issubclass(annotation, Table):
        return [annotation]
    return [table for part in get_args(annotation) for table in _tables_in(part)]
