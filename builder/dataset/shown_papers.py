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
    row_ids: dict[str, set[str]] = {}
    for configuration in manifest.configurations:
        papers = kind_of(configuration).papers
        for _, row in rows_of(source, configuration):
            if not ids.isdisjoint(bare_id(name) for name, _ in papers(row)):
                row_ids.setdefault(group_of(configuration), set()).add(row["id"])
    return row_ids


def group_of(configuration: Configuration) -> str:
    """What must contain the same samples: the settings of a task, or one SCALAR level."""
    return configuration.task if configuration.is_writing else configuration.of or configuration.name
