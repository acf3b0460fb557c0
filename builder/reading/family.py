"""The reading families as `builder.dataset.families` wants them: over the papers of a round and what they cite."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from builder.dataset.families import Family
from builder.extract.stage import choose_documents
from builder.reading.build import Wanted, build
from builder.reading.completion import complete_row
from builder.reading.contexts import Neighbourhoods
from builder.reading.rows import KIND
from builder.reading.shelf import Shelf
from builder.records import Cited, Citing
from builder.round.licenses import allows
from builder.seeding import row_order

if TYPE_CHECKING:
    from builder.dataset.manifest import Configuration
    from builder.records import Paper, ReadingReason
    from builder.stage_report import StageReport
    from builder.workspace import Workspace
    from lm_eval_tasks.engines.base import Engine

_KEPT = 1024


def prepare(workspace: Workspace, engine: Engine) -> None:
    """Fetch and read works that the new papers cite, if contexts show their texts."""
    reading = workspace.round_.reading
    if reading.shows_cited:
        workspace.read_cited(_new_papers(workspace)[: reading.tried], reading.cited_papers, engine)


def write(workspace: Workspace, folder: Path) -> Iterator[tuple[Configuration, Sequence[StageReport]]]:
    """Every configuration that the round asks for, and the texts of all papers that they show."""
    table, seed = workspace.round_.reading, workspace.round_.seed
    if not table.chosen:
        return
    new = _new_papers(workspace)
    reasons = {paper.id: reason for paper in new if (reason := _reason(paper, workspace))}
    wanted = Wanted(table.chosen, table.contexts, table.questions_of_context, seed, workspace.round_.round)
    yield from build(folder, _shelf(workspace), new, reasons, wanted)


def _new_papers(workspace: Workspace) -> list[Paper]:
    """The test papers, in the order of their rows."""
    return sorted(workspace.dates.test_of(workspace.papers), key=lambda paper: row_order(paper.versioned_id))


def _reason(paper: Paper, workspace: Workspace) -> ReadingReason | None:
    """Why there can be no context around a paper."""
    if paper.id in workspace.copies:
        return "near_duplicate"
    return None if allows(paper.license, workspace.round_.licenses) else "license"


def _shelf(workspace: Workspace) -> Shelf:
    round_ = workspace.round_
    fit = [paper for paper in workspace.papers if _reason(paper, workspace) is None]
    around = Neighbourhoods(fit, workspace.graph, round_.seed, round_.reading.window_months).around
    citing = {paper.id: partial(_citing, workspace, paper) for paper in workspace.papers}
    return Shelf(citing, lambda id_: workspace.store.cited_ids(id_).values(), _known(workspace), around)


def _citing(workspace: Workspace, paper: Paper) -> Citing:
    return Citing(paper, workspace.documents[paper.id], workspace.store.cited_ids(paper.id))


def _known(workspace: Workspace) -> Callable[[str], Cited | None]:
    """What the workspace has of a cited work: its record, and its document if the round may show it."""
    round_, store = workspace.round_, workspace.store

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
