"""Sources of papers, and the one function that opens the source a round names."""

from __future__ import annotations

from pathlib import Path

from builder.round import SourceTable
from builder.sources.base import Source


def open_source(table: SourceTable, workspace: Path) -> Source:
    """Open the source that round.toml names.

    Raises:
        SourceError: it is not there.
    """
    if table.kind == "sample":
        from builder.sources.sample import SampleSource

        return SampleSource(workspace / "sample", seed=table.seed, authors=table.authors, papers=table.papers)
    from builder.sources.mirror import MirrorSource

    assert table.path is not None, "checked by SourceTable"
    return MirrorSource(table.path, table.metadata, table.pdf, table.html)


__all__ = ["Source", "open_source"]
