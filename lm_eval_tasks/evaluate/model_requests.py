"""What is asked of a model, by prompts and by likelihood: the row, the key of its answer in the journal, and the most that it can take."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from lm_eval.api.instance import Instance

from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.base.likelihood import Likelihood
from lm_eval_tasks.base.typed import typed
from lm_eval_tasks.compat.scored_texts import Question
from lm_eval_tasks.llm.usage import Usage, most_tokens
from lm_eval_tasks.samples.prompt_row import PromptRow

# What servers call the most tokens of an answer.
NAMES_OF_CAP = ("max_gen_toks", "max_tokens", "max_completion_tokens", "max_new_tokens")


@dataclass(frozen=True, slots=True)
class PromptRequest:
    """A request, the row that it asks, the key of its answer in the journal, and the bytes of the system prompt before it."""

    key: str
    request: Instance
    row: PromptRow
    before: int = 0

    @property
    def digest(self) -> str:
        prompt, arguments = self.request.args
        return digest_of(str(prompt), arguments)

    @property
    def samples(self) -> bool:
        arguments = self.request.args[1]
        return bool(arguments.get("do_sample") or arguments.get("temperature"))

    @property
    def most(self) -> Usage:
        prompt, arguments = self.request.args
        prompt_tokens = self.row.tokens_after + self.before if self.row.tokens_before else None
        given = (arguments.get(name) for name in NAMES_OF_CAP)
        cap = max((value for value in given if isinstance(value, int)), default=0) or self.row.answer_cap
        # A server may be asked for several answers; the parameter may be one that it is not sent.
        count = arguments.get("n")
        return most_tokens(str(prompt), prompt_tokens, cap * (count if isinstance(count, int) else 1))


def digest_of(*content: object) -> str:
    """Hash what tells one request from another."""
    return sha256_of_bytes(json.dumps(content, sort_keys=True, default=str))


def requests_of(requests: Sequence[Instance], identity: str, before: int = 0) -> Iterator[PromptRequest]:
    """Give the requests their keys, of sample, prompt, model and generation arguments; one that is repeated has a key for each time."""
    seen: Counter[str] = Counter()
    for request in requests:
        prompt, arguments = request.args
        key = digest_of(request.task_name, request.doc["id"], str(prompt), arguments, identity)
        seen[key] += 1
        unique_key = key if seen[key] == 1 else sha256_of_bytes(f"{key} {seen[key]}")
        yield PromptRequest(unique_key, request, PromptRow.of_doc(request.doc), before)


# --- rows by likelihood


@dataclass(frozen=True, slots=True)
class LikelihoodRequest:
    """A row's question, the row, and the key of its likelihoods in the journal."""

    key: str
    question: Question
    row: PromptRow
    before: int = 0

    @property
    def digest(self) -> str:
        return digest_of(self.question.prompt, self.question.texts)

    @property
    def most(self) -> Usage:
        """The most that asking can take: a server writes a token behind each text."""
        texts = self.question.texts
        known = self.row.tokens_after + self.row.answer_cap + self.before if self.row.tokens_before else None
        of_one = most_tokens(f"{self.question.prompt}{max(texts, key=len)}", known, 1)
        return Usage((of_one.tokens_in or 0) * len(texts), len(texts))


def likelihood_requests(requests: Sequence[Instance], identity: str, before: int = 0) -> Iterator[LikelihoodRequest]:
    """Give each row its key; lm-eval asks for its texts one behind the other."""
    for _, together in groupby(requests, key=_what_is_shared):
        of_row = list(together)
        prompt, texts = str(of_row[0].args[0]), tuple(str(request.args[1]) for request in of_row)
        key = digest_of(of_row[0].task_name, of_row[0].doc["id"], prompt, texts, identity)
        row = PromptRow.of_doc(of_row[0].doc)
        yield LikelihoodRequest(key, Question(prompt, texts, row.task), row, before)


def _what_is_shared(request: Instance) -> tuple[str | None, Any, str]:
    """Return what the requests of one row have in common."""
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
