"""Long work: in batches; how far it has come, as a bar on a terminal, elsewhere a line every half minute; and waiting, never forever."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, TypeVar

from tqdm import tqdm

from lm_eval_tasks.base.redaction import safe_text

if TYPE_CHECKING:
    from tenacity import RetryCallState


_T = TypeVar("_T")
# Work that takes less is not worth a bar.
_DELAY = 2.0
_BETWEEN_LINES = 30.0
_shown = True
_E = TypeVar("_E", bound=BaseException)

LONGEST_WAIT = 300.0
# A shorter silence needs no explanation.
_LONG = 10.0
# How often a wait checks whether it is still wanted, in seconds.
_STEP = 0.2


def silence() -> None:
    """Show nothing more in this process."""
    global _shown
    _shown = False


class Progress:
    """Steps done of a known or unknown number.

    Args:
        what: the work's name.
        total: None if it is not known.
        done: steps done by an earlier run.
        delay: seconds before a bar is drawn; 0 where the first step alone may take minutes.
    """

    def __init__(self, what: str, total: int | None = None, done: int = 0, delay: float = _DELAY) -> None:
        self._what, self._total, self._done, self._before = what, total, done, done
        self._started = self._told = time.monotonic()
        self._bar: Any = None
        if _shown and sys.stderr.isatty():
            self._bar = tqdm(desc=what, total=total, initial=done, delay=delay, unit_scale=True, leave=False)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._told > self._started:
            self._tell()

    def step(self) -> None:
        """One more is done."""
        self._done += 1
        if self._bar is not None:
            self._bar.update()
        elif time.monotonic() - self._told >= _BETWEEN_LINES:
            self._tell()

    def _tell(self) -> None:
        self._told = time.monotonic()
        if not _shown:
            return
        seconds = self._told - self._started
        line = f"{self._what}: {self._done}{f' of {self._total}' if self._total else ''}"
        steps = self._done - self._before
        if self._total and steps > 0 and self._done < self._total:
            line += f", about {_duration((self._total - self._done) * seconds / steps)} left"
        sys.stderr.write(line + "\n")
        sys.stderr.flush()


def progress(items: Iterable[_T], what: str, total: int | None = None) -> Iterator[_T]:
    """Pass items on, showing how many were taken."""
    with Progress(what, total) as bar:
        for item in items:
            yield item
            bar.step()


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def batches(items: Sequence[_T], most: int) -> list[Sequence[_T]]:
    """The items in their order, up to `most` together."""
    return [items[i : i + most] for i in range(0, len(items), most)]


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


def within(seconds: float, call: Callable[[], _T], cancelled: threading.Event | None = None) -> _T:
    """What a call returns or raises, if it ends in time.

    Args:
        cancelled: when it is set, nobody waits for the call any more.

    Raises:
        TimeoutError: the call has not ended. It continues by itself in a thread that no process waits for.
    """
    outcome: Future[_T] = Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except BaseException as err:  # handed over to whoever is waiting
            outcome.set_exception(err)

    threading.Thread(target=run, daemon=True).start()
    until = time.monotonic() + seconds
    while not outcome.done() and (left := until - time.monotonic()) > 0:
        if cancelled and cancelled.is_set():
            raise TimeoutError("it is not waited for any more")
        wait([outcome], min(left, _STEP) if cancelled else left)
    if outcome.done():
        return outcome.result()
    raise TimeoutError(f"no whole answer within {seconds:g} s")
