"""`requests` and `aiohttp` as lm-eval's models of servers use them, with bounded bodies and without redirects.

A prompt goes to no server but the one that was named, and a body that never ends does not fill the memory. Public ways would be
a session among the models' arguments, and a largest size among those of `requests.post`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import requests

from lm_eval_tasks.base.completions import MOST_BYTES

_REDIRECTS = (301, 302, 303, 307, 308)
_TOO_LARGE = f"an answer of more than {MOST_BYTES} bytes"
_AT_ONCE = 1 << 16


@contextmanager
def bounded(module: Any) -> Iterator[None]:
    """Within this block a module of lm-eval asks servers so."""
    theirs = {name: vars(module)[name] for name in ("requests", "ClientSession") if name in vars(module)}
    ours = {
        "requests": _Requests(),
        "ClientSession": partial(theirs.get("ClientSession", object), response_class=_answer()),
    }
    vars(module).update({name: ours[name] for name in theirs})
    try:
        yield
    finally:
        vars(module).update(theirs)


class _Requests:
    """The package, but for `post`."""

    def __getattr__(self, name: str) -> Any:
        return getattr(requests, name)

    @staticmethod
    def post(*arguments: Any, **keywords: Any) -> requests.Response:
        with requests.post(*arguments, **keywords, stream=True, allow_redirects=False) as response:  # noqa: S113  # lm-eval gives one
            if response.status_code in _REDIRECTS:
                raise requests.exceptions.TooManyRedirects(_elsewhere(response.headers))
            body = bytearray()
            for chunk in response.iter_content(_AT_ONCE):
                body += chunk
                if len(body) > MOST_BYTES:
                    raise requests.exceptions.ContentDecodingError(_TOO_LARGE)
            response._content = bytes(body)
        return response


def _answer() -> type:
    import aiohttp

    class Answer(aiohttp.ClientResponse):
        async def start(self, connection: Any) -> Any:
            started = await super().start(connection)
            if self.status in _REDIRECTS:
                raise aiohttp.ClientPayloadError(_elsewhere(self.headers))
            return started

        async def read(self) -> bytes:
            if self._body is None:
                body = bytearray()
                async for chunk in self.content.iter_chunked(_AT_ONCE):
                    body += chunk
                    if len(body) > MOST_BYTES:
                        self.close()
                        raise aiohttp.ClientPayloadError(_TOO_LARGE)
                self._body = bytes(body)
            return self._body

    return Answer


def _elsewhere(headers: Any) -> str:
    return f"the server sends prompts on to {headers.get('Location', 'another address')}; name that as base_url if you trust it"
