"""Which prompt a setting is asked with, and the version of all prompts, which `registry.toml` holds."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.tasks.records import FAMILIES, SETTINGS, Kind, prompts_of

# The prompt file of all SCALAR settings.
SCALAR = "scalar"
TITLE = "title"
WRITING = (TITLE, "abs", "intro", "related", "section")
# Families of questions with exact answers.
QUESTIONS = tuple(family.name for family in FAMILIES if family.kind != "writing")
_KINDS: dict[str, Kind] = {family.name: family.kind for family in FAMILIES}
_FOLDER = Path(__file__).parent


def version(family: str = SCALAR) -> int:
    """The version of the prompts, which is raised with any change to them.

    Args:
        family: families that came after SCALAR have versions of their own.
    """
    return int(_registry(family)["version"])


def prompt_of(setting: str, role: str = "prompt") -> str:
    """The name of the prompt file of a built-in setting.

    Args:
        role: one of `tasks.records.ROLES`, or "query", what is retrieved with.

    Raises:
        EvalError: the setting is not asked in this role.
    """
    try:
        return _prompts()[setting][role]
    except KeyError as err:
        raise EvalError(f"there is no prompt {role!r} for the setting {setting!r}") from err


def is_usual(name: str) -> bool:
    """Whether a prompt is what its setting is usually asked with, not an ablation or retrieval."""
    return name in QUESTIONS or any(name == prompts["prompt"] for prompts in _prompts().values())


def task_of(name: str) -> str:
    """The task of a prompt: files are called `<task>_<variant>`, or by the family that they ask for."""
    first = name.partition("_")[0]
    return first if first in (*WRITING, *QUESTIONS) else SCALAR


def kind_of(name: str) -> Kind:
    """How answers to a prompt are scored."""
    task = task_of(name)
    return "writing" if task in WRITING else _KINDS[task]


@cache
def _prompts() -> dict[str, dict[str, str]]:
    return {setting.name: prompts_of(setting) for setting in SETTINGS}


@cache
def _registry(family: str) -> dict[str, Any]:
    content = tomllib.loads((_FOLDER / "registry.toml").read_text(encoding="utf-8"))
    return content if family == SCALAR else dict(content[family])
