"""Which rows of a dataset folder show some papers, and so have to go with them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from builder.dataset.rows import kind_of, rows_of
from builder.ids import bare_id

if TYPE_CHECKING:
    from builder.dataset.manifest import Configuration, Manifest


def rows_to_remove(source: Path, manifest: Manifest, ids: frozenset[str]) -> dict[str, set[str]]:
    """Task, or SCALAR level -> ids of the rows that show any of the papers in any setting."""
    found: dict[str, set[str]] = {}
    for one in manifest.configurations:
        papers = kind_of(one).papers
        for _, row in rows_of(source, one):
            if not ids.isdisjoint(bare_id(name) for name, _ in papers(row)):
                found.setdefault(group_of(one), set()).add(row["id"])
    return found


def group_of(one: Configuration) -> str:
    """What must contain the same samples: the settings of a task, or one SCALAR level."""
    return one.task if one.task != "cloze" else one.of or one.name
