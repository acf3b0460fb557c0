"""Where the real papers and the installed programs are."""

from __future__ import annotations

import sys
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
BIN = Path(sys.executable).parent
