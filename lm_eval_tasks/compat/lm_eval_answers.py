"""`lm_eval`: answers as its models produce them, one by one, with what an engine or server says about them.

`LM.set_cache_hook` is public and gives the text. Tokens, finish reasons and reasoning that a server hands over
separately are seen where the models read them; a public way would be an answer that carries them.

A prompt goes to no server but the one that was named, and a body that never ends does not fill the memory: public ways would be
a session among the models' arguments, and a largest size among those of `requests.post`.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal

import requests

from lm_eval_tasks.base.completions import MOST_BYTES, CompletionError, readable, words_of
from lm_eval_tasks.base.contract import CAPPED
from lm_eval_tasks.base.progress import within
from lm_eval_tasks.compat import vllm

if TYPE_CHECKING:
    from lm_eval.api.model import LM

_LOGGER = logging.getLogger("lm_eval.models.api_models")
_BODY = re.compile(r"API request failed.*?(?:error message|Response text): (.*?)\. Retrying", re.DOTALL)
_REFUSED = re.compile(r"Connection refused|Failed to establish|NameResolutionError|Failed to resolve")
_REDIRECTS = (301, 302, 303, 307, 308)
_TOO_LARGE = f"an answer of more than {MOST_BYTES} bytes"
_AT_ONCE = 1 << 16


@contextmanager
def listening() -> Iterator[list[str]]:
    """Collect the bodies of refused requests, as they come, which are taken out of the log; what else is logged passes as before."""
    bodies: list[str] = []
    shown, level = _LOGGER.getEffectiveLevel(), _LOGGER.level

    def passes(record: logging.LogRecord) -> bool:
        body = _BODY.match(record.getMessage())
        if body:
            bodies.append(body[1])
        return body is None and record.levelno >= shown

    _LOGGER.addFilter(passes)
    _LOGGER.setLevel(min(logging.WARNING, shown))
    try:
        yield bodies
    finally:
        _LOGGER.removeFilter(passes)
        _LOGGER.setLevel(level)


def message_of(body: str) -> str:
    """Return what a body says: the message of an OpenAI-compatible error, else its text."""
    try:
        content = json.loads(body)
    except ValueError:
        content = None
    for key in ("error", "message", "detail"):
        if isinstance(content, dict) and key in content:
            content = content[key]
    return " ".join((content if isinstance(content, str) else body).split())[:300]


# In place of the value of a parameter that a server is not to be sent.
OMIT = "omit"
# Models behind a server, and vLLM's.
_MODULES = ("lm_eval.models.api_models", "lm_eval.models.vllm_causallms")


# What becomes of a request: it is sent; then what it took is known, or will not be.
RequestEvent = Literal["sent", "settled", "lost"]
OnRequest = Callable[[RequestEvent], None]
# Statuses of a server that gave up waiting, behind which the model may have answered.
_TIMED_OUT = (408, 504)


@contextmanager
def as_given(on_request: OnRequest) -> Iterator[None]:
    """Let models, within this block, not sort their requests, ask no server but the one that was named, and read no body without end.

    Args:
        on_request: called with what becomes of each request to a server.
    """
    from lm_eval.models.utils import Collator

    class InOrder(Collator):  # type: ignore[misc]
        def __init__(self, arr: Any, sort_fn: Any = None, *arguments: Any, **keywords: Any) -> None:
            super().__init__(arr, lambda _: 0, *arguments, **keywords)

    ours = {
        "Collator": InOrder,
        "requests": SimpleNamespace(**{**vars(requests), "post": partial(_counted_post, on_request)}),
        "ClientSession": _session_class(on_request),
    }
    modules = [vars(module) for name in _MODULES if (module := sys.modules.get(name)) and hasattr(module, "Collator")]
    theirs = [{name: names[name] for name in ours if name in names} for names in modules]
    for names, before in zip(modules, theirs, strict=True):
        names.update({name: ours[name] for name in before})
    try:
        yield
    finally:
        for names, before in zip(modules, theirs, strict=True):
            names.update(before)


def _response_class(on_request: OnRequest) -> Any:
    """Let aiohttp's responses follow no server to another, read no body without end, and settle their requests."""
    import aiohttp

    class BoundedResponse(aiohttp.ClientResponse):
        async def start(self, connection: Any) -> Any:
            started = await super().start(connection)
            if self.status in _REDIRECTS:
                raise aiohttp.ClientPayloadError(_elsewhere(self.headers))
            return started

        async def read(self) -> bytes:
            if self._body is None:
                try:
                    self._body = await self._bounded()
                except BaseException:
                    on_request("lost")
                    raise
                on_request("lost" if _is_lost(self.status, self._body) else "settled")
            return self._body

        async def _bounded(self) -> bytes:
            body = bytearray()
            async for chunk in self.content.iter_chunked(_AT_ONCE):
                body += chunk
                if len(body) > MOST_BYTES:
                    self.close()
                    raise aiohttp.ClientPayloadError(_TOO_LARGE)
            if self.ok and "html" in self.content_type:
                raise aiohttp.ClientPayloadError(_page(bytes(body)))
            return bytes(body)

    return BoundedResponse


def _session_class(on_request: OnRequest) -> Callable[..., Any]:
    """Let aiohttp's sessions count their requests."""
    import aiohttp

    async def started(*_: Any) -> None:
        on_request("sent")

    async def failed(_session: Any, _context: Any, parameters: Any) -> None:
        on_request("settled" if isinstance(parameters.exception, aiohttp.ClientConnectorError) else "lost")

    trace = aiohttp.TraceConfig()
    trace.on_request_start.append(started)
    trace.on_request_exception.append(failed)
    return partial(aiohttp.ClientSession, response_class=_response_class(on_request), trace_configs=[trace])


def _counted_post(on_request: OnRequest, *arguments: Any, **keywords: Any) -> requests.Response:
    on_request("sent")
    try:
        response = _post(*arguments, **keywords)
    except BaseException as err:
        on_request("settled" if _is_refusal(err) else "lost")
        raise
    on_request("lost" if _is_lost(response.status_code, response.content) else "settled")
    return response


def _is_lost(status: int, body: bytes) -> bool:
    """Tell whether a response may have cost something that it does not tell: the server gave up waiting, or it is no answer."""
    if status in _TIMED_OUT:
        return True
    if not 200 <= status < 300:
        return False
    try:
        content = json.loads(body)
    except ValueError:
        return True
    return not isinstance(content, dict) or not (content.get("choices") or content.get("usage"))


def _is_refusal(err: BaseException) -> bool:
    """Tell whether no server took a request."""
    return isinstance(err, requests.exceptions.ConnectionError) and bool(_REFUSED.search(str(err)))


def _post(*arguments: Any, **keywords: Any) -> requests.Response:
    with requests.post(*arguments, **keywords, stream=True, allow_redirects=False) as response:  # noqa: S113  # lm-eval gives one
        if response.status_code in _REDIRECTS:
            raise requests.exceptions.TooManyRedirects(_elsewhere(response.headers))
        body = bytearray()
        for chunk in response.iter_content(_AT_ONCE):
            body += chunk
            if len(body) > MOST_BYTES:
                raise requests.exceptions.ContentDecodingError(_TOO_LARGE)
        response._content = bytes(body)
    if response.ok and "html" in response.headers.get("Content-Type", ""):
        raise requests.exceptions.InvalidJSONError(_page(bytes(body)))
    return response


def _page(body: bytes) -> str:
    return f"the server answers with a page in place of an answer: {words_of(body.decode(errors='replace'))!r}; check base_url"


def _elsewhere(headers: Any) -> str:
    return f"the server sends prompts on to {headers.get('Location', 'another address')}; name that as base_url if you trust it"


# Called with a prompt, its generation arguments if they are known, the answer, and what is known of it: the `usage` of an
# OpenAI-compatible answer with its `model`, and why it ended.
Note = Callable[[str, Mapping[str, object] | None, str, object, object], None]


class Watch:
    """Watches the answers of a model of lm-eval.

    Args:
        note: called with each answer as soon as the model has it.
        lost: called with the usage of each response without an answer; it is asked again.
        in_marks: reasoning that a server hands over separately, and whether it came to its end -> how the model would have written it.
        new_seeds: whether a server is sent a new seed with each request; lm-eval always sends the same one.

    Attributes:
        tries, read: requests that were sent to a server, and its answers that could be read; None for models without a server.
    """

    def __init__(
        self,
        lm: LM,
        note: Note,
        lost: Callable[[object], None],
        in_marks: Callable[..., str],
        *,
        new_seeds: bool = False,
    ) -> None:
        self._note, self._lost, self._in_marks, self._new_seeds = note, lost, in_marks, new_seeds
        # What is known of the answers that come next.
        self._coming: list[tuple[object, object]] = []
        self.tries: int | None = None
        self.read = 0
        lm.set_cache_hook(self)
        if hasattr(lm, "parse_generations") and hasattr(lm, "_create_payload"):
            self._watch_server(lm)
        elif hasattr(lm, "_model_generate") and hasattr(getattr(lm, "model", None), "llm_engine"):
            vllm.watch(lm, self._note, partial(setattr, self, "_coming"))

    def add_partial(self, attr: str, req: Iterable[Any], res: Any) -> None:
        """Note an answer; lm-eval's models call it."""
        if attr == "generate_until":
            prompt, arguments = tuple(req)
            self._note(str(prompt), arguments, str(res), *(self._coming.pop(0) if self._coming else (None, "")))

    def _watch_server(self, lm: Any) -> None:
        """Let models behind an OpenAI-compatible server read each response with `parse_generations`."""
        self.tries = 0
        parse, create = lm.parse_generations, lm._create_payload

        def counted(*arguments: Any, **keywords: Any) -> Any:
            self.tries = (self.tries or 0) + 1
            if self._new_seeds and "seed" in keywords:
                keywords["seed"] = int(keywords["seed"]) + self.tries
            return {
                name: value for name, value in create(*arguments, **keywords).items() if value not in (OMIT, [OMIT])
            }

        def parsed(outputs: Any, **keywords: Any) -> list[str | None]:
            outputs = [self._readable(response) for response in _responses(outputs)]
            texts = parse(outputs=outputs, **keywords)
            if any(not isinstance(text, str | None) for text in texts):
                raise ValueError("an answer whose content is not a text")
            choices = [pair for response in _responses(outputs) for pair in _choices(response)]
            self.read += len(_responses(outputs))
            self._coming = [(usage, choice.get("finish_reason")) for choice, usage in choices]
            return [self._with_reasoning(text, choice) for text, (choice, _) in zip(texts, choices, strict=True)]

        lm.parse_generations, lm._create_payload = parsed, counted
        call, seconds = lm.model_call, float(getattr(lm, "timeout", 300))

        def checked(*arguments: Any, **keywords: Any) -> Any:
            """Fail, and so is tried again, if it takes longer or a response says an error in place of an answer."""
            until = time.monotonic() + seconds

            def called() -> Any:
                outputs = call(*arguments, **keywords)
                # Nobody waits for it any more, but it was charged.
                for response in _responses(outputs) if time.monotonic() > until else ():
                    self._lost(response.get("usage") if isinstance(response, Mapping) else None)
                return outputs

            outputs = within(seconds, called)
            for response in _responses(outputs) if outputs is not None else ():
                self._readable(response)
            return outputs

        lm.model_call = checked

    def _readable(self, response: Any) -> Mapping[str, Any]:
        try:
            return readable(response)
        except CompletionError as err:
            if err.usage:
                self._lost(err.usage)
            raise

    def _with_reasoning(self, text: str | None, choice: Mapping[str, object]) -> str | None:
        message = choice.get("message")
        fields = message if isinstance(message, Mapping) else {}
        reasoning = fields.get("reasoning_content") or fields.get("reasoning")
        if isinstance(reasoning, str) and reasoning:
            return self._in_marks(reasoning, closed=bool(text)) + (text or "")
        # What was cut off before the answer began is an answer, if an empty one; others are asked again.
        return "" if text is None and choice.get("finish_reason") == CAPPED else text


def _responses(outputs: Any) -> Sequence[Any]:
    return outputs if isinstance(outputs, list) and outputs else [outputs]


def _choices(response: Any) -> list[tuple[Mapping[str, object], Any]]:
    """Return the choices of a response in their order, with the `model` of the response and, of the first, its usage: it covers all of
    them, so the others took nothing more.
    """
    choices = sorted(response["choices"], key=lambda choice: choice.get("index", 0))
    used = response.get("usage")
    usage, model = used if isinstance(used, Mapping) else {}, {"model": response.get("model")}
    nothing = dict.fromkeys(usage.keys() & {"prompt_tokens", "completion_tokens"}, 0)
    return [(choice, {**(nothing if i else usage), **model}) for i, choice in enumerate(choices)]
