"""How each package adds its commands to `academiceval`; the command line itself only puts them together."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import Any

from lm_eval_tasks.errors import EvalError
from lm_eval_tasks.text import parse_json

# `engines.registry` opens them.
ENGINES = ("local", "ray")
# A command takes the parsed arguments and yields the lines to show, as it goes.
Command = Callable[[argparse.Namespace], Iterable[str]]


class Commands:
    """The commands of `academiceval`."""

    def __init__(self) -> None:
        self.parser = argparse.ArgumentParser(
            prog="academiceval", description="Build, evaluate and publish rounds of AcademicEval."
        )
        self._subparsers = self.parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def add(self, name: str, help_: str, command: Command) -> argparse.ArgumentParser:
        """Add a command; its parser, for the arguments. The parsed arguments hold the function in `command`."""
        sub = self._subparsers.add_parser(name, help=help_, description=help_)
        sub.set_defaults(command=command)
        return sub

    @property
    def parsers(self) -> dict[str, argparse.ArgumentParser]:
        """Name -> parser."""
        return dict(self._subparsers.choices)


def add_engine(sub: argparse.ArgumentParser, what: str = "") -> None:
    """Add the option that says what to work with."""
    sub.add_argument(
        "--engine", choices=ENGINES, default=ENGINES[0],
        help=f"{what}this machine, or the Ray cluster that RAY_ADDRESS names (default: local)",
    )  # fmt: skip


def positive(text: str) -> int:
    """An argument that counts something."""
    if not text.isascii() or not text.isdigit() or not int(text[:9]):
        raise argparse.ArgumentTypeError(f"{text!r:.40} is not a number from 1 up")
    return int(text[:9])


def json_object(option: str, text: str) -> dict[str, Any]:
    """The JSON object that an option was given.

    Raises:
        EvalError: it was given something else.
    """
    try:
        content = parse_json(text)
    except ValueError as err:
        raise EvalError(f"{option} is not JSON ({err})") from err
    if not isinstance(content, dict):
        raise EvalError(f"{option} must be a JSON object")
    return content


def part(text: str) -> float:
    """An argument that is a number of samples, or below 1 a share of them."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not (0 < value < 1 or (value >= 1 and value == int(value) and value < 1e9)):
        raise argparse.ArgumentTypeError(f"{text!r:.40} is neither a number from 1 up nor a share between 0 and 1")
    return int(value) if value >= 1 else value


def amount(text: str) -> float:
    """An argument that is an amount of money."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e12:
        raise argparse.ArgumentTypeError(f"{text!r:.40} is not an amount of money")
    return value


def seconds(text: str) -> float:
    """An argument that is a time."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r:.40} is not a time in seconds")
    return value
