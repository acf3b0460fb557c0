"""The real papers, where they are there."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

from builder.records import Paper
from builder.sources.metadata_file import read_metadata
from standins.places import DATA

PDF = DATA / "pdf"
# 152,736 records.
METADATA = DATA / "arxiv_meta.jsonl.xz"


def papers_of(path: Path) -> list[Paper]:
    """Return the papers of a file of metadata."""
    return [record for record in read_metadata(path) if isinstance(record, Paper)]


def records_of(path: Path) -> list[dict[str, Any]]:
    """Return the records of a packed file of JSON lines."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def pdf_files(most: int | None = None) -> list[Path]:
    """Return the first real papers, or all, as PDF."""
    return sorted(PDF.glob("*.pdf"))[:most]
