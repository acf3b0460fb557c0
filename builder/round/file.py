"""round.toml -> Round. Its keys and values are checked before anything large is imported, so that typing mistakes are found at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from builder.errors import RoundError
from builder.round import taxonomy
from lm_eval_tasks.core.errors import TomlError
from lm_eval_tasks.core.toml_file import read_toml

if TYPE_CHECKING:
    from builder.round.model import Round

_SCHEMA = Path(__file__).parent / "round.schema.json"


def load_round(path: Path, **instead: str) -> Round:
    """Read and check round.toml; its paths are taken relative to the file.

    Args:
        instead: values of top-level keys to use in place of the file's.

    Raises:
        RoundError: no such file, invalid TOML, an unknown key, a value out of range or an unknown setting.
    """
    content = _read(path, **instead)
    from builder.round.model import round_of

    return round_of(content, path)


def _read(path: Path, **instead: str) -> dict[str, Any]:
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
