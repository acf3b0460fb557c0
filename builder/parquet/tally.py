"""What the rows of a split say together: the statistics of a manifest, in the making."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import ceil
from typing import Any, Protocol

import networkx as nx

from builder.parquet.schema import Row
from lm_eval_tasks.base.figures import QUANTILES, Statistics
from lm_eval_tasks.base.intervals import detectable_with


class Measure(Protocol):
    """What a family measures of its own rows while they are written."""

    def add(self, row: Row, first_author: str) -> None:
        """Take one row, whole or by id."""

    def results(self) -> dict[str, Any]:
        """Give the family's own fields of `Statistics`."""


@dataclass(slots=True)
class Tally:
    """`Statistics` in the making.

    Attributes:
        spread: standard deviation between samples, of a difference between two models; None where rows are no samples.
        measure: of the rows' family; None if it measures nothing.
    """

    spread: float | None
    measure: Measure | None = None
    inputs: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    days: Counter[str] = field(default_factory=Counter)
    licenses: Counter[str] = field(default_factory=Counter)
    authors: Counter[str] = field(default_factory=Counter)
    co_authors: nx.Graph[str] = field(default_factory=nx.Graph)

    def add(self, row: Row) -> None:
        """Count one row."""
        self.inputs.append(row["input_tokens"])
        self.days[row["published"]] += 1
        self.licenses[row["license"]] += 1
        first_author: str = next(iter(row["authors"]), row.get("paper_id") or row["id"])
        self.authors[first_author] += 1
        nx.add_star(self.co_authors, [first_author, *row["authors"]])
        # Questions have none.
        if "target_tokens" in row:
            self.targets.append(row["target_tokens"])
        if self.measure:
            self.measure.add(row, first_author)

    def close(self) -> Statistics:
        """Give the statistics of all rows."""
        groups = [sum(self.authors[name] for name in group) for group in nx.connected_components(self.co_authors)]
        smallest = self.spread and detectable_with(self.authors.values(), self.spread)
        return Statistics(
            samples=len(self.inputs),
            input_tokens=sum(self.inputs),
            target_tokens=sum(self.targets),
            first=min(self.days, default=""),
            last=max(self.days, default=""),
            licenses=dict(sorted(self.licenses.items())),
            input_lengths=_lengths(self.inputs),
            target_lengths=_lengths(self.targets),
            detectable=smallest and round(smallest, 4),
            one_group=round(max(groups) / sum(groups), 4) if groups else None,
            **(self.measure.results() if self.measure else {}),
        )


def _lengths(tokens: list[int]) -> tuple[int, ...]:
    """Find the lengths at each of `QUANTILES`, by nearest rank."""
    ordered = sorted(tokens)
    return tuple(ordered[ceil(share * len(ordered)) - 1] for share in QUANTILES) if ordered else ()
