"""The reading families as `builder.dataset.families` wants them: over the papers of a round and what they cite."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from builder.citations.cited_papers import cited_papers, read_papers
from builder.dataset.families import Family
from builder.extract.stage import choose_documents
from builder.reading.build import Wanted, build
from builder.reading.completion import complete_row
from builder.reading.contexts import Neighbourhoods
from builder.reading.rows import KIND
from builder.reading.shelf import Shelf
from builder.records import Cited, Citing
from builder.round.licenses import allows
from builder.samples.near_duplicates import copies
from builder.seeding import row_order

if TYPE_CHECKING:
    from builder.dataset.families import Material
    from builder.dataset.manifest import Configuration
    from builder.records import Paper, ReadingReason
    from builder.round.model import Round
    from builder.sources.base import Source
    from builder.stage_report import StageReport
    from lm_eval_tasks.engines.base import Engine

_KEPT = 1024


def prepare(material: Material, source: Source, engine: Engine) -> None:
    """Fetch and read works that the new papers cite, if contexts show their texts."""
    round_, store = material.round_, material.store
    if not round_.reading.shows_cited:
        return
    papers = _new_papers(material)[: round_.reading.tried]
    read_papers(round_, source, store, cited_papers(round_, store, papers, round_.reading.cited_papers), engine)


def write(material: Material, folder: Path) -> Iterator[tuple[Configuration, Sequence[StageReport]]]:
    """Every configuration that the round asks for, and the texts of all papers that they show."""
    table, seed = material.round_.reading, material.round_.seed
    if not table.chosen:
        return
    duplicates = copies(material.papers)
    new = _new_papers(material)
    reasons = {paper.id: reason for paper in new if (reason := _reason(paper, duplicates, material.round_))}
    wanted = Wanted(table.chosen, table.contexts, table.questions_of_context, seed, material.round_.round)
    yield from build(folder, _shelf(material, duplicates), new, reasons, wanted)


def _new_papers(material: Material) -> list[Paper]:
    """The test papers, in the order of their rows."""
    return sorted(material.dates.test_of(material.papers), key=lambda paper: row_order(paper.versioned_id))


def _reason(paper: Paper, duplicates: frozenset[str], round_: Round) -> ReadingReason | None:
    """Why there can be no context around a paper."""
    if paper.id in duplicates:
        return "near_duplicate"
    return None if allows(paper.license, round_.licenses) else "license"


def _shelf(material: Material, duplicates: frozenset[str]) -> Shelf:
    round_ = material.round_
    fit = [paper for paper in material.papers if paper.id not in duplicates and allows(paper.license, round_.licenses)]
    around = Neighbourhoods(fit, material.graph, round_.seed, round_.reading.window_months).around
    citing = {paper.id: partial(_citing, material, paper) for paper in material.papers}
    return Shelf(citing, lambda id_: material.store.cited_ids(id_).values(), _known(material), around)


def _citing(material: Material, paper: Paper) -> Citing:
    return Citing(paper, material.documents[paper.id], material.store.cited_ids(paper.id))


def _known(material: Material) -> Callable[[str], Cited | None]:
    """What the workspace has of a cited work: its record, and its document if the round may show it."""
    round_, store = material.round_, material.store

    @lru_cache(maxsize=_KEPT)
    def known(id_: str) -> Cited | None:
        paper = next(store.papers([id_]), None)
        if paper is None or id_ in round_.taken_down:
            return None
        may_show = bool(store.outcomes(id_)) and allows(paper.license, round_.licenses)
        documents = choose_documents(round_, store, [paper])[0] if may_show else None
        return Cited(paper, documents.get(id_) if documents else None)

    return known


FAMILY = Family("Reading", KIND, complete_row, prepare, write)
