"""`lm_eval`: the internals that we use.

Its command line knows things that it does not hand to tasks, though prompts must leave room for them: the system prompt
and the length of answers. A public way would be to find them in the metadata that `custom_dataset` is given.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import json
import logging
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_tasks.core.errors import EvalError, OptionError
from lm_eval_tasks.core.redaction import redact
from lm_eval_tasks.core.text import parse_json

if TYPE_CHECKING:
    from lm_eval.api.model import LM

_PROGRAMS = ("lm_eval", "lm-eval")
_SECRET = re.compile(r"api.?key|password|secret|bearer", re.IGNORECASE)
# Where a value begins that is an object or a list, with others in it.
_NESTED = re.compile(r"(?:^|,)\s*([\w.-]+)\s*=\s*(?=[{\[])")
_MAX_GEN_TOKS = re.compile(r"max_gen_toks\W+(\d+)")


@dataclass(frozen=True, slots=True)
class RunArguments:
    """What a run's command line says that tasks are not handed: the system prompt, the length of answers if it sets one, the
    keys of its metadata, and whether prompts go through the chat template.
    """

    system_instruction: str = ""
    max_gen_toks: int | None = None
    metadata: tuple[str, ...] = ()
    apply_chat_template: bool = False


def is_lm_eval() -> bool:
    """Whether this process is lm-eval's command line."""
    return _program() in _PROGRAMS


def _program() -> str:
    """The name of what was started, as a command or by `python -m`."""
    place = Path(sys.argv[0])
    return place.parent.name if place.stem == "__main__" else place.stem


def _config_of(arguments: Sequence[str]) -> Path | None:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--config", "-C", type=Path)
    path: Path | None = parser.parse_known_args(arguments)[0].config
    return path


@contextmanager
def errors_end_the_process() -> Iterator[None]:
    """Under lm-eval's command line, which would show a traceback, end the process with an error's sentence."""
    try:
        yield
    except EvalError as err:
        if is_lm_eval():
            raise SystemExit(redact(f"error: {err}")) from None
        raise


def run_arguments() -> RunArguments:
    """Read the command line, and the file that its --config names; empty in any other program."""
    if not is_lm_eval():
        return RunArguments()
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--system_instruction")
    parser.add_argument("--gen_kwargs", nargs="+")
    parser.add_argument("--metadata")
    parser.add_argument("--apply_chat_template", nargs="?", const=True, default=False)
    arguments, _ = parser.parse_known_args(sys.argv[1:])
    file = _read(_config_of(sys.argv[1:]))
    return RunArguments(
        str(arguments.system_instruction or file.get("system_instruction") or ""),
        max_gen_toks(str(arguments.gen_kwargs or file.get("gen_kwargs") or "")),
        tuple(_entries(arguments.metadata or file.get("metadata"))),
        bool(arguments.apply_chat_template or file.get("apply_chat_template")),
    )


def _entries(metadata: object) -> dict[str, Any]:
    """The entries of --metadata, which lm-eval takes as JSON or as key=value,..."""
    if isinstance(metadata, str):
        try:
            metadata = json.loads(metadata)
        except ValueError:
            pairs = (part.partition("=") for part in str(metadata).split(","))
            return {key.strip(): value for key, _, value in pairs}
    return metadata if isinstance(metadata, dict) else {}


def max_gen_toks(gen_kwargs: str) -> int | None:
    """The length of answers that generation arguments set, in any of the ways to write it; None if they set none."""
    match = _MAX_GEN_TOKS.search(gen_kwargs)
    return int(match[1]) if match else None


def _read(path: Path | None) -> dict[str, Any]:
    # lm-eval itself reports a file that cannot be read.
    if path is None or not path.is_file():
        return {}
    import yaml

    read = yaml.safe_load(path.read_text(encoding="utf-8"))
    return read if isinstance(read, dict) else {}


def open_model(kind: str, arguments: Mapping[str, Any], batch_size: str, device: str | None) -> LM:
    """A model of one of lm-eval's types, as its command line opens it.

    A public way would be a function that takes the command line's arguments; `simple_evaluate` opens and evaluates in one.

    Raises:
        KeyError: there is no such type.
        Exception: what the type's own code raises.
    """
    import lm_eval.models  # noqa: F401  registers the types
    from lm_eval.api.registry import get_model

    try:
        model_class = get_model(kind)
    except (ValueError, KeyError) as err:
        raise KeyError(f"lm-eval has no model type {kind!r}") from err
    opened: LM = model_class.create_from_arg_obj(
        dict(arguments), {"batch_size": batch_size, "max_batch_size": None, "device": device}
    )
    return opened


def model_types() -> list[str]:
    """The names of lm-eval's model types, read from its source: to import it takes a second.

    A public way would be its registry without what it imports.
    """
    folder = tasks_folder()
    source = folder.parent / "models" / "__init__.py" if folder else None
    tree = ast.parse(source.read_text(encoding="utf-8")) if source else ast.Module([], [])
    tables = [node.value for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)]
    return [str(key.value) for table in tables for key in table.keys if isinstance(key, ast.Constant)]


def with_whole_answers(lm: LM) -> LM:
    """The model, made to hand over its reasoning too if its end is a text: we take it off ourselves, and see if it has no end."""
    if isinstance(getattr(lm, "think_end_token", None), str):
        lm.think_end_token = None
    return lm


def quiet() -> None:
    """Keep lm-eval from logging each failing try and what it is about to do, and from asking git for the commit of the current folder,
    which is not ours; its functions have no option for either.
    """
    from lm_eval import evaluator

    evaluator.get_git_commit_hash = lambda: None
    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    for name in ("lm_eval.models.api_models", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def parse_args(text: str) -> dict[str, Any]:
    """--model_args and --gen_kwargs as lm-eval reads them: `key=value,...` or a JSON object, whose values may be nested.

    There is no public function for the first form. Unlike lm-eval's, a value may be a JSON object or list: its commas do not count.

    Raises:
        OptionError: it begins like JSON and is not a JSON object.
    """
    from lm_eval.utils import simple_parse_args_string

    if text.lstrip().startswith("{"):
        try:
            return dict(parse_json(text))
        except (ValueError, TypeError) as err:
            raise OptionError(f"{text!r:.80} is not a JSON object ({err})") from err
    flat, nested = _without_nested(text)
    return {**simple_parse_args_string(flat), **nested} if text else {}


def _without_nested(text: str) -> tuple[str, dict[str, Any]]:
    """The text without the arguments whose values are objects or lists, and these."""
    nested = {}
    while match := _NESTED.search(text):
        try:
            _, end = json.JSONDecoder().raw_decode(text, match.end())
            nested[match[1]] = parse_json(text[match.end() : end])
        except (ValueError, RecursionError) as err:
            raise OptionError(
                f"{text[match.end() :]!r:.60} is not JSON ({err}): write its keys and texts in double quotes"
            ) from err
        if text[end:].strip() and not text[end:].lstrip().startswith(","):
            raise OptionError(
                f"after {text[match.end() : end]!r:.60} comes {text[end:]!r:.20} where a comma must stand"
            )
        text = text[: match.start()] + text[end:]
    return text.strip().lstrip(","), nested


def tasks_folder() -> Path | None:
    """The folder of the installed lm_eval's own tasks, which it searches without --include_path; None without lm_eval.

    A public way would be entry points for tasks.
    """
    spec = importlib.util.find_spec("lm_eval")
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / "tasks"
