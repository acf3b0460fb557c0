"""The JSON schemas of the TOML files, from the models that read them: `python -m tests.schemas` writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from builder.round.model import Round
from hub_scripts.live.config import MODELS_FILE, Live

ROOT = Path(__file__).resolve().parents[1]


def schemas() -> dict[Path, str]:
    """File -> what it should contain."""
    return {
        ROOT / "builder/round/round.schema.json": _written(Round.model_json_schema()),
        ROOT / "hub_scripts/live/live.schema.json": _written(Live.model_json_schema()),
        ROOT / "hub_scripts/live/models.schema.json": _written(MODELS_FILE.json_schema()),
    }


def _written(schema: dict[str, Any]) -> str:
    return json.dumps(_without_titles(schema), indent=1) + "\n"


def _without_titles(node: Any) -> Any:
    """The schema without the names that pydantic makes up from keys."""
    if isinstance(node, list):
        return [_without_titles(one) for one in node]
    if not isinstance(node, dict):
        return node
    return {key: _without_titles(one) for key, one in node.items() if key != "title" or isinstance(one, dict)}


if __name__ == "__main__":
    for path, text in schemas().items():
        path.write_text(text, encoding="utf-8")
