"""Long work: in batches; how far it has come, as a bar on a terminal, elsewhere a line every half minute; and waiting, never forever."""

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, NoReturn, TypeVar

from tqdm import tqdm

from lm_eval_tasks.base.redaction import safe_text

if TYPE_CHECKING:
    from tenacity import RetryCallState


_T = TypeVar("_T")
_BETWEEN_LINES = 30.0
# Shorter work is not worth a bar or a line.
_SHORT = 2.0
# When the last line was written, of whatever work.
_last_line = time.monotonic()
_disabled = False
_E = TypeVar("_E", bound=BaseException)

LONGEST_WAIT = 300.0


def begin() -> None:
    """Begin a command, which nobody has waited for yet."""
    global _last_line
    _last_line = time.monotonic()


def silence() -> None:
    """Show nothing more in this process."""
    global _disabled
    _disabled = True


class _Log:
    """Standard error for counts that are lines: without what moves a terminal's cursor."""

    def write(self, text: str) -> None:
        global _last_line
        line = text.strip("\r ")
        if line:
            _last_line = time.monotonic()
        sys.stderr.write(line)

    def flush(self) -> None:
        sys.stderr.flush()


def counted(what: str, total: int | None = None, done: int = 0, delay: float = _SHORT) -> "tqdm[NoReturn]":
    """Return a count of steps done, of a total if that is known; the first of them `done` by an earlier run. A bar is drawn after a delay
    in seconds; 0 where the first step alone may take minutes.
    """
    if _disabled or sys.stderr.isatty():
        return tqdm(desc=what, total=total, initial=done, delay=delay, unit_scale=True, leave=False, disable=_disabled)
    delay = max(_SHORT, _last_line + _BETWEEN_LINES - time.monotonic())
    bar = tqdm(
        desc=what,
        total=total,
        initial=done,
        file=_Log(),
        bar_format="{desc}: {n_fmt} of {total_fmt}, {remaining} left\n" if total else "{desc}: {n_fmt}\n",
        leave=False,
        delay=delay,
        mininterval=_BETWEEN_LINES,
        miniters=1,
        smoothing=0,
        # Lines are for those who read a log, and come where libraries' bars are switched off.
        disable=False,
    )
    # Of a later start, tqdm would wait a whole interval.
    bar.last_print_t = bar.start_t + delay - _BETWEEN_LINES
    return bar


def progress(items: Iterable[_T], what: str, total: int | None = None) -> Iterator[_T]:
    """Pass items on, showing how many were taken."""
    with counted(what, total) as bar:
        for item in items:
            yield item
            bar.update()


def batches(items: Sequence[_T], most: int) -> list[Sequence[_T]]:
    """Return the items in their order, up to `most` together."""
    return [items[i : i + most] for i in range(0, len(items), most)]


def retry_after(header: str | None) -> float:
    """Return the seconds that a server asks to wait, as a number or a date, bounded; 0 if it says nothing useful."""
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
    """Say why nothing will happen for a while; a shorter silence needs no explanation."""
    if seconds >= 10:
        announce(f"waiting {seconds:.0f} s: {reason}")


def failure_of(state: "RetryCallState", error_type: type[_E]) -> _E:
    """Return what the last attempt of a `tenacity` loop, which retries errors of this kind alone, failed with."""
    error = state.outcome and state.outcome.exception()
    assert isinstance(error, error_type)
    return error


def within(seconds: float, call: Callable[[], _T], cancelled: threading.Event | None = None) -> _T:
    """Return what a call returns or raises, if it ends in time; when `cancelled` is set, nobody waits for it any more.

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
        # Every now and then it checks whether it is still wanted.
        wait([outcome], min(left, 0.2) if cancelled else left)
    if outcome.done():
        return outcome.result()
    raise TimeoutError(f"no whole answer within {seconds:g} s")
