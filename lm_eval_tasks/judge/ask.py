"""Asking one judge about every sample in both orders; each verdict is journaled as soon as it arrives."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from lm_eval_tasks.base.errors import CostError, JudgeError, ServerError
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.base.progress import Progress
from lm_eval_tasks.judge.verdict import REPAIR, is_complete, parse, prompt_of
from lm_eval_tasks.llm.chat import GREEDY, Ask, Messages, NoAnswer, Server, Stopped, ask_all, served_models
from lm_eval_tasks.llm.usage import Usage, UsageTotals

if TYPE_CHECKING:
    from lm_eval_tasks.base.journal import Journal
    from lm_eval_tasks.llm.budget import Means

_MAX_TOKENS = 1024
USAGE = "usage"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two answers in one order; `task`, `id` and `order` go into the journal for its readers."""

    task: str
    id: str
    order: int
    first: str
    second: str
    evidence: str = ""

    @property
    def prompt(self) -> str:
        return prompt_of(self.first, self.second, self.evidence)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a question.

    Attributes:
        winners: overall and by dimension; None if the verdict could not be read or `failed` says why none came.
        text: what could not be read.
    """

    winners: dict[str, int] | None
    failed: str
    text: str = ""


class Judge:
    """A judging model.

    Raises:
        JudgeError: a key is missing, or the server does not serve the model.
        ServerError: the server cannot be reached.
    """

    def __init__(self, server: Server, concurrency: int, means: Means) -> None:
        if not os.environ.get("OPENAI_API_KEY") and server.base_url is None:
            raise JudgeError("no key: set OPENAI_API_KEY, or name your own server with --base-url")
        self.model, self._server, self._concurrency, self._means = server.model, server, concurrency, means
        served = served_models(server)
        if served and self.model not in served:
            listed = ", ".join(sorted(served)[:5])
            raise JudgeError(f"{server.base_url or 'the OpenAI API'} does not serve {self.model!r}; it has {listed}")

    def ask_all(self, questions: Iterable[Comparison], count: int, journal: Journal) -> None:
        """Ask every question that the journal has no verdict for; those that failed or could not be read are asked again.

        Raises:
            KeyboardInterrupt: it was asked to stop.
            ServerError: the server can no longer be asked; all verdicts so far are in the journal.
            CostError: the rest could pass the bound; likewise.
        """
        missing = self._unanswered(questions, journal)
        budget = self._means.budget(usages_of(journal))
        with Progress(f"judge {self.model}", count, 0) as progress:

            def note(keyed_question: tuple[str, Comparison], outcome: dict[str, object]) -> None:
                key, _ = keyed_question
                journal.add(key, _with_earlier_usage(outcome, journal.get(key)))
                progress.step()

            ask_all(self._server, missing, _keyed_verdict, note, self._concurrency, budget)

    def _unanswered(self, questions: Iterable[Comparison], journal: Journal) -> Iterator[tuple[str, Comparison]]:
        """The questions without a verdict that can be read, by their keys; two that are the same are one."""
        seen: set[str] = set()
        for question in questions:
            key = self.key(question)
            if key not in seen and not is_answered(self.model, question, journal):
                seen.add(key)
                yield key, question

    def outcome(self, question: Comparison, journal: Journal) -> Outcome | None:
        """What the journal says about a question; None if it says nothing that can be read."""
        return _outcome(journal.get(self.key(question)))

    def key(self, question: Comparison) -> str:
        """See `key_of`."""
        return key_of(self.model, question)


def usages_of(journal: Journal | Mapping[str, object]) -> list[Usage]:
    """What the verdicts of a journal took; a request that failed took nothing."""
    entries = (value for key in journal if isinstance(value := journal[key], dict))
    return [Usage.of_json(entry.get(USAGE)) for entry in entries if entry.get(USAGE) or not entry.get("failed")]


def key_of(model: str, question: Comparison) -> str:
    """sha256 over judge and prompt, which contains both answers in their order."""
    return sha256_of_bytes(json.dumps([model, question.prompt]))


def is_answered(model: str, question: Comparison, journal: Journal | Mapping[str, object]) -> bool:
    """Whether the journal has a verdict of a judge that can be read."""
    outcome = _outcome(journal.get(key_of(model, question)))
    return outcome is not None and outcome.winners is not None


def _outcome(value: object) -> Outcome | None:
    if not isinstance(value, dict):
        return None
    winners, failed = value.get("winners"), value.get("failed", "")
    if winners is not None and not is_complete(winners):
        return None
    # An earlier version may not have read what this one can.
    if winners is None and isinstance(text := value.get("text"), str) and (verdict := parse(text)):
        return Outcome(verdict, "")
    text = str(value.get("text") or "")
    return Outcome(winners, failed, text) if isinstance(failed, str) and "winners" in value else None


async def _keyed_verdict(ask: Ask, keyed_question: tuple[str, Comparison]) -> dict[str, object]:
    return await _verdict(ask, keyed_question[1])


async def _verdict(ask: Ask, question: Comparison) -> dict[str, object]:
    """The outcome of one question; an answer that cannot be read is asked for once more."""
    about = {"task": question.task, "id": question.id, "order": question.order}
    messages: Messages = [{"role": "user", "content": question.prompt}]
    text, usages = "", list[Usage]()

    async def request_text() -> str:
        answer = await ask(messages, _MAX_TOKENS, GREEDY)
        usages.append(answer.usage)
        return answer.text

    try:
        text = await request_text()
        verdict = parse(text)
        repaired = verdict is None
        if repaired:
            messages += [{"role": "assistant", "content": text}, {"role": "user", "content": REPAIR}]
            text = await request_text()
            verdict = parse(text)
    except (NoAnswer, ServerError, CostError, Stopped) as err:
        # An answer that was paid for is noted, whatever keeps the next question from being asked.
        if not isinstance(err, NoAnswer) and not usages:
            raise
        failed = {"failed": str(err)} if isinstance(err, NoAnswer) else {}
        return {**about, **_usage_entry(usages), "winners": None, **failed, **({"text": text} if text else {})}
    if verdict is None:
        return {**about, **_usage_entry(usages), "repaired": repaired, "winners": None, "text": text}
    return {**about, **_usage_entry(usages), "repaired": repaired, "winners": verdict}


def _with_earlier_usage(outcome: dict[str, object], earlier: object) -> dict[str, object]:
    """An outcome with what earlier answers to the question took too: they were paid for as well."""
    if not isinstance(earlier, dict) or not isinstance(earlier.get(USAGE), dict):
        return outcome
    both = [Usage.of_json(earlier[USAGE]), Usage.of_json(outcome.get(USAGE))]
    return {**outcome, **_usage_entry(both)}


def _usage_entry(usages: Sequence[Usage]) -> dict[str, object]:
    """The tokens of a question's answers together."""
    sums = asdict(UsageTotals.of(usages))
    return {USAGE: {name: value for name, value in sums.items() if value not in (None, {}) and name != "finish"}}
