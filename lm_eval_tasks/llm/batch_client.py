"""A server's files and batches: https://platform.openai.com/docs/api-reference/batch. A batch is bought once, whatever answer is lost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import openai
from openai.types import Batch

from lm_eval_tasks.core.errors import ServerError
from lm_eval_tasks.core.redaction import redact
from lm_eval_tasks.core.text import ODD, parse_json
from lm_eval_tasks.core.waiting import announce, announce_wait, retry_after
from lm_eval_tasks.llm.chat import Answer, Server, answer_of, is_transient

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_R = TypeVar("_R")
ENDPOINT = "/v1/chat/completions"
AGAIN = "the same command resumes from the answers received so far"
_TRIES = 8
_FIRST_WAIT, _LONGEST_WAIT = 2.0, 60.0
_FIRST_POLL, _LONGEST_POLL = 1.0, 60.0
_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
_MARK = "academiceval"
# What a server says to a batch that is too large for it.
_TOO_LARGE = (400, 413)


class BatchClient:
    """The batches of a server.

    Args:
        client: repeats only what costs nothing.
    """

    def __init__(self, server: Server, client: AsyncOpenAI) -> None:
        self._server, self._client = server, client

    async def upload(self, name: str, data: bytes) -> str:
        """Upload the requests of a batch, and return the file's id."""
        file = await self._client.files.create(file=(f"{name}.jsonl", data), purpose="batch")
        return str(self._checked(file).id)

    async def create(self, name: str, file: str) -> str:
        """Make a batch of a file that was just uploaded, and return its id; after a lost answer the server is asked for it by name."""
        wait = _FIRST_WAIT
        for attempt in range(_TRIES):
            try:
                return await self._create(name, file)
            except (openai.APIError, ServerError) as err:
                if attempt == _TRIES - 1 or not _passes(err):
                    raise
                pause = max(wait, retry_after(_header(err, "Retry-After")))
                announce_wait(pause, f"{self._server} is asked for the batch again after {redact(str(err))[:100]}")
                await asyncio.sleep(pause)
            wait = min(2 * wait, _LONGEST_WAIT)
            if batch := await self._find(name):
                return batch
        raise AssertionError("the last try returns or raises")

    async def find_or_create(self, name: str, file: str) -> str:
        """The id of a batch whose creation was never noted: the server has it, or it is created now."""
        return await self._find(name) or await self.create(name, file)

    async def _create(self, name: str, file: str) -> str:
        # The package would send it again, and buy it twice.
        once = self._client.with_options(max_retries=0)
        batch = await once.batches.create(
            input_file_id=file, endpoint=ENDPOINT, completion_window="24h", metadata={_MARK: name}
        )
        return str(self._checked(batch).id)

    async def _find(self, name: str) -> str:
        """The id of the batch of a name; "" if the server has none.

        Raises:
            ServerError: it does not say, in whatever way: nothing is bought then.
        """
        try:
            async for batch in self._client.batches.list(limit=100):
                if (batch.metadata or {}).get(_MARK) == name:
                    return str(batch.id)
        except (openai.APIError, *ODD) as err:
            raise self.error(err) from err
        return ""

    async def wait_for_end(self, id_: str) -> Any:
        """The batch, once it has ended."""
        pause, last_progress, odd = _FIRST_POLL, "", 0
        while True:
            batch = await self._client.batches.retrieve(id_)
            if not isinstance(batch, Batch) and odd < _TRIES:
                odd += 1
                await asyncio.sleep(pause)
                continue
            counts = self._checked(batch).request_counts
            progress = (
                f"{batch.status}, {counts.completed + counts.failed} of {counts.total}" if counts else str(batch.status)
            )
            if progress != last_progress:
                announce(f"batch {id_}: {progress}")
            if batch.status in _ENDED:
                return batch
            last_progress, pause = progress, min(pause * 1.5, _LONGEST_POLL)
            await asyncio.sleep(pause)

    async def answers_of(self, batch: Any) -> dict[str, Answer | str]:
        """The answers of a batch that has ended, or the reason for each request that failed.

        Raises:
            ServerError: a file has none that can be read: its requests are paid for, so they are not sent again.
        """
        answers: dict[str, Answer | str] = {}
        for file in filter(None, (batch.output_file_id, batch.error_file_id)):
            for id_, outcome in await self._outcomes(file):
                # An answer counts, whatever else is said of its request.
                if not isinstance(answers.get(id_), Answer):
                    answers[id_] = outcome
        return answers

    async def _outcomes(self, file: str) -> list[tuple[str, Answer | str]]:
        for _ in range(_TRIES):
            data = (await self._client.files.content(file)).content
            outcomes = list(chain.from_iterable(map(_read, data.splitlines())))
            if outcomes or not data.strip():
                return outcomes
            await asyncio.sleep(_FIRST_POLL)
        raise self.error(ValueError(f"the file {file} has no answer that can be read"))

    def _checked(self, reply: _R) -> _R:
        """What the server says.

        Raises:
            ServerError: it is something else than JSON, such as a page.
        """
        if isinstance(reply, str):
            raise self.error(ValueError("an answer that is not JSON"))
        return reply

    def refusal(self, batch: Any) -> ServerError:
        """The error for a batch that the server would not work on."""
        errors = batch.errors.data if batch.errors and batch.errors.data else []
        reason = redact("; ".join(str(error.message) for error in errors[:3])) or "no reason given"
        return ServerError(f"{self._server} refused batch {batch.id}: {reason}; {AGAIN}")

    def error(self, err: Exception) -> ServerError:
        """The error for a server that fails."""
        return ServerError(f"{self._server} gave up on batches: {str(redact(str(err)))[:300]}; {AGAIN}")


def is_too_large(err: openai.APIError) -> bool:
    """Whether a server refuses a batch for its size, so that halves may do."""
    return isinstance(err, openai.APIStatusError) and err.status_code in _TOO_LARGE


def _passes(err: Exception) -> bool:
    """Whether a request may be answered later, or was perhaps carried out although no answer came, or an odd one."""
    if isinstance(err, ServerError):
        return True
    if isinstance(err, openai.APIStatusError):
        return is_transient(err.status_code)
    return isinstance(err, openai.APIConnectionError)


def _header(err: Exception, name: str) -> str | None:
    headers: Mapping[str, str] = err.response.headers if isinstance(err, openai.APIStatusError) else {}
    return headers.get(name)


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


def line_of(id_: str, body: Mapping[str, Any]) -> str:
    """A request as a line of a batch's file."""
    return json.dumps({"custom_id": id_, "method": "POST", "url": ENDPOINT, "body": body}, ensure_ascii=False)
