"""How each package adds its commands to `academiceval`; the command line itself only puts them together."""

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.base.metadata import OURS, with_switches
from lm_eval_tasks.base.tables import Table
from lm_eval_tasks.base.text import nearest, parse_json, suggestion

# `engines.registry` opens them.
ENGINES = ("local", "ray")
# What everyday commands are for, in the order in which help lists them.
EVERYDAY = EVALUATE, READ, MAKE = ("evaluate a model", "read results", "make and publish a round")
# What the others are for.
MORE = EVALUATING, BUILDING, PUBLISHING = ("evaluating", "building", "publishing")
# No count that is asked for is larger.
_MOST = 10**9
# Option of `eval` -> the key of `--metadata` that it stands for.
SHORT = {option.flag.split()[0][2:].replace("-", "_"): option for option in OURS.values() if option.flag}
# ORG/NAME on the Hub.
REPOSITORY = r"^[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*$"
# Of a round: year and month.
ROUND = r"^2\d{3}\.(0[1-9]|1[0-2])$"
FORMATS = ("auto", "markdown", "latex", "csv", "json")
# A command takes the parsed arguments and yields the lines and tables to show, as it goes.
Command = Callable[[argparse.Namespace], Iterable[str | Table | Mapping[str, object]]]
_EXAMPLES = """examples:
  academiceval demo
  academiceval eval --model lead --tasks academiceval_abs_9k --bertscore minilm
  academiceval init && academiceval run round.toml
  academiceval push academiceval --repo ORG/academiceval"""


class Parser(argparse.ArgumentParser):
    """A parser whose errors suggest what may have been meant.

    Attributes:
        options: name of an option, with `_` for `-` and without what it begins with -> what was added.
    """

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        self.options: dict[str, argparse.Action] = {}
        self._raises = False
        super().__init__(*arguments, **keywords)

    def add_argument(self, *arguments: Any, **keywords: Any) -> argparse.Action:
        if choices := keywords.get("choices"):
            keywords["type"] = _one_of([str(choice) for choice in choices])
        action = super().add_argument(*arguments, **keywords)
        self.options |= {text[2:].replace("-", "_"): action for text in action.option_strings if text.startswith("--")}
        return action

    @contextmanager
    def errors_raised(self) -> Iterator[None]:
        """Raise errors of arguments as ValueErrors in the block, in which they do not end the process."""
        self._raises = True
        try:
            yield
        finally:
            self._raises = False

    def error(self, message: str) -> NoReturn:
        if self._raises:
            raise ValueError(message)
        self.exit(1, f"error: {message}; `{self.prog} --help` says more\n")

    def refuse_unknown(self, extra: Sequence[str]) -> NoReturn:
        """Exit with an error about unknown arguments."""
        name = next((word for word in extra if word.startswith("-")), extra[0]).partition("=")[0]
        near = nearest(name, [text for action in self.options.values() for text in action.option_strings])
        self.error(f"unrecognized arguments: {' '.join(extra)}" + (f"; did you mean {near}?" if near else ""))


class Commands:
    """The commands of `academiceval`, in groups."""

    def __init__(self) -> None:
        self._parser = Parser(
            prog="academiceval",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            add_help=False,
            usage="academiceval COMMAND ...",
        )
        self._parser.add_argument("-h", "--help", action="store_true", help=argparse.SUPPRESS)
        self._parser.add_argument("--version", action="store_true", help=argparse.SUPPRESS)
        self._subparsers = self._parser.add_subparsers(metavar="COMMAND", prog="academiceval", help=argparse.SUPPRESS)
        self._groups: dict[str, list[tuple[str, str]]] = {}

    def add(self, group: str, name: str, help_: str, command: Command, *, shows_tables: bool = True) -> Parser:
        """Add a command and return its parser. The parsed arguments hold the function in `command`."""
        self._groups.setdefault(group, []).append((name, help_))
        sub: Parser = self._subparsers.add_parser(
            name, allow_abbrev=False, help=help_, description=help_[0].upper() + help_[1:] + "." * (help_[-1] != "?")
        )
        volume = sub.add_mutually_exclusive_group()
        volume.add_argument("-v", "--verbose", action="store_true", help="show what the libraries log")
        volume.add_argument("-q", "--quiet", action="store_true", help="show only results and errors")
        sub.set_defaults(show=FORMATS[0], all_columns=False)
        if shows_tables:
            sub.add_argument(
                "--format",
                dest="show",
                choices=FORMATS,
                default=FORMATS[0],
                help="tables for a terminal, or as Markdown, LaTeX (booktabs), CSV or JSON lines (default: what suits the output)",
            )
            sub.add_argument("--all-columns", action="store_true", help="show tables with all their columns")
        sub.set_defaults(command=command, parser=sub, command_name=name)
        return sub

    def parse(self, argv: Sequence[str] | None) -> argparse.Namespace:
        """Return the arguments of a command line; without a command, or with --help, the help is shown.

        Raises:
            SystemExit: help or version was asked for, or something else is wrong.
        """
        words = list(sys.argv[1:] if argv is None else argv)
        if words and not words[0].startswith("-") and words[0] not in self._subparsers.choices:
            self._parser.error(f"invalid choice: {words[0]!r}; {suggestion(words[0], sorted(self.parsers))}")
        arguments, extra = self._parser.parse_known_args(words)
        if arguments.version:
            from importlib.metadata import version

            sys.stdout.write(f"academiceval {version('academiceval')}\n")
            raise SystemExit(0)
        if not hasattr(arguments, "command"):
            if extra:
                self._parser.refuse_unknown(extra)
            sys.stdout.write(self.help() + "\n")
            raise SystemExit(0 if arguments.help else 1)
        if extra:
            arguments.parser.refuse_unknown(extra)
        # What was typed after the name of the command.
        arguments.words = words[words.index(arguments.command_name) + 1 :]
        return arguments

    def help(self) -> str:
        """List everyday commands with what they do, then the names of the others."""
        width = max(len(name) for group in EVERYDAY for name, _ in self._groups.get(group, ())) + 2
        paragraphs = ["usage: academiceval COMMAND ...\n\nBuild, evaluate and publish rounds of AcademicEval."]
        for group in EVERYDAY:
            lines = [f"  {name:<{width}}{help_}" for name, help_ in self._groups.get(group, ())]
            paragraphs.append("\n".join([f"{group}:", *lines]))
        more = [f"  {group:<12}{', '.join(name for name, _ in self._groups.get(group, ()))}" for group in MORE]
        last = "`academiceval COMMAND --help` explains a command; `--version` shows the version."
        return "\n\n".join([*paragraphs, "\n".join(["more:", *more]), _EXAMPLES, last])

    @property
    def parsers(self) -> dict[str, argparse.ArgumentParser]:
        """What is typed for a command -> its parser."""
        return dict(self._subparsers.choices)


def check_dataset(folder: Path) -> None:
    """Raise an EvalError for a dataset folder that does not exist."""
    if not folder.is_dir():
        raise EvalError(f"the dataset folder {folder} does not exist; `academiceval run round.toml` makes one")


def check_there(*paths: Path | None) -> None:
    """Raise an EvalError for a path that was given and does not exist, before anything large is imported."""
    for path in paths:
        if path and not path.exists():
            raise EvalError(f"{path} does not exist")


def add_jobs(sub: argparse.ArgumentParser) -> None:
    """Add the option that says how many processes work."""
    sub.add_argument(
        "--jobs",
        type=positive,
        default=os.cpu_count() or 1,
        help="number of processes on this machine (default: number of processors)",
    )


def add_engine(sub: argparse.ArgumentParser, what: str = "") -> None:
    """Add the option that says what to work with."""
    sub.add_argument(
        "--engine",
        choices=ENGINES,
        default=ENGINES[0],
        help=f"{what}this machine, or the Ray cluster that RAY_ADDRESS names (default: local)",
    )


def _one_of(choices: Sequence[str]) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in choices:
            raise argparse.ArgumentTypeError(f"invalid choice: {text!r:.60}; {suggestion(text, choices)}")
        return text

    return read


def positive(text: str) -> int:
    """Return an argument that counts something."""
    if not text.isascii() or not text.isdigit() or not 0 < int(text[:20]) <= _MOST or len(text) > 20:
        raise argparse.ArgumentTypeError(f"{text!r:.40} is not a whole number from 1 to {_MOST:,}")
    return int(text)


def json_object(option: str, text: str) -> dict[str, object]:
    """Return the JSON object that an option was given; an EvalError if it was given something else."""
    try:
        content = parse_json(text)
    except ValueError as err:
        raise EvalError(f"{option} is not JSON ({err})") from err
    if not isinstance(content, dict):
        raise EvalError(f"{option} must be a JSON object")
    return content


def metadata_of(text: str) -> dict[str, object]:
    """Return what --metadata says: JSON, or `key=value,...` as lm-eval reads it too.

    Raises:
        EvalError: it is neither.
    """
    if not text.strip() or text.lstrip()[0] in "{[" or "=" not in text:
        return json_object("--metadata", text)
    pairs = [pair.partition("=") for pair in text.split(",")]
    for pair in pairs:
        if not pair[0].strip() or not pair[1]:
            raise EvalError(f"--metadata has {''.join(pair)!r:.60} where key=value is needed")
    return {key.strip(): value for key, _, value in pairs}


def add_short(sub: argparse.ArgumentParser, *flags: str) -> None:
    """Add options that stand for keys of `--metadata`, with what these say of themselves."""
    for option in SHORT.values():
        flag, *metavar = option.flag.split()
        if flag in flags and option.is_switch:
            sub.add_argument(flag, action=argparse.BooleanOptionalAction, help=option.help)
        elif flag in flags:
            # No shard is all of them.
            sub.add_argument(
                flag,
                type=str if option.key == "shard" else name,
                metavar=metavar[0] if metavar else None,
                help=option.help,
            )


def options_metadata(options: argparse.Namespace) -> dict[str, object]:
    """Return what the tasks receive: `--metadata`, and the options of the command that stand for some of it, which come first.

    Raises:
        EvalError: `--metadata` cannot be read.
    """
    short = {option.key: getattr(options, dest, None) for dest, option in SHORT.items()}
    return with_switches(metadata_of(options.metadata) | {key: v for key, v in short.items() if v is not None})


def samples_or_share(text: str) -> float:
    """Read an argument that is a number of samples, or below 1 a share of them."""
    with suppress(ValueError):
        value = float(text)
        if 0 < value < 1 or (1 <= value < 1e9 and value == int(value)):
            return int(value) if value >= 1 else value
    raise argparse.ArgumentTypeError(f"{text!r:.40} is neither a number from 1 up nor a share between 0 and 1")


def _read_as(parse: Callable[[str], Any], fits: Callable[[Any], object], wrong: str) -> Callable[[str], Any]:
    """Return a reader of an argument that is of some kind and must fit; else it `wrong`."""

    def read(text: str) -> Any:
        with suppress(ValueError):
            if fits(value := parse(text)):
                return value
        raise argparse.ArgumentTypeError(f"{text!r:.80} {wrong}")

    return read


# What must not be empty, a round, a repository on the Hub, an amount of money, a time in seconds or another measure.
name = _read_as(str, str.strip, "is not a name")
month = _read_as(str, partial(re.fullmatch, ROUND), "is not a year and month such as 2026.11")
repository = _read_as(str, partial(re.fullmatch, REPOSITORY), "is not a repository; give ORG/NAME")
amount = _read_as(float, lambda value: 0 <= value < 1e12, "is not an amount of money")
above_zero = _read_as(float, lambda value: 0 < value < 1e9, "is not a number above 0")
