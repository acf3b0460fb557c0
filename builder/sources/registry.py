"""Sources of papers, and the one function that opens the source a round names."""

from __future__ import annotations

from builder.round.model import Round
from builder.sources.base import Source
from builder.store import Store


def open_source(round_: Round, store: Store) -> Source:
    """Open the source that round.toml names.

    Args:
        store: keeps what arXiv answered.

    Raises:
        SourceError: it is not there.
    """
    table = round_.source
    if table.kind == "arxiv":
        from builder.sources.arxiv.source import ArxivSource

        return ArxivSource(round_, store)
    if table.kind == "sample":
        from builder.sources.sample.source import SampleSource

        return SampleSource(round_.workspace / "sample", seed=table.seed, authors=table.authors, papers=table.papers)
    from builder.sources.mirror import MirrorSource

    assert table.path is not None, "checked by SourceTable"
    return MirrorSource(table.path, table.metadata, table.pdf, table.html, round_.workspace / "mirror.sqlite3")


__all__ = ["Source", "open_source"]
