"""Where the real papers, the installed programs and the tables of tests are."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
BIN = Path(sys.executable).parent


def table_beside(test: str, name: str) -> Any:
    """Return what a JSON file next to a test's own says; `test` is its `__file__`."""
    return json.loads(Path(test).with_name(name).read_text(encoding="utf-8"))
