"""Options of `academiceval eval` from a YAML file, as lm-eval's --config."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from lm_eval_tasks.core.errors import OptionError
from lm_eval_tasks.core.yaml_text import parse_yaml

_MOST_NODES = 10_000
# Options of lm-eval's files that have no meaning here, and change nothing.
_IGNORED = frozenset({"log_samples", "include_path", "bootstrap_iters", "show_config", "verbosity"})


def read_options(path: Path) -> dict[str, Any]:
    """The options in a YAML file.

    Raises:
        OptionError: the file cannot be read, or contains something else.
    """
    try:
        content = parse_yaml(path.read_text(encoding="utf-8-sig"))
    except OSError as err:
        raise OptionError(f"{path} cannot be read: {err.strerror or err}") from err
    except ValueError as err:
        raise OptionError(f"{path} is not YAML ({err})") from err
    if not isinstance(content, dict):
        raise OptionError(f"{path} contains no options: it must be a table of keys and values")
    if sum(1 for _ in islice(_nodes(content), _MOST_NODES + 1)) > _MOST_NODES:
        raise OptionError(f"{path} contains too much to be options: its references multiply each other")
    return content


def _nodes(value: Any) -> Iterator[Any]:
    """Everything in a value, as often as it is referred to."""
    waiting = [value]
    while waiting:
        yield (one := waiting.pop())
        waiting += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()


def completed(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> argparse.Namespace:
    """The arguments with those of the file that their `config` names; what the command line says takes precedence.

    Raises:
        OptionError: the file cannot be read, or has a key or value that cannot be used.
    """
    path = arguments.config
    content = read_options(path)
    kinds = {action.dest: action for action in parser._actions}
    merged = argparse.Namespace(**vars(arguments))
    for key, value in content.items():
        name = "output" if key == "output_path" else str(key)
        if name not in kinds or name in ("config", "help"):
            if key in _IGNORED:
                continue
            raise OptionError(f"{path} has the key {key!r}, which `academiceval eval` does not read")
        if getattr(arguments, name) == parser.get_default(name):
            setattr(merged, name, _read(kinds[name], value, f"{path}: {key}"))
    return merged


def _read(action: argparse.Action, value: Any, where: str) -> Any:
    """A value as the command line would give it."""
    if isinstance(value, bool) or value is None:
        return bool(value) if action.nargs == 0 else action.default
    if isinstance(value, dict):
        json_options = ("metadata", "samples")
        text = (
            json.dumps(value)
            if action.dest in json_options
            else ",".join(f"{name}={one}" for name, one in value.items())
        )
    else:
        text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    if action.type is None:
        return text
    try:
        return action.type(text)  # type: ignore[operator]
    except (argparse.ArgumentTypeError, ValueError) as err:
        raise OptionError(f"{where}: {err}") from err
