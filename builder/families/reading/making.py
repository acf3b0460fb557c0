"""How reading families are made together, over the papers of a round and what they cite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builder.extract.stage import choose_documents
from builder.families.descriptor import FamilyBuilder, Written
from builder.families.reading.asking import ReadingAsker, neighbours
from builder.families.reading.choosing import NewPapers
from builder.families.reading.columns import SCHEMA, reading_faults
from builder.families.reading.completing import complete_row
from builder.families.reading.measured import ReadingMeasure
from builder.families.reading.papers_read import PaperLibrary
from builder.families.reading.writing import ReadingWriter
from builder.families.registry import families
from builder.records import Cited, Paper, ReadingReason
from builder.round.allowed import allows
from builder.seeding import row_order
from lm_eval_tasks.engines.registry import Engine

if TYPE_CHECKING:
    from builder.round.model import Round
    from builder.workspace import Workspace

_KEPT = 1024


def prepare(workspace: Workspace, engine: Engine) -> None:
    """Fetch and read works that the new papers cite, if paper sets show their texts."""
    reading = workspace.round_.reading
    if reading.shows_cited:
        askable = [paper for paper in new_papers(workspace) if reason_of(paper, workspace) is None]
        workspace.read_cited(askable[: reading.tried], reading.cited_papers, engine)


def write(workspace: Workspace, folder: Path, engine: Engine) -> Written:
    """Return every configuration that the round asks for."""
    round_, table = workspace.round_, workspace.round_.reading
    if not table.chosen:
        return
    new = new_papers(workspace)
    reasons = {paper.id: reason for paper in new if (reason := reason_of(paper, workspace))}
    library = library_of(workspace)
    builders = [family for family in families() if isinstance(family, ReadingBuilder)]
    askers = [asker for builder in builders for asker in builder.asking(library, round_)]
    writer = ReadingWriter(folder, library, round_.round, round_.excluded)
    yield from writer.write(askers, table.chosen, NewPapers(new, reasons, table.contexts))
    workspace.shown.update(writer.shown)


def new_papers(workspace: Workspace) -> list[Paper]:
    """Return the test papers, in the order of their rows."""
    new = (paper for paper in workspace.papers if workspace.dates.split_of(paper.published) == "test")
    return sorted(new, key=lambda paper: row_order(paper.versioned_id))


def reason_of(paper: Paper, workspace: Workspace) -> ReadingReason | None:
    """Say why there can be no paper set around a paper."""
    if paper.id in workspace.copies:
        return "near_duplicate"
    return None if allows(paper.license, workspace.round_.licenses) else "license"


def library_of(workspace: Workspace) -> PaperLibrary:
    """Return the papers that a round may show, read when they are wanted."""
    round_ = workspace.round_
    fit = [paper for paper in workspace.papers if reason_of(paper, workspace) is None]
    around = neighbours(fit, workspace.graph, round_.seed, round_.reading.window_months)
    citing = {paper.id: partial(workspace.citing, paper) for paper in workspace.papers}
    return PaperLibrary(citing, lambda id_: workspace.store.cited_ids(id_).values(), _known(workspace), around)


def _known(workspace: Workspace) -> Callable[[str], Cited | None]:
    """Return what the workspace has of a cited work: its record, and its document if the round may show it."""
    round_, store = workspace.round_, workspace.store

    @lru_cache(maxsize=_KEPT)
    def known(id_: str) -> Cited | None:
        paper = next(store.papers([id_]), None)
        if paper is None or not round_.taken_down.isdisjoint(paper.every_id):
            return None
        may_show = bool(store.outcomes(id_)) and allows(paper.license, round_.licenses)
        documents = choose_documents(round_, store, [paper]) if may_show else None
        return Cited(paper, documents.get(id_) if documents else None)

    return known


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingBuilder(FamilyBuilder):
    """A reading family.

    Attributes:
        asking: what asks its questions over the papers of a round.
    """

    asking: Callable[[PaperLibrary, Round], Sequence[ReadingAsker[Any]]]


def reading_family(asking: Callable[[PaperLibrary, Round], Sequence[ReadingAsker[Any]]]) -> ReadingBuilder:
    """Return a family whose rows are made, completed and checked as those of the other reading families."""
    return ReadingBuilder(
        schema=lambda _: SCHEMA,
        complete=partial(complete_row, SCHEMA),
        faults=reading_faults,
        prepare=prepare,
        write=write,
        measure=ReadingMeasure,
        asking=asking,
    )
