"""`lm_eval`: why a server refused a request, in its own words, which its models log and leave out of the error that they raise.

A public way would be an error that carries the body of the answer.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

_LOGGER = logging.getLogger("lm_eval.models.api_models")
_BODY = re.compile(r"API request failed.*?(?:error message|Response text): (.*?)\. Retrying", re.DOTALL)
_LONGEST = 300


class _Listener(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.bodies: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if body := _BODY.match(record.getMessage()):
            self.bodies.append(body[1])


@contextmanager
def listening() -> Iterator[list[str]]:
    """The bodies of refused requests, as they come."""
    listener, level, propagates = _Listener(), _LOGGER.level, _LOGGER.propagate
    _LOGGER.addHandler(listener)
    _LOGGER.setLevel(logging.WARNING)
    _LOGGER.propagate = False
    try:
        yield listener.bodies
    finally:
        _LOGGER.removeHandler(listener)
        _LOGGER.setLevel(level)
        _LOGGER.propagate = propagates


def message_of(body: str) -> str:
    """What a body says: the message of an OpenAI-compatible error, else its text."""
    try:
        content = json.loads(body)
    except ValueError:
        content = None
    for key in ("error", "message", "detail"):
        if isinstance(content, dict) and key in content:
            content = content[key]
    text = content if isinstance(content, str) else body
    return " ".join(text.split())[:_LONGEST]
