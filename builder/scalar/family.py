"""SCALAR as a family of questions: what `builder.dataset.families` asks of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from builder.dataset.families import Family, Material
from builder.dataset.manifest import Configuration
from builder.dataset.write import ConfigurationWriter
from builder.samples.tokens import TokenCounter, token_counter
from builder.scalar.completion import complete_question
from builder.scalar.rows import KIND, TASK, row_of, with_token_counts
from builder.scalar.stage import Asking, read_cited
from lm_eval_tasks.core.row_format import Shortcut, shortcuts_of

if TYPE_CHECKING:
    from builder.dataset.row_kind import Row
    from builder.records import Split
    from builder.stage_report import StageReport
    from lm_eval_tasks.tasks.records import Level

_COUNTED_TOGETHER = 16


def write(material: Material, folder: Path) -> Iterator[tuple[Configuration, Sequence[StageReport]]]:
    """Every level that the round asks for."""
    asking = Asking(material)
    shortcuts = shortcuts_of(embed_local=material.round_.scalar.embed_local)
    for level in material.round_.scalar.chosen:
        questions, report = asking.questions(level)
        rows = {split: map(row_of, of_split) for split, of_split in questions.items()}
        yield write_level(folder, level, rows, material.round_.round, token_counter(), shortcuts), [report]


def write_level(
    folder: Path,
    level: Level,
    rows: Mapping[Split, Iterable[Row]],
    round_name: str,
    count: TokenCounter,
    shortcuts: Sequence[Shortcut],
) -> Configuration:
    """Write the rows of one SCALAR level, as `rows.row_of` makes them."""
    writer = ConfigurationWriter(folder, Configuration(level.name, TASK, "questions"), shortcuts)
    for split, of_split in rows.items():
        waiting = iter(of_split)
        while group := list(islice(waiting, _COUNTED_TOGETHER)):
            for row in with_token_counts(group, round_name, count):
                writer.add(split, row)
    return writer.close()


FAMILY = Family("Citation Cloze", KIND, complete_question, read_cited, write)
