"""What a stage did with the papers that it was given: kept, or dropped with a reason from its closed set."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

if TYPE_CHECKING:
    from lm_eval_tasks.base.figures import StageCounts

Stage = Literal["crawl", "extract", "link"]
# Those before the build.
STAGES: tuple[Stage, ...] = get_args(Stage)


@dataclass(slots=True)
class StageReport:
    """Counts of one stage; `seconds` is for display only and is never written to a dataset folder.

    Attributes:
        mended: what was left out of the records of kept papers -> of how many.
    """

    stage: str
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)
    seconds: float = 0.0
    mended: dict[str, int] = field(default_factory=dict)

    def drop(self, paper_id: str, reason: str) -> None:
        """Count one dropped paper; the first five ids of a reason are kept as examples, and all that were excluded by name."""
        self.dropped[reason] += 1
        examples = self.examples.setdefault(reason, [])
        if len(examples) < 5 or reason == "excluded":
            examples.append(paper_id)

    def give_up(self, reason: str) -> None:
        """Drop all that was kept."""
        self.dropped[reason] += self.kept
        self.kept = 0

    @property
    def total(self) -> int:
        return self.kept + self.dropped.total()

    def check(self, count: int) -> None:
        """Assert that every paper given to the stage is either kept or dropped."""
        if count != self.total:
            raise AssertionError(f"stage {self.stage}: {count} in, {self.kept} kept, {self.dropped} dropped")

    def counts(self) -> StageCounts:
        """Leave out what differs from run to run."""
        from lm_eval_tasks.base.figures import StageCounts

        return StageCounts(
            self.stage,
            self.total,
            self.kept,
            dict(sorted(self.dropped.items())),
            dict(sorted(self.examples.items())),
            self.mended,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        dropped, mended = Counter(data["dropped"]), data.get("mended", {})
        return cls(data["stage"], data["kept"], dropped, data["examples"], mended=mended)

    def to_dict(self) -> dict[str, Any]:
        counts = {"kept": self.kept, "dropped": dict(self.dropped), "mended": self.mended}
        return {"stage": self.stage, **counts, "examples": self.examples}

    def line(self) -> str:
        """Return one human-readable line: `extract: 86 in, 84 kept, no_sections 2 (4.1 s)`."""
        reasons = "".join(f", {reason} {n}" for reason, n in sorted(self.dropped.items()))
        mended = "".join(f"; left out of kept papers: {what} {n}" for what, n in sorted(self.mended.items()))
        return f"{self.stage}: {self.total} in, {self.kept} kept{reasons}{mended} ({self.seconds:.1f} s)"
