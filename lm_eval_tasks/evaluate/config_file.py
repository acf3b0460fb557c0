"""Options of `academiceval eval` from a YAML file, as lm-eval's --config: read by the parser of the command line."""

import argparse
import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from lm_eval_tasks.base.command_line import SHORT, Parser, metadata_of, options_metadata
from lm_eval_tasks.base.errors import OptionError
from lm_eval_tasks.base.metadata import switch
from lm_eval_tasks.base.yaml_text import parse_yaml

# Options of lm-eval's files that have no meaning here, and change nothing.
_IGNORED = frozenset({"log_samples", "include_path", "bootstrap_iters", "show_config", "verbosity"})
# Options that may be a table, and those that may be a list; all others are a single value.
_TABLES = frozenset({"model_args", "gen_kwargs", "metadata", "samples"})
_LISTS = frozenset({"tasks", "seed"})
# How a command shows what it does is settled before the file is read.
_TYPED_ONLY = frozenset({"all_columns", "config", "help", "format", "quiet", "verbose"})


def with_config(arguments: argparse.Namespace) -> argparse.Namespace:
    """Return the arguments with those of the file that their `config` names; what the command line says takes precedence.

    Raises:
        OptionError: the file cannot be read, or has a key or value that cannot be used.
    """
    parser, path = arguments.parser, arguments.config
    try:
        content = parse_yaml(path.read_text(encoding="utf-8-sig"))
    except OSError as err:
        raise OptionError(f"{path} cannot be read: {err.strerror or err}") from err
    except ValueError as err:
        raise OptionError(f"{path} is not YAML ({err})") from err
    if not isinstance(content, dict):
        raise OptionError(f"{path} contains no options: it must be a table of keys and values")
    words = list(_words(content, parser, path))
    try:
        with parser.errors_raised():
            of_file = parser.parse_args(words)
    except ValueError as err:
        raise OptionError(f"{path}: {err}") from err
    # What stands for a key of the metadata becomes one, so that whatever is typed comes before it.
    metadata = options_metadata(of_file)
    of_file.metadata = "{}"
    of_options = options_metadata(of_file)
    for option in SHORT:
        setattr(of_file, option, parser.get_default(option))
    of_file.metadata = json.dumps(metadata)
    both: argparse.Namespace = parser.parse_args(arguments.words, of_file)
    # Metadata that is typed takes the place of the file's, not of the file's other options.
    both.metadata = json.dumps(of_options | metadata_of(both.metadata))
    return both


def _words(content: dict[str, object], parser: Parser, path: Path) -> Iterator[str]:
    names = ["output" if key == "output_path" else str(key).replace("-", "_") for key in content]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise OptionError(f"{path} gives {twice[0]!r} twice, under two names")
    for name, (key, value) in zip(names, content.items(), strict=True):
        if name in _TYPED_ONLY:
            raise OptionError(f"{path} has the key {key!r}, which has to be typed on the command line")
        action = parser.options.get(name)
        if action is None:
            if key in _IGNORED:
                continue
            raise OptionError(f"{path} has the key {key!r}, which `academiceval eval` does not read")
        if value is None:
            continue
        if action.nargs == 0:
            yield action.option_strings[0 if switch(f"{path}: {key}", value) else 1]
        elif isinstance(value, bool):
            raise OptionError(f"{path}: {key} is {str(value).lower()!r}, but it must be a single value")
        else:
            yield f"{action.option_strings[0]}={_text(name, value, path)}"


def _text(key: str, value: Any, path: Path) -> str:
    """Return a value as it would be typed; tables stay nested, as JSON."""
    if isinstance(value, dict) and key in _TABLES:
        try:
            # YAML reads `2026-01-01` as a day.
            return json.dumps(value, allow_nan=False, default=date.isoformat)
        except (TypeError, ValueError) as err:
            raise OptionError(f"{path}: {key} contains what JSON cannot ({err})") from err
    if isinstance(value, list) and key in _LISTS and not any(isinstance(item, dict | list) for item in value):
        return ",".join(map(str, value))
    if isinstance(value, dict | list):
        needed = "a table" if key in _TABLES else "a list of names" if key == "tasks" else "a single value"
        raise OptionError(
            f"{path}: {key} is a {'table' if isinstance(value, dict) else 'list'}, but it must be {needed}"
        )
    return str(value)
