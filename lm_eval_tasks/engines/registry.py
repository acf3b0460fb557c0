"""What an engine is, that of one machine (this process, and children once there is work for them), and the engines by name."""

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from itertools import islice
from multiprocessing import get_context
from typing import Protocol, TypeVar

from lm_eval_tasks.base.errors import EngineError
from lm_eval_tasks.base.files import die_with

_T = TypeVar("_T")
_R = TypeVar("_R")
# Starting processes costs more than a small amount of work does.
_PATIENCE = 2.0
_AHEAD = 3


class Engine(AbstractContextManager["Engine"], Protocol):
    """Applies functions to items. The results do not depend on the engine, nor on how many items it takes at a time.

    Functions and items are pickled on their way to another process. What a function loads once for all items, it keeps in a
    cache of its module.
    """

    def map(
        self, function: Callable[[_T], _R], items: Iterable[_T], at_once: int = 1, *, large: bool = False
    ) -> Iterator[_R]:
        """Yield the results in the order of the items, which are consumed as they are needed.

        Args:
            at_once: items that travel together.
            large: whether a single item is worth starting a process for.

        Raises:
            EngineError: the work cannot be done here; what a function raises is passed on.
        """


_CURRENT: ContextVar[Engine | None] = ContextVar("engine", default=None)


def open_engine(name: str, jobs: int = 1) -> Engine:
    """Return an engine of that name, the local one with so many processes (a cluster has as many as its nodes offer); an EngineError if its
    package or cluster is missing.
    """
    if name == "ray":
        from lm_eval_tasks.engines.ray import RayEngine

        return RayEngine()
    return LocalEngine(jobs)


@contextmanager
def working_with(engine: Engine) -> Iterator[None]:
    """Let `current_engine` be this one: lm-eval calls our metrics and retrievers, and knows of no engine to pass to them."""
    token = _CURRENT.set(engine)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current_engine() -> Engine:
    """Return the engine that was set; this process alone if none was."""
    return _CURRENT.get() or open_engine("local")


class LocalEngine(AbstractContextManager["LocalEngine"]):
    """Runs functions here, with up to `jobs` processes if the work takes longer than starting them."""

    def __init__(self, jobs: int = 1) -> None:
        self.jobs = jobs
        self._pool: ProcessPoolExecutor | None = None

    def map(
        self, function: Callable[[_T], _R], items: Iterable[_T], at_once: int = 1, *, large: bool = False
    ) -> Iterator[_R]:
        waiting = iter(items)
        if self._pool is None and not (large and self.jobs > 1):
            until = time.monotonic() + _PATIENCE
            for item in waiting:
                yield function(item)
                if self.jobs > 1 and time.monotonic() > until:
                    break
            else:
                return
        yield from self._spread(function, waiting, at_once)

    def _spread(self, function: Callable[[_T], _R], items: Iterator[_T], at_once: int) -> Iterator[_R]:
        if self._pool is None:
            # Threads of numpy, pyarrow and the tokenizer do not survive a fork.
            self._pool = ProcessPoolExecutor(
                self.jobs, mp_context=get_context("spawn"), initializer=die_with, initargs=(os.getpid(),)
            )
        pending: deque[Future[list[_R]]] = deque()
        try:
            while batch := list(islice(items, at_once)):
                pending.append(self._pool.submit(_each, function, batch))
                if len(pending) >= _AHEAD * self.jobs:
                    yield from pending.popleft().result()
            while pending:
                yield from pending.popleft().result()
        except BrokenProcessPool as err:
            raise EngineError(
                "a process of this command was ended from outside, perhaps for lack of memory: run the command again with "
                "fewer `--jobs`"
            ) from err
        finally:
            for future in pending:
                future.cancel()

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None


def _each(function: Callable[[_T], _R], items: list[_T]) -> list[_R]:
    return [function(item) for item in items]
