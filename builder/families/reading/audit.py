"""The audit of the reading families' whole rows: dates, papers that are shown twice, answers that the question shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from builder.dataset.families import Row
from builder.dataset.manifest import Configuration
from builder.dataset.rows import rows_of
from builder.ids import bare_id
from lm_eval_tasks.base.text import title_key
from lm_eval_tasks.families import of_task
from lm_eval_tasks.families.reading import ReadingFamily

CHECKS = ("context_newer", "context_repeats", "answer_visible")


def reading_faults(folder: Path, configurations: Iterable[Configuration]) -> dict[str, list[str]]:
    """Check -> the rows that fail it, as "Configuration id"."""
    every = list(configurations)
    titles = {
        row["id"]: title_key(row["title"])
        for configuration in every
        if configuration.form == "papers"
        for _, row in rows_of(folder, configuration)
    }
    faults: dict[str, list[str]] = {name: [] for name in CHECKS}
    for configuration in every:
        if configuration.form == "questions" and isinstance(of_task(configuration.task), ReadingFamily):
            for _, row in rows_of(folder, configuration):
                for name in _faults(row, titles):
                    faults[name].append(f"{configuration.name} {row['id']}")
    return faults


def _faults(row: Row, titles: Mapping[str, str]) -> Iterator[str]:
    ids = [paper["id"] for paper in row["papers"]]
    if any(paper["published"] > row["published"] for paper in row["papers"]):
        yield "context_newer"
    if len(set(map(bare_id, ids))) < len(ids):
        yield "context_repeats"
    asked = {title_key(work["title"]) for work in row["works"]}
    if not asked.isdisjoint(titles.get(id_, "") for id_ in ids):
        yield "answer_visible"
