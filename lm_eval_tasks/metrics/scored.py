"""What is scored, and an answer with its scores on its way through lm-eval."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from lm_eval_tasks.text import number, parse_json, valid

# What lm-eval prints: the headline metrics, or with --metadata '{"metrics": "all"}' every one.
HEADLINE, ALL = "headline", "all"
# Of tasks: what is written, or which candidate is named.
Kind = Literal["writing", "cloze"]


@dataclass(frozen=True, slots=True)
class Answers:
    """All answers of one task, in one order: what metrics are computed from.

    Attributes:
        docs: the rows, as `data.hook.load` gave them.
        texts: the answers, freed of reasoning and, for titles, of what surrounds them; for SCALAR the index of the
            candidate that an answer names, "" where it names none.
        raw: the answers freed of reasoning alone.
        unfinished: whether the reasoning of an answer was never finished.
        targets: the references.
        others: for each row another row's reference, always the same; empty where there is one row only.
    """

    docs: Sequence[Mapping[str, Any]]
    texts: Sequence[str]
    unfinished: Sequence[bool]
    targets: Sequence[str]
    others: Sequence[str] = ()
    raw: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """One answer as it was scored, with all its scores.

    lm-eval hands what a filter returns to the task and writes it, as text, into its samples: JSON comes back whole.
    """

    answer: str
    scores: dict[str, float]

    def to_text(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_text(cls, text: str) -> ScoredAnswer:
        """Read what `to_text` wrote.

        Raises:
            ValueError: it is something else.
        """
        content = parse_json(text)
        if not isinstance(content, dict) or not isinstance(content.get("scores"), dict):
            raise ValueError("no scored answer")
        return cls(valid(str(content["answer"])), {str(name): number(one) for name, one in content["scores"].items()})
