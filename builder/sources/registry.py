"""Opening the source that a round names."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from builder.round.model import Round
    from builder.sources.base import Source
    from builder.store import Store


def open_source(round_: Round, store: Store) -> Source:
    """Open the source that round.toml names; only its own module is imported.

    Args:
        store: keeps what arXiv answered.

    Raises:
        SourceError: it is not there.
    """
    module = importlib.import_module(round_.source.MODULE)
    source: Source = module.open_source(round_.source, round_, store)
    return source
