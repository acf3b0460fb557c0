"""A loopback server that speaks OpenAI's chat completions, with faults on demand."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from lm_eval_tasks.judge.verdict import DIMENSIONS, OVERALL
from standins.serving import JsonHandler, Quiet, serving

# A judge's verdict: the first answer wins in everything.
FIRST_WINS = json.dumps(
    {**{name: {"Winner": "[Answer 1]", "Reason": "so"} for name in DIMENSIONS}, OVERALL: "[Answer 1]"}
)
Reply = str | dict[str, Any] | tuple[int, dict[str, str], str] | None


@dataclass
class Server:
    """Answers every request by `answer`.

    Attributes:
        answer: request body -> the text to answer; or a choice, with usage, of your own; or a status with headers and body to give
            instead; or None for a connection that breaks off.
        requests: the bodies that were received.
        models: what the server says that it serves; None for a server that does not say.
    """

    answer: Callable[[dict[str, Any]], Reply]
    requests: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""
    models: tuple[str, ...] | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)


def completion(body: dict[str, Any], reply: str | dict[str, Any]) -> dict[str, Any]:
    """Return a chat completion."""
    own = {"content": reply} if isinstance(reply, str) else reply
    message = {"role": "assistant", **{name: own[name] for name in ("content", "reasoning_content") if name in own}}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {
        "id": "1",
        "object": "chat.completion",
        "model": body.get("model", ""),
        "created": 0,
        "choices": [{"index": 0, "finish_reason": own.get("finish", "stop"), "message": message}],
        "usage": own.get("usage", usage),
    }


@contextmanager
def serve(answer: Callable[[dict[str, Any]], Reply]) -> Iterator[Server]:
    """Serve on a free loopback port."""
    server = Server(answer)

    class Handler(JsonHandler):
        def do_GET(self) -> None:
            if server.models is None:
                self._send(404, {}, "{}")
            else:
                data = [{"id": name, "object": "model", "created": 0, "owned_by": "us"} for name in server.models]
                self._send(200, {}, json.dumps({"object": "list", "data": data}))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with server.lock:
                server.requests.append(body)
            reply = server.answer(body)
            if reply is None:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
            elif isinstance(reply, str | dict):
                self._send(200, {}, json.dumps(completion(body, reply)))
            else:
                self._send(*reply)

        def _send(self, status: int, headers: dict[str, str], text: str) -> None:
            self.send(status, text.encode(), headers)

    with serving(Quiet(("127.0.0.1", 0), Handler)) as url:
        server.url = f"{url}/v1"
        yield server
