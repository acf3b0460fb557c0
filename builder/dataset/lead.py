"""What the first words of a paper's body score as its title, abstract, introduction or related work: the shortcut `lead`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from builder.dataset.manifest import Configuration, bounds_of
from lm_eval_tasks.base.intervals import level
from lm_eval_tasks.base.row_format import LEAD
from lm_eval_tasks.metrics.rouge import rouge_l_content

if TYPE_CHECKING:
    from builder.records import Split


def with_lead(folder: Path, configuration: Configuration) -> Configuration:
    """The configuration of a writing setting with the ROUGE-L over content words of `lead` on its test split.

    As many words are taken as the median target of the train split has, as the baseline of that name does. Nothing is measured
    without a train split, or of rows by id only.

    Args:
        folder: the dataset folder, in which the configuration is written.
    """
    test = configuration.splits.get("test")
    if configuration.form != "full" or not configuration.is_writing or test is None:
        return configuration
    lengths = [len(row["target"].split()) for row in _rows(folder, configuration, "train", ["target"])]
    if not lengths:
        return configuration
    words = int(median(lengths))
    scores, authors = [], []
    for row in _rows(folder, configuration, "test", ["content", "target", "authors"]):
        shown = row["content"].replace(row["target"], "")
        scores.append(rouge_l_content(row["target"], " ".join(shown.split()[:words])))
        authors.append(row["authors"][0])
    measured = replace(test.statistics, shortcuts={LEAD: bounds_of(level(scores, authors))})
    return replace(configuration, splits={**configuration.splits, "test": replace(test, statistics=measured)})


def _rows(folder: Path, configuration: Configuration, split: Split, columns: list[str]) -> Iterator[dict[str, Any]]:
    for file in configuration.files(split):
        for batch in pq.ParquetFile(folder / file.path).iter_batches(64, columns=columns):
            yield from batch.to_pylist()
