"""Answers of a model: as an engine gives them, as they are scored, and with their scores on their way through lm-eval."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean

from lm_eval_tasks.base.likelihood import Likelihood
from lm_eval_tasks.base.text import parse_json, valid
from lm_eval_tasks.base.typed import Count, Number, typed
from lm_eval_tasks.llm.thoughts import take_apart
from lm_eval_tasks.samples.prompt_row import PromptRow

# Why the answer ended of a baseline that has none to give, such as a copied demonstration if there are none.
NOT_APPLICABLE = "not applicable"
# What a metric gives the answers, None for one that has no value.
Values = Sequence[float | None]


class Generated(str):
    """An answer as an engine gave it.

    Attributes:
        finish: why it ended, "stop" or "length"; "" if the engine does not say.
    """

    finish: str = ""

    @classmethod
    def of(cls, text: str, finish: str) -> "Generated":
        answer = cls(text)
        answer.finish = finish
        return answer


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer to a prompt, as metrics see it.

    Attributes:
        text: what is scored: without reasoning, for titles without what surrounds them; for SCALAR the index of the
            candidate that the answer names, "" if it names none.
        reply: without reasoning, otherwise as it came.
        full: as it came, reasoning included.
        finish: why it ended, see `Generated`.
        unfinished: whether its reasoning was never finished.
        likelihoods: of the texts that a row by likelihood asks for.
    """

    row: PromptRow
    text: str
    reply: str
    full: str
    finish: str = ""
    unfinished: bool = False
    likelihoods: tuple[Likelihood, ...] = ()

    @classmethod
    def of(cls, row: PromptRow, text: str | None, refine: Callable[[str, PromptRow], str]) -> "Answer":
        """Take a model's answer apart, as lm-eval hands it over (None for no answer); `refine` says what is scored of a reply."""
        full = valid(text or "")
        reply = take_apart(full, row.opens, row.closes, row.begins)
        finish = str(getattr(text, "finish", ""))
        return cls(row, refine(reply.answer, row), reply.answer, full, finish, reply.unfinished)


class Answers:
    """All answers of one task, in one order: what metrics are computed from."""

    def __init__(self, each: Iterable[Answer]) -> None:
        self.each = tuple(each)
        self.rows = [answer.row for answer in self.each]
        self.texts = [answer.text for answer in self.each]
        # The references.
        self.targets = [row.target for row in self.rows]


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """One answer as it was scored, with all its scores.

    lm-eval hands what a filter returns to the task and writes it, as text, into its samples: JSON comes back whole.

    Attributes:
        repeats: the scores of each answer, if one prompt was answered several times; `scores` are then their means.
        failed: metrics that could not be computed.
        scorer: the version of what read and scored it, see `families.score.SCORER`; 0 if it is not known.
        asked: what it was scored as an answer to, see `families.score`; "" if it is not known.
    """

    answer: str
    scores: dict[str, Number]
    repeats: tuple[dict[str, Number], ...] = ()
    failed: tuple[str, ...] = ()
    scorer: Count = 0
    asked: str = ""

    def to_text(self) -> str:
        return json.dumps(
            {name: value for name, value in asdict(self).items() if value or name in ("answer", "scores")},
            ensure_ascii=False,
        )

    @classmethod
    def from_text(cls, text: str) -> "ScoredAnswer":
        """Read what `to_text` wrote; a ValueError if it is something else."""
        return typed(cls, parse_json(text, unique=True))


def mean_of(answers: Sequence[ScoredAnswer]) -> ScoredAnswer:
    """Return all answers to one prompt as one, which is the first; each score is the mean over the answers that have it."""
    if len(answers) == 1:
        return answers[0]
    names = dict.fromkeys(name for answer in answers for name in answer.scores)
    means = {name: fmean(answer.scores[name] for answer in answers if name in answer.scores) for name in names}
    failed = tuple(dict.fromkeys(name for answer in answers for name in answer.failed))
    return ScoredAnswer(answers[0].answer, means, tuple(answer.scores for answer in answers), failed)
