"""Contexts alone: what is asked about them does not matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from builder.families.reading.asking import QuestionColumns
from builder.families.reading.contexts import PaperSet
from builder.families.reading.neighbours import NeighbourAsking


class ContextsAlone(NeighbourAsking[str]):
    """Chooses contexts and counts questions; rows cannot be made of them."""

    def key(self, question: str) -> Sequence[object]:
        raise NotImplementedError

    def parts(self, context: PaperSet) -> list[dict[str, Any]]:
        raise NotImplementedError

    def asked(self, question: str, context: PaperSet, label: Mapping[Any, int]) -> QuestionColumns:
        raise NotImplementedError
