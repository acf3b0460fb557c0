"""The real papers, where they are there."""

from __future__ import annotations

from pathlib import Path

from builder.records import Paper
from builder.sources.metadata_file import read_metadata
from standins.places import DATA

PDF = DATA / "pdf"
# 152,736 records.
METADATA = DATA / "arxiv_meta.jsonl.xz"


def papers_of(path: Path) -> list[Paper]:
    """Return the papers of a file of metadata."""
    return [record for record in read_metadata(path) if isinstance(record, Paper)]


def pdf_files(most: int | None = None) -> list[Path]:
    """Return the first real papers, or all, as PDF."""
    return sorted(PDF.glob("*.pdf"))[:most]
