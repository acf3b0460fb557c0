"""Rows by likelihood on their way to a model: their keys in the journal, and what is noted of each."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from lm_eval.api.instance import Instance

from lm_eval_tasks.base.likelihood import Likelihood
from lm_eval_tasks.base.typed import typed
from lm_eval_tasks.compat.scored_texts import Question
from lm_eval_tasks.evaluate.prompt_request import digest_of
from lm_eval_tasks.llm.usage import Usage, most_tokens
from lm_eval_tasks.samples.prompt_row import PromptRow

# What of a row lm-eval calls one text of several.
_Row = tuple[str | None, Any, str]


@dataclass(frozen=True, slots=True)
class LikelihoodRequest:
    """A row's question, the row, and the key of its likelihoods in the journal."""

    key: str
    question: Question
    row: PromptRow

    @property
    def digest(self) -> str:
        return digest_of(self.question.prompt, self.question.texts)

    @property
    def most(self) -> Usage:
        """The most that asking can take: a server writes a token behind each text."""
        texts = self.question.texts
        known = self.row.tokens_after + self.row.answer_cap if self.row.tokens_before else None
        of_one = most_tokens(f"{self.question.prompt}{max(texts, key=len)}", known, 1)
        return Usage((of_one.tokens_in or 0) * len(texts), len(texts))


def likelihood_requests(requests: Sequence[Instance], identity: str) -> Iterator[LikelihoodRequest]:
    """Give each row its key; lm-eval asks for its texts one behind the other."""
    for _, together in groupby(requests, key=_row_of):
        of_row = list(together)
        prompt, texts = str(of_row[0].args[0]), tuple(str(request.args[1]) for request in of_row)
        key = digest_of(of_row[0].task_name, of_row[0].doc["id"], prompt, texts, identity)
        row = PromptRow.of_doc(of_row[0].doc)
        yield LikelihoodRequest(key, Question(prompt, texts, row.task), row)


def _row_of(request: Instance) -> _Row:
    return request.task_name, request.doc["id"], str(request.args[0])


def noted_as(likelihoods: Sequence[Likelihood]) -> list[dict[str, object]]:
    """Write likelihoods as the journal keeps them."""
    return [asdict(likelihood) for likelihood in likelihoods]


def read_noted(value: object, question: Question) -> tuple[Likelihood, ...] | None:
    """Read what `noted_as` wrote; None if it is something else, so that the row is asked again."""
    if not isinstance(value, list) or len(value) != len(question.texts):
        return None
    try:
        pairs = zip(value, question.texts, strict=True)
        known = tuple(Likelihood.of_logged(typed(Likelihood, each), text) for each, text in pairs)
    except ValueError:
        return None
    return known if all(likelihood.counts for likelihood in known) else None
