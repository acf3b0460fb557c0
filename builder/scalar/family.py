"""SCALAR as a family of questions: what `builder.dataset.families` asks of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builder.dataset.families import Family, Material
from builder.dataset.manifest import Configuration
from builder.dataset.write import ConfigurationWriter
from builder.ids import bare_id
from builder.samples.tokens import TokenCounter, token_counter
from builder.scalar.completion import complete_question
from builder.scalar.rows import KIND, TASK, row_of, with_token_counts
from builder.scalar.stage import Asking, read_cited
from lm_eval_tasks.core.row_format import POPULARITY, Measured
from lm_eval_tasks.retrieval.shortcuts import Chooser, choosers_of

if TYPE_CHECKING:
    from builder.dataset.row_kind import Row
    from builder.records import Split
    from builder.stage_report import StageReport
    from lm_eval_tasks.tasks.records import Level

_COUNTED_TOGETHER = 16


def write(material: Material, folder: Path) -> Iterator[tuple[Configuration, Sequence[StageReport]]]:
    """Every level that the round asks for."""
    asking = Asking(material)
    choosers = choosers_of(embed_local=material.round_.scalar.embed_local) | {POPULARITY: _by_citations(material)}
    for level in material.round_.scalar.chosen:
        questions, report = asking.questions(level)
        rows = {split: map(row_of, of_split) for split, of_split in questions.items()}
        yield write_level(folder, level, rows, material.round_.round, token_counter(), choosers), [report]


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


def _by_citations(material: Material) -> Chooser:
    """Chooses the candidate that most papers of the round cite; of equal ones the first."""
    counts = Counter(id_ for paper in material.papers for id_ in set(material.store.cited_ids(paper.id).values()))

    def choose(row: Mapping[str, Any]) -> int:
        cited = [counts[bare_id(candidate["id"])] for candidate in row["candidates"]]
        return cited.index(max(cited))

    return choose


FAMILY = Family("Citation Cloze", KIND, complete_question, read_cited, write)
