"""Which prompt a setting is asked with, and the version of all prompts, which `registry.toml` holds."""

from __future__ import annotations

import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from lm_eval_tasks.core.errors import EvalError
from lm_eval_tasks.core.files import sha256_of_bytes
from lm_eval_tasks.tasks.records import SETTINGS, prompts_of

# The prompt file of all SCALAR settings.
SCALAR = "scalar"
TITLE = "title"
WRITING = (TITLE, "abs", "intro", "related", "section")
_FOLDER = Path(__file__).parent


def version() -> int:
    """The version of the prompts, which is raised with any change to them."""
    return int(_registry()["version"])


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
    return name == SCALAR or any(name == prompts["prompt"] for prompts in _prompts().values())


def task_of(name: str) -> str:
    """The task of a prompt: files are called `<task>_<variant>`; SCALAR's prompts are "scalar"."""
    first = name.partition("_")[0]
    return first if first in WRITING else SCALAR


def digest() -> str:
    """sha256 over the prompts of each setting and the bytes of every prompt file."""
    files = {path.name: path.read_bytes().hex() for path in _FOLDER.glob("*.txt")}
    content = json.dumps([_prompts(), files], sort_keys=True)
    return sha256_of_bytes(content)


def digests() -> dict[str, str]:
    """The digest of every version that was ever published."""
    return dict(_registry()["digests"])


@cache
def _prompts() -> dict[str, dict[str, str]]:
    return {setting.name: prompts_of(setting) for setting in SETTINGS}


@cache
def _registry() -> dict[str, Any]:
    return tomllib.loads((_FOLDER / "registry.toml").read_text(encoding="utf-8"))
