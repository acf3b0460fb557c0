"""What every retriever offers, and ranking by scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np


class Retriever(Protocol):
    """Ranks the chunks of samples against their queries.

    Attributes:
        name: distinguishes whatever may rank differently.
    """

    name: str

    def rank(self, queries: Sequence[str], chunks: Sequence[Sequence[str]], top: int) -> list[list[int]]:
        """For each query the indices of its best chunks, best first; ties in the order of the text."""
        ...


def best(scores: Any, top: int) -> list[int]:
    """Indices of the highest scores, ties in their order.

    Args:
        scores: shape (chunks,).
    """
    return [int(i) for i in np.argsort(-np.asarray(scores), kind="stable")[:top]]
