"""A limit on how long a call may take, whatever the library behind it waits for.

A library's own limit is for each read, so that a server which sends a byte a second is never too slow for it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar

_T = TypeVar("_T")
# How often a wait checks whether it is still wanted, in seconds.
_STEP = 0.2


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
