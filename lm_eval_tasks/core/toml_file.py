"""Reading a TOML file that people write, with one sentence about the first mistake."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from lm_eval_tasks.core.errors import TomlError
from lm_eval_tasks.core.json_schema import first_problem


def read_toml(path: Path, schema: Path, **instead: str) -> dict[str, Any]:
    """What a file contains.

    Args:
        schema: a file with the JSON schema of what it may contain.
        instead: values of top-level keys to use in place of the file's.

    Raises:
        TomlError: it cannot be read, is not TOML, or has a key or value that the schema does not allow.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        content = {**tomllib.loads(text), **instead}
    except OSError as err:
        raise TomlError(f"cannot read {path}: {err.strerror}") from err
    except (ValueError, RecursionError) as err:
        raise TomlError(f"{path} is not valid TOML: {err}") from err
    if problem := first_problem(content, schema):
        raise TomlError(f"{path}: {problem}")
    return content
