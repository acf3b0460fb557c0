"""round.toml as a table of plain values, checked key by key; nothing large is imported for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from builder.errors import RoundError
from builder.round import taxonomy
from lm_eval_tasks.errors import TomlError
from lm_eval_tasks.toml_file import read_toml

_SCHEMA = Path(__file__).parent / "round.schema.json"


def read_round(path: Path, **instead: str) -> dict[str, Any]:
    """What round.toml contains.

    Args:
        instead: values of top-level keys to use in place of the file's.

    Raises:
        RoundError: no such file, invalid TOML, an unknown key or a value that its key cannot have.
    """
    try:
        content = read_toml(path, _SCHEMA, **instead)
        if content["source"]["kind"] == "arxiv":
            for name in content.get("papers", {}).get("categories", ()):
                taxonomy.check(name)
        return content
    except ValueError as err:
        raise RoundError(f"{path}: {err}") from err
    except TomlError as err:
        hint = "; `academiceval init` writes a round.toml" if "is missing" in str(err) or not path.is_file() else ""
        raise RoundError(f"{err}{hint}") from err
