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
from lm_eval_tasks.judge.verdict import REPAIR, parse, prompt_of

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
        missing = (one for one in questions if failure(journal.get(self.key(one), {"failed": ""})) is not None)
        with tqdm(total=total, desc=f"judge {self.model}", disable=None) as bar:

            def note(question: Question, outcome: dict[str, Any]) -> None:
                journal.add(self.key(question), outcome)
                bar.update()

            ask_all(self._server, missing, _verdict, note, self._concurrency)

    def key(self, question: Question) -> str:
        """sha256 over judge and prompt, which holds both answers in their order."""
        return sha256_of_bytes(json.dumps([self.model, question.prompt]))


def failure(outcome: dict[str, Any]) -> str | None:
    """Why a question got no answer; None where it got one."""
    return outcome.get("failed")


async def _verdict(ask: Ask, question: Question) -> dict[str, Any]:
    """The outcome of one question; an answer that cannot be read is asked for once more."""
    about = {"task": question.task, "id": question.id, "order": question.order}
    messages: Messages = [{"role": "user", "content": question.prompt}]
    try:
        text = await ask(messages, _MAX_TOKENS)
        verdict = parse(text)
        repaired = verdict is None
        if repaired:
            messages += [{"role": "assistant", "content": text}, {"role": "user", "content": REPAIR}]
            text = await ask(messages, _MAX_TOKENS)
            verdict = parse(text)
    except NoAnswer as err:
        return {**about, "winners": None, "failed": str(err)}
    winners = verdict.winners if verdict else None
    return {**about, "repaired": repaired, "winners": winners, **({} if verdict else {"text": text})}
