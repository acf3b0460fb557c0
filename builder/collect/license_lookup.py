"""Looking up the licences that the papers' records did not carry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from builder.records import UNKNOWN_LICENSE, Paper
from lm_eval_tasks.base.progress import progress

if TYPE_CHECKING:
    from builder.sources.base import Source
    from builder.store import Store

_AT_ONCE = 500


def learn_licenses(source: Source, store: Store, papers: Sequence[Paper]) -> list[Paper]:
    """Ask the source for the licences that are not known, note them, and return the papers with them."""
    unknown = [paper for paper in papers if paper.license == UNKNOWN_LICENSE]
    if not unknown:
        return list(papers)
    batch: list[tuple[str, str]] = []
    for pair in progress(source.licenses(unknown), "licences"):
        batch.append(pair)
        if len(batch) == _AT_ONCE:
            _keep(store, batch)
            batch = []
    _keep(store, batch)
    return list(store.papers([paper.id for paper in papers]))


def _keep(store: Store, licenses: list[tuple[str, str]]) -> None:
    with store.transaction():
        store.set_licenses(licenses)
