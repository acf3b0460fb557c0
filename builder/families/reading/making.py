"""How reading families are made together, over the papers of a round and what they cite: which contexts a configuration has, what is asked
over each, and these as rows and texts in a dataset folder.

Reasons why a row cannot be completed: missing_paper, changed_text.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

from builder.extract.stage import choose_documents
from builder.families.descriptor import FamilyBuilder, Written
from builder.families.reading.asking import PaperSet, ReadingAsker, neighbours
from builder.families.reading.columns import KEPT, SCHEMA, reading_faults, texts
from builder.families.reading.measured import ReadingMeasure
from builder.families.reading.papers_read import PaperLibrary
from builder.families.registry import families
from builder.families.writer import writer_of
from builder.parquet.schema import Lacking, Row, hashes_of, matches
from builder.records import Cited, Paper, ReadingReason
from builder.round.allowed import allows
from builder.seeding import row_order
from builder.stage_report import StageReport
from builder.store import Store
from lm_eval_tasks.base.contract import PAPERS, Split
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.base.intervals import FEWEST
from lm_eval_tasks.base.manifest import ListedConfiguration
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.engines.registry import Engine
from lm_eval_tasks.families.reading import Reading

if TYPE_CHECKING:
    from builder.round.model import Round
    from builder.workspace import Workspace


@dataclass(slots=True)
class ChosenContexts:
    """The contexts of one configuration with what is asked over each, and a report over the papers that were tried.

    Attributes:
        questions: by the new paper of a context.
        withheld: reason -> what could have been asked, but has no certain answer.
        excluded: of each row that is left out, the name by which it is.
        papers: that the contexts show.
        overlapping: contexts that show some of these again.
    """

    reading: Reading
    report: StageReport
    contexts: list[PaperSet] = field(default_factory=list)
    questions: dict[str, Sequence[Any]] = field(default_factory=dict)
    withheld: Counter[str] = field(default_factory=Counter)
    excluded: list[str] = field(default_factory=list)
    papers: set[str] = field(default_factory=set)
    overlapping: list[PaperSet] = field(default_factory=list)


def choose(
    asking: ReadingAsker[Any],
    readings: Sequence[Reading],
    most: int,
    new: Sequence[Paper],
    reasons: Mapping[str, ReadingReason],
) -> list[ChosenContexts]:
    """The contexts of one family in each size, around papers in their order, the same papers for all sizes where they can be.

    Scores over contexts that share papers depend on each other, and intervals count such contexts once. So no paper is shown twice
    in a configuration, as long as that leaves enough contexts for intervals; if it does not, contexts that overlap are taken too.

    Args:
        most: contexts of each configuration.
        reasons: paper -> why there can be no context around it.
    """
    by_size = sorted(readings, key=lambda reading: reading.size)
    every = [ChosenContexts(reading, StageReport(reading.name)) for reading in by_size]
    for paper in progress(new, f"{asking.task} contexts", len(new)) if every else ():
        wanted = [chosen for chosen in every if len(chosen.contexts) < most]
        if not wanted:
            break
        contexts = reasons.get(paper.id) or asking.contexts(paper, [reading.size for reading in by_size])
        for chosen in wanted:
            context = contexts if isinstance(contexts, str) else contexts.get(chosen.reading.size)
            if isinstance(context, str):
                chosen.report.drop(paper.id, context)
            elif context is None or len(context.papers) < asking.fewest:
                chosen.report.drop(paper.id, asking.too_few if context else "context_not_filled")
            elif asking.keeps_apart and any(other.id in chosen.papers for other in context.papers):
                chosen.overlapping.append(context)
            else:
                _take(asking, every, chosen, context)
    for chosen in every:
        is_needed = len(chosen.contexts) < FEWEST
        for context in chosen.overlapping:
            if is_needed and len(chosen.contexts) < most:
                _take(asking, every, chosen, context)
            else:
                chosen.report.drop(context.paper.id, "overlapping")
    return every


def _take(
    asking: ReadingAsker[Any], every: Sequence[ChosenContexts], chosen: ChosenContexts, context: PaperSet
) -> None:
    """Take a context, if there is something to ask; what is asked over the next smaller one around its paper comes first."""
    smaller = [other.questions for other in every if other.reading.size < chosen.reading.size]
    preferred = next((asked[context.paper.id] for asked in reversed(smaller) if context.paper.id in asked), ())
    asking.withheld.clear()
    questions = asking.questions(context, preferred)
    chosen.withheld += asking.withheld
    if not questions:
        chosen.report.drop(context.paper.id, "no_question")
        return
    ids = {other.id for other in context.papers}
    asking.shown |= ids
    chosen.papers |= ids
    chosen.report.kept += 1
    chosen.contexts.append(context)
    chosen.questions[context.paper.id] = questions


_SPLIT: Split = "test"

_LOGGER = logging.getLogger(__name__)


def build(
    folder: Path,
    library: PaperLibrary,
    new: Sequence[Paper],
    reasons: Mapping[str, ReadingReason],
    families: Sequence[ReadingAsker[Any]],
    readings: Sequence[Reading],
    most: int,
    round_name: str,
    excluded: frozenset[str] = frozenset(),
) -> Iterator[tuple[ListedConfiguration, Sequence[StageReport]]]:
    """Write the configurations of families, then the texts that they show; each configuration with the report of its stage.

    Args:
        new: the papers that are asked about, in the order of their rows.
        reasons: new paper -> why there can be no context around it.
        most: contexts of each configuration.
        excluded: ids of rows that are left out.
    """
    shown: set[str] = set()
    for asking in families:
        own = [each for each in readings if (each.task, each.controls) == (asking.task, asking.controls)]
        for chosen in choose(asking, own, most, new, reasons):
            configuration = _write(folder, chosen, asking, round_name, excluded)
            if (floor := _floor(configuration)) > asking.most_floor:
                _LOGGER.warning(
                    "%s is not offered: programs that do not read answer %.2f of it, more than %.2f",
                    configuration.name,
                    floor,
                    asking.most_floor,
                )
                rmtree(folder / configuration.name)
                configuration = replace(configuration, splits={})
                for context in chosen.contexts:
                    chosen.report.drop(context.paper.id, "high_floor")
                chosen.report.kept = 0
                chosen.contexts.clear()
            shown |= {paper.id for context in chosen.contexts for paper in context.papers}
            # What could have been asked.
            asked = StageReport(f"questions {chosen.reading.name}", configuration.samples, chosen.withheld)
            for name in chosen.excluded:
                asked.drop(name, "excluded")
            yield configuration, [chosen.report, asked] if asked.dropped else [chosen.report]
    if shown:
        yield _write_texts(folder, library, shown, round_name)


def _floor(configuration: ListedConfiguration) -> float:
    """What the shortcut scores on average; 0 without rows."""
    kinds = [kind for split in configuration.splits.values() for kind in split.statistics.kinds.values()]
    return sum(kind.shortcut.mean * kind.n for kind in kinds) / max(1, sum(kind.n for kind in kinds))


def _write(
    folder: Path, chosen: ChosenContexts, asking: ReadingAsker[Any], round_name: str, excluded: frozenset[str]
) -> ListedConfiguration:
    writer = writer_of(folder, ListedConfiguration(chosen.reading.name, chosen.reading.task, "questions"))
    for context in progress(chosen.contexts, chosen.reading.name):
        for row in asking.rows(context, chosen.questions[context.paper.id], round_name):
            # What is wrong with a question is wrong with it in the other order, too.
            name = row["id"] if row["id"] in excluded else row["id"].removesuffix("r")
            if name in excluded:
                chosen.excluded.append(name)
            else:
                writer.add(_SPLIT, row)
    return writer.close()


def _write_texts(
    folder: Path, library: PaperLibrary, ids: set[str], round_name: str
) -> tuple[ListedConfiguration, Sequence[StageReport]]:
    """The texts of papers, in the order of their ids."""
    from builder.families import papers

    writer = writer_of(folder, ListedConfiguration(PAPERS, "papers", "papers"))
    for id_ in sorted(ids):
        read = library.read(id_)
        writer.add(_SPLIT, papers.row_of(read.paper, read.shown.text, round_name))
    return writer.close(), [StageReport(PAPERS, len(ids))]


def complete_row(row: Row, task: str, store: Store) -> Row | Lacking:
    """The whole row, or why it cannot be had."""
    paper = store.paper(row["paper_id"])
    if paper is None:
        return "missing_paper"
    hashes = hashes_of(row)
    whole: Row = {**{name: row[name] for name in KEPT}, "title": paper.title, "works": []}
    for i, work in enumerate(row["works"]):
        title = _title(work, store, hashes[f"works.{i}.title"])
        if title is None:
            return "changed_text"
        whole["works"].append({"title": title, **work})
    return whole if matches(texts(whole), hashes) else "changed_text"


def _title(work: Row, store: Store, sha256: str) -> str | None:
    paper = store.paper(work["paper"])
    lists = [document.references for document in (store.documents(paper.id) if paper else ())]
    titles = (entries[work["entry"]].title for entries in lists if work["entry"] < len(entries))
    return next((title for title in titles if sha256_of_bytes(title) == sha256), None)


_KEPT = 1024


def prepare(workspace: Workspace, engine: Engine) -> None:
    """Fetch and read works that the new papers cite, if contexts show their texts."""
    reading = workspace.round_.reading
    if reading.shows_cited:
        workspace.read_cited(_new_papers(workspace)[: reading.tried], reading.cited_papers, engine)


def write(workspace: Workspace, folder: Path, engine: Engine) -> Written:
    """Every configuration that the round asks for, and the texts of all papers that they show."""
    round_, table = workspace.round_, workspace.round_.reading
    if not table.chosen:
        return
    new = _new_papers(workspace)
    reasons = {paper.id: reason for paper in new if (reason := _reason(paper, workspace))}
    library = _library(workspace)
    asking = [
        each for family in families() if isinstance(family, ReadingBuilder) for each in family.asking(library, round_)
    ]
    yield from build(folder, library, new, reasons, asking, table.chosen, table.contexts, round_.round, round_.excluded)


def _new_papers(workspace: Workspace) -> list[Paper]:
    """The test papers, in the order of their rows."""
    new = (paper for paper in workspace.papers if workspace.dates.split_of(paper.published) == "test")
    return sorted(new, key=lambda paper: row_order(paper.versioned_id))


def _reason(paper: Paper, workspace: Workspace) -> ReadingReason | None:
    """Why there can be no context around a paper."""
    if paper.id in workspace.copies:
        return "near_duplicate"
    return None if allows(paper.license, workspace.round_.licenses) else "license"


def _library(workspace: Workspace) -> PaperLibrary:
    round_ = workspace.round_
    fit = [paper for paper in workspace.papers if _reason(paper, workspace) is None]
    around = neighbours(fit, workspace.graph, round_.seed, round_.reading.window_months)
    citing = {paper.id: partial(workspace.citing, paper) for paper in workspace.papers}
    return PaperLibrary(citing, lambda id_: workspace.store.cited_ids(id_).values(), _known(workspace), around)


def _known(workspace: Workspace) -> Callable[[str], Cited | None]:
    """What the workspace has of a cited work: its record, and its document if the round may show it."""
    round_, store = workspace.round_, workspace.store

    @lru_cache(maxsize=_KEPT)
    def known(id_: str) -> Cited | None:
        paper = next(store.papers([id_]), None)
        if paper is None or id_ in round_.taken_down:
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
    """A family whose rows are made, completed and checked as those of the other reading families."""
    return ReadingBuilder(
        schema=lambda _: SCHEMA,
        complete=complete_row,
        prepare=prepare,
        write=write,
        faults=reading_faults,
        measure=ReadingMeasure,
        asking=asking,
    )
