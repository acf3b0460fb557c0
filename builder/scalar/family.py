"""SCALAR as a family of questions: what `builder.dataset.families` asks of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builder.dataset.families import Family
from builder.dataset.manifest import Configuration
from builder.dataset.write import ConfigurationWriter
from builder.ids import bare_id
from builder.samples.tokens import TokenCounter, token_counter
from builder.scalar.completion import complete_question
from builder.scalar.rows import KIND, TASK, row_of, with_token_counts
from builder.scalar.stage import Asking, prepare
from lm_eval_tasks.core.row_format import POPULARITY, Measured
from lm_eval_tasks.retrieval.shortcuts import Chooser, choosers_of

if TYPE_CHECKING:
    from builder.dataset.row_kind import Row
    from builder.records import Split
    from builder.stage_report import StageReport
    from builder.workspace import Workspace
    from lm_eval_tasks.tasks.records import Level

_COUNTED_TOGETHER = 16


def write(workspace: Workspace, folder: Path) -> Iterator[tuple[Configuration, Sequence[StageReport]]]:
    """Every level that the round asks for."""
    asking = Asking(workspace)
    choosers = choosers_of(embed_local=workspace.round_.scalar.embed_local) | {POPULARITY: _by_citations(workspace)}
    for level in workspace.round_.scalar.chosen:
        questions, report = asking.questions(level)
        rows = {split: map(row_of, of_split) for split, of_split in questions.items()}
        yield write_level(folder, level, rows, workspace.round_.round, token_counter(), choosers), [report]


def write_level(
    folder: Path,
    level: Level,
    rows: Mapping[Split, Iterable[Row]],
    round_name: str,
    count: TokenCounter,
    choosers: Mapping[Measured, Chooser],
) -> Configuration:
    """Write the rows of one SCALAR level, as `rows.row_of` makes them."""
    writer = ConfigurationWriter(folder, Configuration(level.name, TASK, "questions"), choosers)
    for split, of_split in rows.items():
        waiting = iter(of_split)
        while group := list(islice(waiting, _COUNTED_TOGETHER)):
            for row in with_token_counts(group, round_name, count):
                writer.add(split, row)
    return writer.close()


def _by_citations(workspace: Workspace) -> Chooser:
    """Chooses the candidate that most papers of the round cite; of equal ones the first."""
    counts = Counter(id_ for paper in workspace.papers for id_ in set(workspace.store.cited_ids(paper.id).values()))

    def choose(row: Mapping[str, Any]) -> int:
        cited = [counts[bare_id(candidate["id"])] for candidate in row["candidates"]]
        return cited.index(max(cited))

    return choose


FAMILY = Family("Citation Cloze", KIND, complete_question, prepare, write)
