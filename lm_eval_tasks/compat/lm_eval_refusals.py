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


class _Listener(logging.Filter):
    """Takes the bodies out of the log; what else is logged passes as before."""

    def __init__(self, level: int) -> None:
        super().__init__()
        self.level, self.bodies = level, list[str]()

    def filter(self, record: logging.LogRecord) -> bool:
        body = _BODY.match(record.getMessage())
        if body:
            self.bodies.append(body[1])
        return body is None and record.levelno >= self.level


@contextmanager
def listening() -> Iterator[list[str]]:
    """The bodies of refused requests, as they come."""
    listener, level = _Listener(_LOGGER.getEffectiveLevel()), _LOGGER.level
    _LOGGER.addFilter(listener)
    _LOGGER.setLevel(min(logging.WARNING, listener.level))
    try:
        yield listener.bodies
    finally:
        _LOGGER.removeFilter(listener)
        _LOGGER.setLevel(level)


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
