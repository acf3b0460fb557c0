"""What an engine is, the engines by name, and the one that a process uses where none can be passed on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

_T = TypeVar("_T")
_R = TypeVar("_R")


class Engine(AbstractContextManager["Engine"], Protocol):
    """Applies functions to items. The results do not depend on the engine, nor on how many items it takes at a time.

    Functions and items are pickled on their way to another process. What a function loads once for all items, it keeps in a
    cache of its module.
    """

    def map(
        self, function: Callable[[_T], _R], items: Iterable[_T], at_once: int = 1, *, large: bool = False
    ) -> Iterator[_R]:
        """The results in the order of the items, which are consumed as they are needed.

        Args:
            at_once: items that travel together.
            large: whether a single item is worth starting a process for.

        Raises:
            EngineError: the work cannot be done here; what a function raises is passed on.
        """


_CURRENT: ContextVar[Engine | None] = ContextVar("engine", default=None)


def open_engine(name: str, jobs: int = 1) -> Engine:
    """An engine of that name.

    Args:
        jobs: processes of the local engine; a cluster has as many as its nodes offer.

    Raises:
        EngineError: its package or cluster is missing.
    """
    if name == "ray":
        from lm_eval_tasks.engines.ray import RayEngine

        return RayEngine()
    from lm_eval_tasks.engines.local import LocalEngine

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
    """The engine that was set; this process alone if none was."""
    return _CURRENT.get() or open_engine("local")
