"""Asking a language model through its server's batch API, at half the price: https://platform.openai.com/docs/guides/batch.

Questions are answered by the same coroutines as in `chat`. What they ask is collected until all of them are waiting,
and sent as a batch. Each step is noted before and after it is made, and a batch carries its name, so a process that is
killed at any point finds its batches again and pays for none twice.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from lm_eval_tasks.core.errors import CostError, ServerError
from lm_eval_tasks.core.files import sha256_of_bytes
from lm_eval_tasks.core.redaction import redact
from lm_eval_tasks.core.text import ODD, parse_json
from lm_eval_tasks.core.waiting import announce
from lm_eval_tasks.llm.budget import charge
from lm_eval_tasks.llm.chat import (
    GREEDY,
    Answer,
    Ask,
    Messages,
    NoAnswer,
    Sampling,
    Server,
    answer_of,
    body_of,
    client_of,
    most_of,
)

if TYPE_CHECKING:
    from lm_eval_tasks.core.journal import Journal
    from lm_eval_tasks.llm.budget import Budget

_Q = TypeVar("_Q")
_V = TypeVar("_V")
_ENDPOINT = "/v1/chat/completions"
# What a batch may contain: https://platform.openai.com/docs/api-reference/batch/create
_MOST_REQUESTS, _MOST_BYTES = 50_000, 90_000_000
_MOST_ANSWER_BYTES = 1_000_000_000
# A request that fails is asked again in up to this many batches.
_TRIES = 3
_RETRIES = 8
_FIRST_POLL, _LONGEST_POLL = 1.0, 60.0
_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
_MARK = "academiceval"
_AGAIN = "the same command resumes from the answers received so far"


@dataclass(slots=True)
class _Request:
    """Something that a coroutine waits for."""

    id: str
    body: dict[str, Any]
    future: asyncio.Future[Answer]
    tries: int = 0
    reason: str = "no batch returned an answer"


def ask_all_in_batches(
    server: Server,
    questions: Sequence[_Q],
    answer: Callable[[Ask, _Q], Awaitable[_V]],
    note: Callable[[_Q, _V], None],
    state: Journal,
    budget: Budget | None = None,
) -> None:
    """As `chat.ask_all`, through batches.

    Args:
        state: where the batches under way are noted.

    Raises:
        ServerError: the server refuses the batches, or cannot be reached.
        CostError: the next question could pass the budget; the others are answered first.
    """
    asyncio.run(_Batches(server, state, budget).all(questions, answer, note))


class _Batches:
    """One call of `ask_all_in_batches`."""

    def __init__(self, server: Server, state: Journal, budget: Budget | None) -> None:
        self._server, self._state, self._budget = server, state, budget
        self._waiting: list[_Request] = []
        self._twins: Counter[str] = Counter()
        self._answers: dict[str, Any] = {}
        # Batches whose answers are here, but may not have been saved yet.
        self._taken: dict[str, dict[str, Any]] = {}
        self._too_dear: CostError | None = None

    async def all(
        self, questions: Sequence[_Q], answer: Callable[[Ask, _Q], Awaitable[_V]], note: Callable[[_Q, _V], None]
    ) -> None:
        async def answer_question(question: _Q) -> None:
            try:
                note(question, await answer(self._ask, question))
            except CostError as err:
                self._too_dear = self._too_dear or err

        async with client_of(self._server, _RETRIES, _MOST_ANSWER_BYTES) as self._client:
            await self._collect()
            tasks = {asyncio.create_task(answer_question(question)) for question in questions}
            try:
                while tasks:
                    while len(self._waiting) < len(tasks):
                        await asyncio.sleep(0)
                        for done in [task for task in tasks if task.done()]:
                            tasks.remove(done)
                            done.result()
                    if tasks:
                        await self._answer_waiting()
                self._note_taken()
            finally:
                for task in tasks:
                    task.cancel()
        if self._too_dear:
            raise self._too_dear

    async def _ask(self, messages: Messages, most_tokens: int, sampling: Sampling = GREEDY) -> Answer:
        body = body_of(self._server.model, messages, most_tokens, sampling)
        with charge(self._budget, most_of(messages, most_tokens)) as used:
            request = _Request(self._id(body), body, asyncio.get_running_loop().create_future())
            self._waiting.append(request)
            answer = await request.future
            used(answer.usage)
        return answer

    def _id(self, body: Mapping[str, Any]) -> str:
        """The id of a request in every run; the same body asked again is another request."""
        id_ = sha256_of_bytes(json.dumps(body, sort_keys=True))[:40]
        self._twins[id_] += 1
        return f"{id_}-{self._twins[id_]}"

    async def _answer_waiting(self) -> None:
        """Give every waiting request its answer, from the existing batches or from new ones."""
        self._hand_out()
        if not self._waiting:
            return
        for part in _parts(self._waiting):
            await self._submit(part)
        for request in self._waiting:
            request.tries += 1
        await self._collect()
        self._hand_out()
        for request in [request for request in self._waiting if request.tries >= _TRIES]:
            self._waiting.remove(request)
            request.future.set_exception(NoAnswer(request.reason))

    def _hand_out(self) -> None:
        left = []
        for request in self._waiting:
            outcome = self._answers.pop(request.id, None)
            if isinstance(outcome, Answer):
                request.future.set_result(outcome)
                continue
            request.reason = outcome or request.reason
            left.append(request)
        self._waiting = left

    async def _submit(self, requests: Sequence[_Request]) -> None:
        """Send requests as one batch, or split into halves if the server finds it too large."""
        import openai

        lines = [
            json.dumps(
                {"custom_id": request.id, "method": "POST", "url": _ENDPOINT, "body": request.body}, ensure_ascii=False
            )
            for request in requests
        ]
        data = ("\n".join(lines) + "\n").encode()
        name = sha256_of_bytes(f"{sha256_of_bytes(data)} {len(self._state)}")[:40]
        try:
            file = await self._client.files.create(file=(f"{name}.jsonl", data), purpose="batch")
            self._state.add(name, {"file": file.id})
            await self._create(name, file.id)
        except (openai.BadRequestError, openai.APIStatusError) as err:
            if (
                isinstance(err, openai.AuthenticationError | openai.PermissionDeniedError | openai.NotFoundError)
                or len(requests) < 2
            ):
                raise self._server_error(err) from err
            self._state.add(name, {"done": True})
            await self._submit(requests[: len(requests) // 2])
            await self._submit(requests[len(requests) // 2 :])
        except openai.OpenAIError as err:
            raise self._server_error(err) from err

    async def _create(self, name: str, file: str) -> str:
        batch = await self._client.batches.create(
            input_file_id=file, endpoint=_ENDPOINT, completion_window="24h", metadata={_MARK: name}
        )
        self._state.add(name, {"file": file, "batch": batch.id})
        return str(batch.id)

    async def _collect(self) -> None:
        """Wait for every noted batch, and take its answers; requests of a lost batch are sent again."""
        import openai

        for name, entry in [(name, self._state[name]) for name in self._state]:
            if not isinstance(entry, dict) or not entry.get("file") or entry.get("done") or name in self._taken:
                continue
            try:
                batch = await self._wait_for_end(entry.get("batch") or await self._find_batch(name, entry["file"]))
                if batch.status == "failed":
                    self._state.add(name, {**entry, "done": True})
                    raise self._batch_error(batch)
                self._answers.update(await self._answers_of(batch))
                self._taken[name] = entry
            except openai.NotFoundError:
                announce(f"{self._server} has lost a batch; its requests are sent again")
                self._state.add(name, {**entry, "done": True})
            except openai.OpenAIError as err:
                raise self._server_error(err) from err

    def _note_taken(self) -> None:
        """Mark those batches as done whose answers have been handed over, and so are kept."""
        for name, entry in self._taken.items():
            if not self._state[name].get("done"):
                self._state.add(name, {**entry, "done": True})

    async def _find_batch(self, name: str, file: str) -> str:
        """The batch of a name whose creation was never noted: the server has it, or it is created now."""
        async for batch in self._client.batches.list(limit=100):
            if (batch.metadata or {}).get(_MARK) == name:
                return str(batch.id)
        return await self._create(name, file)

    async def _wait_for_end(self, id_: str) -> Any:
        pause, last_progress = _FIRST_POLL, ""
        while True:
            batch = await self._client.batches.retrieve(id_)
            counts = batch.request_counts
            progress = (
                f"{batch.status}, {counts.completed + counts.failed} of {counts.total}" if counts else str(batch.status)
            )
            if progress != last_progress:
                announce(f"batch {id_}: {progress}")
            if batch.status in _ENDED:
                return batch
            last_progress, pause = progress, min(pause * 1.5, _LONGEST_POLL)
            await asyncio.sleep(pause)

    def _batch_error(self, batch: Any) -> ServerError:
        """The error for a batch that the server would not work on."""
        errors = batch.errors.data if batch.errors and batch.errors.data else []
        reason = redact("; ".join(str(error.message) for error in errors[:3])) or "no reason given"
        return ServerError(f"{self._server} refused batch {batch.id}: {reason}; {_AGAIN}")

    async def _answers_of(self, batch: Any) -> dict[str, Answer | str]:
        """The answers of a batch that has ended, or the reason for each request that failed."""
        answers: dict[str, Answer | str] = {}
        for file in filter(None, (batch.output_file_id, batch.error_file_id)):
            content = await self._client.files.content(file)
            for line in content.content.splitlines():
                answers.update(_read(line))
        return answers

    def _server_error(self, err: Exception) -> ServerError:
        return ServerError(f"{self._server} gave up on batches: {str(redact(str(err)))[:300]}; {_AGAIN}")


def _parts(requests: Sequence[_Request]) -> Iterator[list[_Request]]:
    """Requests in groups as large as one batch may be."""
    part: list[_Request] = []
    size = 0
    for request in requests:
        request_size = len(json.dumps(request.body)) + 200
        if part and (len(part) >= _MOST_REQUESTS or size + request_size > _MOST_BYTES):
            yield part
            part, size = [], 0
        part.append(request)
        size += request_size
    yield part


def _read(line: bytes) -> Iterator[tuple[str, Answer | str]]:
    """A line of a batch's output: the request's id, and its answer or why there is none; nothing if it cannot be read."""
    try:
        content = parse_json(line)
        response = content.get("response") or {}
        if response.get("status_code") == 200:
            yield str(content["custom_id"]), answer_of(response["body"])
        else:
            why = content.get("error") or (response.get("body") or {}).get("error") or {}
            yield (
                str(content["custom_id"]),
                str(redact(str(why.get("message") or f"status {response.get('status_code')}")))[:200],
            )
    except ODD:
        return
