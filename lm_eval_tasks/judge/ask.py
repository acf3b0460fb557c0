"""Asking a judge behind an OpenAI-compatible server: many at a time, each answer journaled, retries by the `openai` package."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from tqdm.auto import tqdm

from lm_eval_tasks.errors import JudgeError
from lm_eval_tasks.files import sha256_of_bytes
from lm_eval_tasks.judge.verdict import REPAIR, parse, prompt_of

if TYPE_CHECKING:
    from lm_eval_tasks.journal import Journal

# 429 and 5xx are tried so often, with the waiting time that the server names.
_RETRIES = 8
_TIMEOUT = 600.0
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

    Args:
        base_url: of the server; None for the `openai` package's own.

    Raises:
        JudgeError: the package or a key is missing, the server cannot be reached, or does not serve the model.
    """

    def __init__(self, model: str, base_url: str | None, concurrency: int) -> None:
        try:
            import openai
        except ModuleNotFoundError as err:
            raise JudgeError('judging needs openai: pip install "academiceval[judge]"') from err
        key = os.environ.get("OPENAI_API_KEY")
        if not key and base_url is None:
            raise JudgeError("no key: set OPENAI_API_KEY, or name a server of your own with --base-url")
        self.model, self._concurrency, self._openai = model, concurrency, openai
        self._client = openai.OpenAI(
            base_url=base_url, api_key=key or "none", max_retries=_RETRIES, timeout=_TIMEOUT
        )  # fmt: skip
        self._check(base_url or "the OpenAI API")

    def _check(self, where: str) -> None:
        """See that the server is there and serves the model; a server that lists none is believed."""
        try:
            served = {one.id for one in self._client.with_options(max_retries=1).models.list()}
        except self._openai.APIConnectionError as err:
            raise JudgeError(f"no answer from {where}: {err}; look at --base-url") from err
        except self._openai.AuthenticationError as err:
            raise JudgeError(f"{where} refuses the key in OPENAI_API_KEY") from err
        except self._openai.APIError:
            return
        if served and self.model not in served:
            raise JudgeError(f"{where} does not serve {self.model!r}; it has {', '.join(sorted(served)[:5])}")

    def ask_all(self, questions: Iterable[Question], total: int, journal: Journal) -> None:
        """Ask every question that the journal does not answer yet.

        When the process is told to end (SIGINT, SIGTERM) nothing new is asked, and what is under way is waited for and
        journaled, so that no answer is paid twice.

        Raises:
            KeyboardInterrupt: it was told to end.
            JudgeError: the server gave up on a question.
        """
        missing = (one for one in questions if self.key(one) not in journal)
        with (
            _told_to_end() as ended,
            ThreadPoolExecutor(self._concurrency) as threads,
            tqdm(total=total, desc=f"judge {self.model}", disable=None) as bar,
        ):
            under_way: dict[Future[dict[str, Any]], Question] = {}
            failed: Exception | None = None
            while True:
                if not ended and failed is None:
                    fresh = islice(missing, 2 * self._concurrency - len(under_way))
                    under_way |= {threads.submit(self._ask, one): one for one in fresh}
                if not under_way:
                    break
                for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                    question = under_way.pop(future)
                    try:
                        journal.add(self.key(question), future.result())
                        bar.update()
                    except self._openai.OpenAIError as err:
                        failed = failed or err
        if ended:
            raise KeyboardInterrupt
        if failed is not None:
            raise JudgeError(
                f"the judge {self.model!r} gave up: {failed}; the same command goes on from here"
            ) from failed

    def key(self, question: Question) -> str:
        """sha256 over judge and prompt, which holds both answers in their order."""
        return sha256_of_bytes(json.dumps([self.model, question.prompt]))

    def _ask(self, question: Question) -> dict[str, Any]:
        """One verdict; an answer that cannot be read is asked for once more."""
        messages: list[dict[str, str]] = [{"role": "user", "content": question.prompt}]
        text = self._complete(messages)
        verdict = parse(text)
        repaired = verdict is None
        if verdict is None:
            messages += [{"role": "assistant", "content": text}, {"role": "user", "content": REPAIR}]
            text = self._complete(messages)
            verdict = parse(text)
        return {
            "task": question.task, "id": question.id, "order": question.order, "repaired": repaired,
            "winners": verdict.winners if verdict else None, **({} if verdict else {"text": text}),
        }  # fmt: skip

    def _complete(self, messages: list[dict[str, str]]) -> str:
        reply = self._client.chat.completions.create(
            model=self.model, messages=messages, temperature=0, max_tokens=_MAX_TOKENS
        )
        return reply.choices[0].message.content or ""


@contextmanager
def _told_to_end() -> Iterator[list[int]]:
    """Collects the signals that ask the process to end; a second one ends it."""
    seen: list[int] = []

    def note(number: int, frame: object) -> None:
        if seen:
            raise KeyboardInterrupt
        seen.append(number)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield seen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
