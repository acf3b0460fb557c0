"""live.toml and models.toml as tables of plain values, checked key by key; nothing large is imported for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hub_scripts.errors import LiveError
from lm_eval_tasks.core.errors import TomlError
from lm_eval_tasks.core.toml_file import read_toml

_HERE = Path(__file__).parent
MODELS = "models.toml"


def read_live(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """What live.toml contains, and the file of models that it names.

    Raises:
        LiveError: a file is missing, cannot be parsed, or has a key or value that cannot be used.
    """
    try:
        live = read_toml(path, _HERE / "live.schema.json")
        return live, read_toml(path.parent / live.get("models", MODELS), _HERE / "models.schema.json")
    except TomlError as err:
        hint = "" if path.is_file() else "; `academiceval live --help` says what a month needs"
        raise LiveError(f"{err}{hint}") from err
