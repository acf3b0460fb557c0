"""What all tables of a TOML file share."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, ValidationError


class Table(BaseModel):
    """Unknown keys are refused, and nothing changes once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def sentence(err: ValidationError) -> str:
    """The first problem of a file whose keys and types are right: what they demand of each other."""
    problem = err.errors()[0]
    message = problem["msg"].removeprefix("Value error, ")
    where = ".".join(map(str, problem["loc"]))
    return f"`{where}`: {message}" if where else message
