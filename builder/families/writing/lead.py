"""What the first words of the body score as an answer, measured when a round is built."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import median

from builder.families.registry import read_rows
from lm_eval_tasks.base.contract import LEAD
from lm_eval_tasks.base.figures import Bounds
from lm_eval_tasks.base.intervals import level
from lm_eval_tasks.base.manifest import ListedConfiguration
from lm_eval_tasks.base.rouge import rouge_l_content


def with_lead(folder: Path, configuration: ListedConfiguration) -> ListedConfiguration:
    """Add to the configuration of a writing setting what `lead` scores on its test split."""
    return with_score(configuration, lead_of(folder, configuration))


def with_score(configuration: ListedConfiguration, score: Bounds | None) -> ListedConfiguration:
    """Add to a configuration what `lead` scores on its test split, if that is known."""
    test = configuration.splits.get("test")
    if test is None or score is None:
        return configuration
    measured = replace(test.statistics, shortcuts={LEAD: score})
    return replace(configuration, splits={**configuration.splits, "test": replace(test, statistics=measured)})


def lead_of(folder: Path, configuration: ListedConfiguration) -> Bounds | None:
    """Return the ROUGE-L over content words of `lead` on the test split of a writing setting.

    As many words are taken as the median target of the train split has, as the baseline of that name does. Nothing is measured
    without a train split, or of rows by id only.
    """
    if configuration.form != "full" or "test" not in configuration.splits:
        return None
    lengths = [len(row["target"].split()) for row in read_rows(folder, configuration, "train", ["target"])]
    if not lengths:
        return None
    words = int(median(lengths))
    scores, authors = [], []
    for row in read_rows(folder, configuration, "test", ["content", "target", "authors"]):
        body = row["content"].replace(row["target"], "").split(maxsplit=words)
        scores.append(rouge_l_content(row["target"], " ".join(body[:words])))
        authors.append(row["authors"][0])
    return Bounds.of(level(scores, authors))
