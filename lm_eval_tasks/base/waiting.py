"""Waiting for servers: as long as they ask, never forever, and never in silence."""

from __future__ import annotations

import sys
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, TypeVar

from tqdm import tqdm

from lm_eval_tasks.base.redaction import safe_text

if TYPE_CHECKING:
    from tenacity import RetryCallState

_E = TypeVar("_E", bound=BaseException)

LONGEST_WAIT = 300.0
# A shorter silence needs no explanation.
_LONG = 10.0


def retry_after(header: str | None) -> float:
    """Seconds that a server asks to wait, as a number or a date, bounded; 0 if it says nothing useful."""
    text = (header or "").strip()
    with suppress(ValueError, OverflowError):
        seconds = float(text)
        return min(max(0.0, seconds), LONGEST_WAIT) if seconds == seconds else 0.0
    with suppress(ValueError, TypeError, OverflowError):
        return min(max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds()), LONGEST_WAIT)
    return 0.0


def announce(text: str) -> None:
    """Print something on standard error, above the progress bars."""
    tqdm.write(safe_text(text), file=sys.stderr)


def announce_wait(seconds: float, reason: str) -> None:
    """Say why nothing will happen for a while."""
    if seconds >= _LONG:
        announce(f"waiting {seconds:.0f} s: {reason}")


def failure_of(state: RetryCallState, kind: type[_E]) -> _E:
    """What the last attempt of a `tenacity` loop, which retries errors of this kind alone, failed with."""
    error = state.outcome and state.outcome.exception()
    assert isinstance(error, kind)
    return error
