"""What a round says of the questions of a SCALAR level: where the right candidate stands, and what programs score that do not read."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from builder.parquet.schema import Row
from lm_eval_tasks.base.contract import Measured
from lm_eval_tasks.base.figures import Bounds
from lm_eval_tasks.base.intervals import level
from lm_eval_tasks.base.typed import typed
from lm_eval_tasks.families.scalar.scalar_row import ScalarRow
from lm_eval_tasks.families.scalar.shortcuts import Chooser


@dataclass(slots=True)
class ScalarMeasure:
    """Counts the labels of questions, and what choosers get right."""

    choosers: Mapping[Measured, Chooser]
    labels: Counter[int] = field(default_factory=Counter)
    right: dict[Measured, list[float]] = field(default_factory=lambda: defaultdict(list))
    clusters: list[str] = field(default_factory=list)

    def add(self, row: Row, first_author: str) -> None:
        """Take one row; one by id alone has no text to choose by."""
        self.labels[row["label"]] += 1
        if "question" not in row:
            return
        self.clusters.append(first_author)
        asked = typed(ScalarRow, row)
        for name, choose in self.choosers.items():
            self.right[name].append(float(choose(asked) == asked.label))

    def results(self) -> dict[str, Any]:
        """Give `labels` and `shortcuts` of `Statistics`."""
        return {
            "labels": tuple(self.labels[position] for position in range(max(self.labels, default=-1) + 1)),
            "shortcuts": {name: Bounds.of(level(right, self.clusters)) for name, right in self.right.items()},
        }
