"""Asking one judge about every sample in both orders; each verdict is journaled as soon as it is there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tqdm.auto import tqdm

from lm_eval_tasks.chat import Ask, Messages, NoAnswer, Server, ask_all, served_models
from lm_eval_tasks.errors import JudgeError
from lm_eval_tasks.files import sha256_of_bytes
from lm_eval_tasks.judge.verdict import REPAIR, is_complete, parse, prompt_of

if TYPE_CHECKING:
    from lm_eval_tasks.journal import Journal

_MAX_TOKENS = 1024


@dataclass(frozen=True, slots=True)
class Question:
    """Two answers in one order; `task`, `id` and `order` go into the journal for its readers."""

    task: str
    id: str
    order: int
    first: str
    second: str

    @property
    def prompt(self) -> str:
        return prompt_of(self.first, self.second)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a question: the winners by dimension, None where the verdict could not be read or `failed` says why none came."""

    winners: dict[str, int] | None
    failed: str


class Judge:
    """A judging model.

    Raises:
        JudgeError: a key is missing, or the server does not serve the model.
        ServerError: the server cannot be reached.
    """

    def __init__(self, server: Server, concurrency: int) -> None:
        if not os.environ.get("OPENAI_API_KEY") and server.base_url is None:
            raise JudgeError("no key: set OPENAI_API_KEY, or name a server of your own with --base-url")
        self.model, self._server, self._concurrency = server.model, server, concurrency
        served = served_models(server)
        if served and self.model not in served:
            listed = ", ".join(sorted(served)[:5])
            raise JudgeError(f"{server.base_url or 'the OpenAI API'} does not serve {self.model!r}; it has {listed}")

    def ask_all(self, questions: Iterable[Question], total: int, journal: Journal) -> None:
        """Ask every question that the journal has no verdict for, those that failed in an earlier run included.

        Raises:
            KeyboardInterrupt: it was told to end.
            ServerError: the server cannot be asked any more; all verdicts so far are in the journal.
        """
        missing = (one for one in questions if (known := self.outcome(one, journal)) is None or known.failed)
        with tqdm(total=total, desc=f"judge {self.model}", disable=None) as bar:

            def note(question: Question, outcome: dict[str, Any]) -> None:
                journal.add(self.key(question), outcome)
                bar.update()

            ask_all(self._server, missing, _verdict, note, self._concurrency)

    def outcome(self, question: Question, journal: Journal) -> Outcome | None:
        """What the journal says of a question; None where it says nothing that could be read."""
        return _outcome(journal.get(self.key(question)))

    def key(self, question: Question) -> str:
        """sha256 over judge and prompt, which holds both answers in their order."""
        return sha256_of_bytes(json.dumps([self.model, question.prompt]))


def _outcome(value: object) -> Outcome | None:
    if not isinstance(value, dict):
        return None
    winners, failed = value.get("winners"), value.get("failed", "")
    if winners is not None and not is_complete(winners):
        return None
    return Outcome(winners, failed) if isinstance(failed, str) and "winners" in value else None


async def _verdict(ask: Ask, question: Question) -> dict[str, Any]:
    """The outcome of one question; an answer that cannot be read is asked for once more."""
    about = {"task": question.task, "id": question.id, "order": question.order}
    messages: Messages = [{"role": "user", "content": question.prompt}]
    text = ""
    try:
        text = await ask(messages, _MAX_TOKENS)
        verdict = parse(text)
        repaired = verdict is None
        if repaired:
            messages += [{"role": "assistant", "content": text}, {"role": "user", "content": REPAIR}]
            text = await ask(messages, _MAX_TOKENS)
            verdict = parse(text)
    except NoAnswer as err:
        return {**about, "winners": None, "failed": str(err), **({"text": text} if text else {})}
    winners = verdict.winners if verdict else None
    return {**about, "repaired": repaired, "winners": winners, **({} if verdict else {"text": text})}
