"""What is scored, and an answer with its scores on its way through lm-eval."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

from lm_eval_tasks.core.text import number, parse_json, valid

if TYPE_CHECKING:
    from lm_eval_tasks.metrics.cited import Cited

# Why the answer ended of a baseline that has none to give, such as a copied demonstration if there are none.
NOT_APPLICABLE = "not applicable"
# Of tasks: what is written, or which candidate is named.
Kind = Literal["writing", "cloze"]


class Generated(str):
    """An answer as an engine gave it.

    Attributes:
        finish: why it ended, "stop" or "length"; "" if the engine does not say.
    """

    finish: str = ""

    @classmethod
    def of(cls, text: str, finish: str) -> Generated:
        """A text with the reason why it ended."""
        made = cls(text)
        made.finish = finish
        return made


@dataclass(frozen=True)
class Answers:
    """All answers of one task, in one order: what metrics are computed from.

    Attributes:
        docs: the rows, as `data.hook.load` gave them.
        texts: the answers without reasoning and, for titles, without what surrounds them; for SCALAR the index of the
            candidate that an answer names, "" if it names none.
        raw: the answers without reasoning, otherwise as they came.
        unfinished: whether the reasoning of an answer was never finished.
        targets: the references.
        others: for each row another row's reference, always the same; empty if there is only one row.
        whole: the answers as they came, reasoning included.
    """

    docs: Sequence[Mapping[str, Any]]
    texts: Sequence[str]
    unfinished: Sequence[bool]
    targets: Sequence[str]
    others: Sequence[str] = ()
    raw: Sequence[str] = ()
    whole: Sequence[str] = ()

    @cached_property
    def cited(self) -> list[Cited | None]:
        """How each answer cites by number, for several metrics; None for tasks that do not ask for it."""
        from lm_eval_tasks.metrics.cited import Cited, Given

        pairs = zip(self.texts, self.docs, strict=True)
        return [Cited(text, Given.of(doc)) if doc.get("by_number") else None for text, doc in pairs]


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """One answer as it was scored, with all its scores.

    lm-eval hands what a filter returns to the task and writes it, as text, into its samples: JSON comes back whole.

    Attributes:
        repeats: the scores of each answer, if one prompt was answered several times; `scores` are then their means.
    """

    answer: str
    scores: dict[str, float]
    repeats: tuple[dict[str, float], ...] = ()

    def to_text(self) -> str:
        content = asdict(self)
        if not self.repeats:
            del content["repeats"]
        return json.dumps(content, ensure_ascii=False)

    @classmethod
    def from_text(cls, text: str) -> ScoredAnswer:
        """Read what `to_text` wrote.

        Raises:
            ValueError: it is something else.
        """
        content = parse_json(text)
        if not isinstance(content, dict) or not isinstance(content.get("scores"), dict):
            raise ValueError("no scored answer")
        repeats = tuple(_scores(one) for one in content.get("repeats", ()))
        return cls(valid(str(content["answer"])), _scores(content["scores"]), repeats)


def _scores(content: Mapping[str, Any]) -> dict[str, float]:
    return {str(name): number(one) for name, one in content.items()}


def mean_of(answers: Sequence[ScoredAnswer]) -> ScoredAnswer:
    """All answers to one prompt as one, which is the first with their mean scores."""
    if len(answers) == 1:
        return answers[0]
    names = [name for name in answers[0].scores if all(name in one.scores for one in answers)]
    return ScoredAnswer(
        answers[0].answer, {name: fmean(one.scores[name] for one in answers) for name in names},
        tuple(one.scores for one in answers),
    )  # fmt: skip
