"""The `openai` package: its HTTP client, with our own limits.

The package's own timeout is for each read: a server that sends a byte a second is never too slow for it, and a small body may
grow without end when it is unpacked. A public way would be a deadline and a largest size among the arguments of
`openai.AsyncOpenAI`.
"""

import asyncio
import os
import sys
from typing import Any

import openai

from lm_eval_tasks.base.completions import MOST_BYTES


def client_of(base_url: str | None, deadline: float) -> openai.AsyncOpenAI:
    """Return a client of a server, which asks nothing twice; None for the package's own server."""
    return openai.AsyncOpenAI(
        base_url=base_url,
        api_key=os.environ.get("OPENAI_API_KEY") or "none",
        max_retries=0,
        timeout=deadline,
        http_client=BoundedClient(deadline),
    )


def was_refused(err: openai.APIConnectionError) -> bool:
    """Tell whether no server took a request; a public way would be an error of its own."""
    return type(err.__cause__).__name__ in ("ConnectError", "ConnectTimeout")


class BoundedClient(openai.DefaultAsyncHttpxClient):  # type: ignore[misc]
    """An HTTP client whose requests end within `deadline` seconds, from first byte to last, and with bodies of bounded size."""

    def __init__(self, deadline: float) -> None:
        super().__init__(timeout=deadline, follow_redirects=False)
        self._deadline = deadline

    async def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        # A prompt goes to no server but the one that was named; and the client would read the bodies on the way itself.
        options["follow_redirects"] = False
        # Nothing is unpacked, so no more is held in memory than arrives.
        request.headers["Accept-Encoding"] = "identity"
        try:
            async with asyncio.timeout(self._deadline):
                response = await super().send(request, stream=True, **options)
                try:
                    body = await _read(response)
                finally:
                    await response.aclose()
        except TimeoutError as err:
            raise _transport().ReadTimeout(f"no whole answer in {self._deadline:g} s", request=request) from err
        return type(response)(response.status_code, headers=response.headers, content=body, request=request)


async def _read(response: Any) -> bytes:
    packed = response.headers.get("Content-Encoding", "identity")
    if packed != "identity":
        raise OSError(f"a compressed answer ({packed!r:.40}), which was not asked for")
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > MOST_BYTES:
            raise OSError(f"an answer of more than {MOST_BYTES} bytes")
    return bytes(body)


def _transport() -> Any:
    """Return the package that the client is made of: httpx, or what took its place."""
    return sys.modules[openai.DefaultAsyncHttpxClient.__mro__[1].__module__.partition(".")[0]]
