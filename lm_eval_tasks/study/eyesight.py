"""What a metric notices, as a report card: its figures, its file, its table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from lm_eval_tasks.core.tables import Table, with_bounds
from lm_eval_tasks.study.damages.registry import DAMAGES

# A headline metric that notices a damage less often than this is called blind for it; 0.5 is chance.
BLIND = 0.75


@dataclass(frozen=True, slots=True)
class Eyesight:
    """How often a metric notices one damage.

    Attributes:
        accuracy: share of pairs in which the damaged text scores lower; equal scores count half.
        low, high: its 95 % interval over first authors; None with too few.
        n: pairs.
        none: how many texts have no place for the damage.
    """

    accuracy: float
    low: float | None
    high: float | None
    n: int
    none: int


@dataclass(frozen=True, slots=True)
class ReportCard:
    """What was measured.

    Attributes:
        damages: metric -> damage -> how often it is noticed.
        harmless: metric -> harmless change -> share of pairs in which the changed text scores lower, a false alarm.
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
        eyesights = list(self.harmless.get(metric, {}).values())
        pairs = sum(eyesight.n for eyesight in eyesights)
        return sum(eyesight.accuracy * eyesight.n for eyesight in eyesights) / pairs if pairs else None

    def to_json(self) -> dict[str, Any]:
        """{metric: {damage: {accuracy, low, high, n, harmless}}}."""
        return {
            metric: {
                damage: {
                    "accuracy": eyesight.accuracy,
                    "low": eyesight.low,
                    "high": eyesight.high,
                    "n": eyesight.n,
                    "harmless": self.alarm(metric),
                }
                for damage, eyesight in by_damage.items()
            }
            for metric, by_damage in self.damages.items()
        }


def table(card: ReportCard) -> Table:
    """A row for each damage, a column for each metric; "blind" after a headline metric that hardly notices it."""
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
                    max(cell.n for cell in cells if cell),
                    *(_cell(cell, is_headline=name in headline) for name, cell in zip(names, cells, strict=True)),
                )
            )
    alarms = ["-" if (share := card.alarm(name)) is None else f"{share:.3f}" for name in names]
    rows.append(("false alarms on harmless changes", None, *alarms))
    return Table(("Damage", "n", *names), "lr" + "r" * len(names), rows)


def _cell(eyesight: Eyesight | None, *, is_headline: bool) -> str:
    if eyesight is None:
        return "-"
    blind = " blind" if is_headline and eyesight.accuracy < BLIND else ""
    return with_bounds(eyesight.accuracy, eyesight.low, eyesight.high, ".2f") + blind
