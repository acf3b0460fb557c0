"""What an engine is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
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
        ...
