"""What a metric notices, as a report card: its figures, its file, its table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from lm_eval_tasks.core.tables import Table, counts_text
from lm_eval_tasks.study.damages.registry import DAMAGES, HARMLESS

# A headline metric that notices a damage less often than this is called blind for it.
BLIND = 0.75


@dataclass(frozen=True, slots=True)
class Eyesight:
    """How often a metric notices one damage.

    Attributes:
        lower, equal, higher: pairs in which the damaged text scores lower than the original, and so on.
        low, high: the 95 % interval of the share that scores lower, over first authors; None with too few.
    """

    lower: int
    equal: int
    higher: int
    low: float | None
    high: float | None

    @property
    def n(self) -> int:
        return self.lower + self.equal + self.higher

    @property
    def accuracy(self) -> float:
        """The share of pairs in which the damaged text scores lower: noticed; after a harmless change, a false alarm."""
        return self.lower / self.n


@dataclass(frozen=True, slots=True)
class ReportCard:
    """What was measured.

    Attributes:
        damages: metric -> damage -> how often it is noticed.
        harmless: metric -> harmless change -> the same; a lower score is a false alarm.
    """

    damages: dict[str, dict[str, Eyesight]]
    harmless: dict[str, dict[str, Eyesight]]

    @classmethod
    def together(cls, cards: Iterable[ReportCard]) -> ReportCard:
        """Several report cards as one."""
        damages: dict[str, dict[str, Eyesight]] = {}
        harmless: dict[str, dict[str, Eyesight]] = {}
        for card in cards:
            for merged, part in ((damages, card.damages), (harmless, card.harmless)):
                for metric, by_change in part.items():
                    merged.setdefault(metric, {}).update(by_change)
        return cls(damages, harmless)

    def alarm(self, metric: str) -> float | None:
        """The share of false alarms over all harmless changes."""
        eyesights = self.harmless.get(metric, {}).values()
        return sum(eyesight.lower for eyesight in eyesights) / pairs if (pairs := self.alarm_pairs(metric)) else None

    def alarm_pairs(self, metric: str) -> int:
        """How many harmless changes the metric was given."""
        return sum(eyesight.n for eyesight in self.harmless.get(metric, {}).values())

    def to_json(self) -> dict[str, Any]:
        """{metric: {damage: {accuracy, low, high, n, lower, equal, higher, harmless}}}."""
        return {
            metric: {
                damage: {
                    "accuracy": eyesight.accuracy,
                    "low": eyesight.low,
                    "high": eyesight.high,
                    "n": eyesight.n,
                    "lower": eyesight.lower,
                    "equal": eyesight.equal,
                    "higher": eyesight.higher,
                    "harmless": self.alarm(metric),
                }
                for damage, eyesight in by_damage.items()
            }
            for metric, by_damage in self.damages.items()
        }


def table(card: ReportCard) -> Table:
    """A row for each change, a column for each metric; "blind" after a headline metric that hardly notices a damage."""
    from lm_eval_tasks.metrics import registry

    headline = registry.headline()
    names = [name for name in card.damages if card.damages[name]]
    rows = []
    for kind in DAMAGES:
        cells = [card.damages[name].get(kind.name) for name in names]
        if any(cells):
            rows.append(
                (
                    kind.label,
                    *(_cell(cell, is_headline=name in headline) for name, cell in zip(names, cells, strict=True)),
                )
            )
    for kind in HARMLESS:
        cells = [card.harmless.get(name, {}).get(kind.name) for name in names]
        if any(cells):
            rows.append((f"harmless: {kind.label}", *(_cell(cell, is_headline=False) for cell in cells)))
    return Table(("Change", *names), "l" + "r" * len(names), rows)


def _cell(eyesight: Eyesight | None, *, is_headline: bool) -> str:
    if eyesight is None:
        return "-"
    blind = " blind" if is_headline and eyesight.accuracy < BLIND else ""
    return counts_text(eyesight.lower, eyesight.equal, eyesight.higher, eyesight.low, eyesight.high) + blind
