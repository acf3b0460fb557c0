"""Which prompt a setting is asked with, and the version of all prompts: `registry.toml`, read."""

from __future__ import annotations

import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from lm_eval_tasks.core.errors import EvalError
from lm_eval_tasks.core.files import sha256_of_bytes

# The prompt file of all SCALAR settings.
SCALAR = "scalar"
WRITING = ("title", "abs", "intro", "related", "section")
_FOLDER = Path(__file__).parent


def version() -> int:
    """The version of the prompts, which is raised with any change to them."""
    return int(_registry()["version"])


def prompt_of(setting: str, role: str = "prompt") -> str:
    """The name of the prompt file of a built-in setting.

    Args:
        role: "prompt", "ralm", "query", "title_only" or "section".

    Raises:
        EvalError: the registry has no such entry.
    """
    try:
        return str(_registry()["settings"][setting][role])
    except KeyError as err:
        raise EvalError(f"the prompt registry has no {role!r} for the setting {setting!r}") from err


def is_usual(name: str) -> bool:
    """Whether a prompt is what its setting is usually asked with, not an ablation or retrieval."""
    return name == SCALAR or any(name == prompts["prompt"] for prompts in _registry()["settings"].values())


def task_of(name: str) -> str:
    """The task of a prompt: files are called `<task>_<variant>`; SCALAR's prompts are "scalar"."""
    first = name.partition("_")[0]
    return first if first in WRITING else SCALAR


def digest() -> str:
    """sha256 over the settings' table and the bytes of every prompt file."""
    files = {path.name: path.read_bytes().hex() for path in _FOLDER.glob("*.txt")}
    content = json.dumps([_registry()["settings"], files], sort_keys=True)
    return sha256_of_bytes(content)


def digests() -> dict[str, str]:
    """The digest of every version that was ever published."""
    return dict(_registry()["digests"])


@cache
def _registry() -> dict[str, Any]:
    return tomllib.loads((_FOLDER / "registry.toml").read_text(encoding="utf-8"))
