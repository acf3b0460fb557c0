"""`lm_eval`: the internals that we use to open models and find tasks."""

from __future__ import annotations

import ast
import importlib.util
import json
import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_tasks.base.errors import OptionError
from lm_eval_tasks.base.text import parse_json

if TYPE_CHECKING:
    from lm_eval.api.model import LM

# Where a value begins that is an object or a list, with others in it.
_NESTED = re.compile(r"(?:^|,)\s*([\w.-]+)\s*=\s*(?=[{\[])")


def open_model(model_type: str, arguments: Mapping[str, object], batch_size: str, device: str | None) -> LM:
    """Return a model of one of lm-eval's types, as its command line opens it; a KeyError if there is no such type, and whatever the type's
    own code raises. A public way would be a function that takes the command line's arguments; `simple_evaluate` opens and evaluates in one.
    """
    import lm_eval.models  # noqa: F401  registers the types
    from lm_eval.api.registry import get_model

    try:
        model_class = get_model(model_type)
    except (ValueError, KeyError) as err:
        raise KeyError(f"lm-eval has no model type {model_type!r}") from err
    opened: LM = model_class.create_from_arg_obj(
        {name: value for name, value in arguments.items() if name != "device"},
        {"batch_size": batch_size, "max_batch_size": None, "device": device},
    )
    return opened


def model_types() -> list[str]:
    """Return the names of lm-eval's model types, read from its source: to import it takes a second.

    A public way would be its registry without what it imports.
    """
    folder = tasks_folder()
    source = folder.parent / "models" / "__init__.py" if folder else None
    tree = ast.parse(source.read_text(encoding="utf-8")) if source else ast.Module([], [])
    tables = [node.value for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)]
    return [str(key.value) for table in tables for key in table.keys if isinstance(key, ast.Constant)]


def with_whole_answers(lm: LM) -> LM:
    """Return the model, made to hand over its reasoning too if its end is a text: we take it off ourselves, and see if it has no end."""
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
    """Parse --model_args and --gen_kwargs as lm-eval reads them: `key=value,...` or a JSON object, whose values may be nested; an
    OptionError if it begins like JSON and is not a JSON object. There is no public function for the first form. Unlike lm-eval's, a value
    may be a JSON object or list: its commas do not count.
    """
    from lm_eval.utils import simple_parse_args_string

    if text.lstrip().startswith("{"):
        try:
            return dict(parse_json(text))
        except (ValueError, TypeError) as err:
            raise OptionError(f"{text!r:.80} is not a JSON object ({err})") from err
    flat, nested = _without_nested(text)
    return {**simple_parse_args_string(flat), **nested} if text else {}


def _without_nested(text: str) -> tuple[str, dict[str, object]]:
    """Return the text without the arguments whose values are objects or lists, and these."""
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
    """Return the folder of the installed lm_eval's own tasks, which it searches without --include_path; None without lm_eval.

    A public way would be entry points for tasks.
    """
    spec = importlib.util.find_spec("lm_eval")
    return Path(spec.submodule_search_locations[0]) / "tasks" if spec and spec.submodule_search_locations else None
