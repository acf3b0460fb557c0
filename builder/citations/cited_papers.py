"""Which of the works that papers cite are fetched and read, for the families that show their texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from builder.collect.license_lookup import learn_licenses
from builder.extract.stage import extract_papers
from builder.seeding import digest_of
from lm_eval_tasks.core.waiting import announce

if TYPE_CHECKING:
    from builder.records import Paper
    from builder.round.model import Round
    from builder.sources.base import Source
    from builder.store import Store
    from lm_eval_tasks.engines.base import Engine


def cited_papers(round_: Round, store: Store, papers: Iterable[Paper], most: int) -> list[Paper]:
    """The records of what the papers cite; at most `most` for each paper, chosen by the seed alone."""
    cited: set[str] = set()
    for paper in papers:
        ids = set(store.cited_ids(paper.id).values()) - round_.taken_down
        cited.update(sorted(ids, key=lambda id_: digest_of(round_.seed, id_, "cited"))[:most])
    return list(store.papers(sorted(cited)))


def read_papers(round_: Round, source: Source, store: Store, papers: list[Paper], engine: Engine) -> None:
    """Fetch and read papers, with their licences."""
    unread = sum(not store.outcomes(paper.id) for paper in papers)
    minutes = unread * round_.source.seconds_between_requests / 60
    if minutes >= 1:
        announce(f"fetching {unread} cited papers: at least {minutes:.0f} min")
    extract_papers(round_, source, store, learn_licenses(source, store, papers), engine)
