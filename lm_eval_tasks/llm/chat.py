"""Asking a language model behind an OpenAI-compatible server: many questions at a time, each answer handed over at once.

Whatever goes wrong with one question is its outcome. Only a server that cannot be asked at all ends the asking.
"""

import asyncio
import logging
import math
import signal
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeVar

from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_exponential, wait_random

from lm_eval_tasks.base.completions import CompletionError, readable
from lm_eval_tasks.base.errors import CostError, ServerError
from lm_eval_tasks.base.progress import announce_wait, failure_of, retry_after
from lm_eval_tasks.base.redaction import redact
from lm_eval_tasks.base.text import valid
from lm_eval_tasks.llm.ledger import Purse
from lm_eval_tasks.llm.thoughts import in_marks
from lm_eval_tasks.llm.usage import Usage, at_most, most_tokens

_Q = TypeVar("_Q")
_V = TypeVar("_V")
Messages = list[dict[str, str]]


# Messages, and the most tokens of an answer -> the answer, and what it used.
Ask = Callable[[Messages, int], Awaitable[tuple[str, Usage]]]
_LOGGER = logging.getLogger(__name__)
# How often 429, 5xx and lost answers are retried, after the waiting time that the server names.
_RETRIES = 8
_REFUSALS, _TRANSIENT = frozenset({401, 403}), frozenset({408, 409, 425, 429})
_WAIT = wait_exponential(0.5, max=8.0) + wait_random(0, 0.5)
_STEP = 0.5
# Of a server that gave up waiting, behind which the model may have answered.
_TIMED_OUT = (408, 504)
# For an answer that is not one, such as a page of HTML with status 200.
_ODD_TRIES = 3
# This many failures in a row are the server's fault, not the questions'.
_MOST_FAILURES = 20
# OpenAI's: they use another name for the cap, and take no temperature.
_REASONING_MODELS = ("o1", "o3", "o4", "gpt-5")
_GREEDY: Mapping[str, object] = {"temperature": 0}
_AGAIN = "the answers so far are kept, and the same command resumes from them"


@dataclass(frozen=True, slots=True)
class Server:
    """A model at a server, whose address is None for the `openai` package's own, and the seconds that one request may take, from first byte
    to last.
    """

    model: str
    base_url: str | None
    deadline: float = 600.0

    def __str__(self) -> str:
        return f"{self.model!r} at {self.base_url or 'the OpenAI API'}"


_FREE = Purse()


class NoAnswer(Exception):
    """One question could not be answered; the message says why, `usage` what responses without an answer were charged."""

    def __init__(self, reason: str, usage: Usage | None = None) -> None:
        super().__init__(reason)
        self.usage = usage


class _Transient(NoAnswer):
    """A request that failed in a way that may pass; with the seconds that the server asks to wait."""

    def __init__(self, reason: str, wait: float = 0.0) -> None:
        super().__init__(reason)
        self.wait = wait


class Stopped(Exception):
    """The process was asked to stop while a question was waiting to be asked again."""


async def served_models(server: Server) -> frozenset[str]:
    """The models that a server says it serves; none if it does not say. A ServerError if it cannot be reached, or refuses the key."""
    import openai

    from lm_eval_tasks.compat.openai import client_of

    try:
        async with client_of(server.base_url, server.deadline) as client:
            return frozenset([str(model.id) async for model in client.with_options(max_retries=1).models.list()])
    except openai.APIConnectionError as err:
        raise ServerError(f"no answer from {server.base_url or 'the OpenAI API'}: {err}") from err
    except openai.AuthenticationError as err:
        raise ServerError(f"{server.base_url or 'the OpenAI API'} refuses the key in OPENAI_API_KEY") from err
    except Exception:  # a server that lists no models, in whatever way, may still answer questions
        return frozenset()


def ask_all(
    server: Server,
    questions: Iterable[_Q],
    answer: Callable[[Ask, _Q], Awaitable[_V]],
    note: Callable[[_Q, _V], None],
    concurrency: int,
    purse: Purse = _FREE,
) -> None:
    """Ask every question, and hand each outcome to `note` before that worker asks anything else.

    When the process is asked to stop (SIGINT, SIGTERM), nothing new is asked, and what is under way is waited for and noted,
    so that no answer is paid for twice.

    Args:
        answer: one question's outcome; it may ask several times, and should turn `NoAnswer` into an outcome.

    Raises:
        KeyboardInterrupt: the process was asked to stop.
        ServerError: the server cannot be asked at all; what was answered is noted.
        CostError: the next question could pass the budget; likewise.
    """

    async def ask_questions() -> None:
        waiting = iter(questions)
        asking = _Asking(server, ended, purse)

        async def work() -> None:
            while not ended and asking.gone is None:
                try:
                    question = next(waiting)
                except StopIteration:
                    return
                try:
                    note(question, await answer(asking.ask, question))
                except Stopped:
                    return
                except (ServerError, CostError) as err:
                    asking.gone = asking.gone or err

        async with asking.client:
            await asyncio.gather(*(work() for _ in range(concurrency)))
        if asking.gone is not None:
            raise asking.gone

    with _stop_signals() as ended:
        asyncio.run(ask_questions())
    if ended:
        raise KeyboardInterrupt


class _Asking:
    def __init__(self, server: Server, ended: list[int], purse: Purse) -> None:
        from lm_eval_tasks.compat.openai import client_of

        self._server, self._ended = server, ended
        self._budget, self._ledger = purse.budget, purse.ledger
        self.client = client_of(server.base_url, server.deadline)
        self.gone: ServerError | CostError | None = None
        self._failures = 0

    async def ask(self, messages: Messages, longest: int) -> tuple[str, Usage]:
        most = most_tokens("".join(message["content"] for message in messages), None, longest)
        lost: list[Usage] = []
        usage = Usage(0, 0)
        if self._budget:
            while self._budget.awaits(most):
                await self._sleep(_STEP)
            if self.gone is not None:
                raise Stopped
            self._budget.take(most)
        try:
            answer, said = await self._ask_with_retries(messages, longest, most, lost)
            # As later runs must count it, too.
            usage = at_most(said, most) if self._budget else said
        except (CostError, ServerError, Stopped) as err:
            if not lost:
                raise
            # What was charged is noted with this question; nothing more is asked.
            if isinstance(err, ServerError):
                self.gone = self.gone or err
            raise NoAnswer(str(err) or "stopped", reduce(Usage.plus, lost)) from err
        except NoAnswer as err:
            err.usage = reduce(Usage.plus, lost) if lost else None
            self._failures += 1
            # This question's outcome is noted like those before it.
            if self._failures == _MOST_FAILURES:
                self.gone = ServerError(
                    f"{self._server} gave up: {self._failures} failures in a row, last: {err}; {_AGAIN}"
                )
            raise
        finally:
            if self._budget:
                self._budget.settle(most, usage)
        self._failures = 0
        return answer, reduce(Usage.plus, lost, usage)

    async def _ask_with_retries(
        self, messages: Messages, longest: int, most: Usage, lost: list[Usage]
    ) -> tuple[str, Usage]:
        odd, sampling = 0, _GREEDY

        async def ask() -> tuple[str, Usage]:
            nonlocal odd, sampling
            if self._ledger:
                self._ledger.sent(most)
            try:
                reply = await self.client.chat.completions.create(
                    **_body(self._server.model, messages, longest, sampling)
                )
                answered = _answer_in(readable(reply if isinstance(reply, str) else reply.model_dump(warnings=False)))
            except Exception as err:  # including whatever a 200 may contain that is not a chat completion
                if self._ledger:
                    (self._ledger.lost if _is_lost(err) else self._ledger.settled)(most)
                if isinstance(err, CompletionError) and err.usage:
                    lost.append(at_most(Usage.of_response(err.usage, ""), Usage(0, 0)))
                    # The next try is sent only if it can still be paid for.
                    if self._budget:
                        self._budget.pay(lost[-1])
                reason, wait = self._explain_error(err)
                reason = redact(reason)  # a server may repeat the key that it was sent
                said = f"{reason} {str(getattr(getattr(err, 'response', None), 'text', ''))[:2000]}"
                refused = [name for name in sampling if name in said] if wait == math.inf else []
                if refused:
                    _LOGGER.warning("%s is asked without %s, which it refuses", self._server, ", ".join(refused))
                    sampling, wait = {name: value for name, value in sampling.items() if name not in refused}, 0.0
                odd += wait is None
                if odd == _ODD_TRIES or wait == math.inf:
                    raise NoAnswer(reason) from err
                raise _Transient(reason, wait or 0.0) from err
            if self._ledger:
                self._ledger.settled(most)
            return answered

        attempts = AsyncRetrying(
            retry=retry_if_exception_type(_Transient),
            stop=stop_after_attempt(_RETRIES + 1),
            wait=lambda state: max(_WAIT(state), failure_of(state, _Transient).wait),
            before_sleep=lambda state: announce_wait(
                state.upcoming_sleep, f"{self._server.model} is asked again after {failure_of(state, _Transient)}"
            ),
            sleep=self._sleep,
            reraise=True,
        )
        return await attempts(ask)

    async def _sleep(self, seconds: float) -> None:
        """Wait, but not if the process was asked to stop meanwhile."""
        while seconds > 0 and not self._ended:
            await asyncio.sleep(min(seconds, _STEP))
            seconds -= _STEP
        if self._ended:
            raise Stopped

    def _explain_error(self, err: Exception) -> tuple[str, float | None]:
        """Return what went wrong with a request, and how long the server wants us to wait: inf if asking again is useless, None for an
        answer that is not a chat completion.
        """
        import openai

        if isinstance(err, openai.APITimeoutError):
            return f"no whole answer within {self._server.deadline:g} s", 0.0
        if isinstance(err, openai.APIConnectionError):
            return f"the connection broke off or was refused ({err.__cause__ or err})", 0.0
        is_refused = isinstance(err, CompletionError) and err.status in _REFUSALS
        if is_refused or isinstance(err, openai.AuthenticationError | openai.PermissionDeniedError):
            raise ServerError(f"{self._server} gave up: {err}; {_AGAIN}") from err
        if isinstance(err, CompletionError) and err.status:
            return f"status {err.status}: {err}", _wait_after(err.status, 0.0)
        if isinstance(err, openai.APIStatusError):
            wait = retry_after(err.response.headers.get("Retry-After"))
            return f"status {err.status_code}: {str(err)[:200]}", _wait_after(err.status_code, wait)
        return f"an answer that is not a chat completion ({type(err).__name__}: {str(err)[:100]})", None


def _is_lost(err: Exception) -> bool:
    """Tell whether a request that failed may have cost something that nobody tells."""
    import openai

    from lm_eval_tasks.compat.openai import was_refused

    if isinstance(err, openai.APIConnectionError):
        return not was_refused(err)
    if isinstance(err, openai.APIStatusError):
        return err.status_code in _TIMED_OUT
    # Another status than 200 is a refusal.
    return not isinstance(err, CompletionError) or not (err.usage or err.status)


def _wait_after(status: int, wait: float) -> float:
    """Return how long to wait before a request that was answered with a status; inf if it would never be answered otherwise."""
    return wait if status in _TRANSIENT or status >= 500 else math.inf


def _body(model: str, messages: Messages, longest: int, sampling: Mapping[str, object]) -> dict[str, object]:
    if model.startswith(_REASONING_MODELS):
        return {"model": model, "messages": messages, "max_completion_tokens": longest}
    return {"model": model, "messages": messages, "max_tokens": longest, **sampling}


def _answer_in(completion: Mapping[str, Any]) -> tuple[str, Usage]:
    """Return the answer in the body of a chat completion, with reasoning that the server hands over separately; a KeyError and the like if
    it is something else.
    """
    choice = completion["choices"][0]
    message = choice["message"]
    reasoning = message.get("reasoning_content") or message.get("reasoning") or ""
    content = message["content"] or ""
    text = valid((in_marks(reasoning, closed=bool(content)) if isinstance(reasoning, str) else "") + content)
    return text, Usage.of_response(
        {**(completion.get("usage") or {}), "model": completion.get("model")}, choice.get("finish_reason")
    )


@contextmanager
def _stop_signals() -> Iterator[list[int]]:
    """Collect the signals that ask the process to stop; a second one ends it."""
    seen: list[int] = []

    def note(number: int, frame: object) -> None:
        if seen:
            raise KeyboardInterrupt
        seen.append(number)

    # Only the main thread may handle signals.
    numbers = (signal.SIGINT, signal.SIGTERM) if threading.current_thread() is threading.main_thread() else ()
    before = {number: signal.signal(number, note) for number in numbers}
    try:
        yield seen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
