"""The engines by name, and the one that a process uses where none can be passed on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lm_eval_tasks.engines.base import Engine

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
