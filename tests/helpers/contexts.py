"""Contexts alone: what is asked about them does not matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from builder.families.reading.asking import LEAST_PAPERS, PaperSet, ReadingAsker, fill
from builder.records import Paper


class ContextsAlone(ReadingAsker[str]):
    """Chooses contexts and counts questions; rows cannot be made of them."""

    fewest = LEAST_PAPERS

    def tokens(self, paper: Paper) -> int:
        raise NotImplementedError

    def contexts(self, paper: Paper, sizes: Sequence[int]) -> dict[int, PaperSet]:
        return fill(paper, self.others(paper), sizes, self.tokens)

    def key(self, question: str) -> Sequence[object]:
        raise NotImplementedError

    def parts(self, context: PaperSet) -> list[dict[str, Any]]:
        raise NotImplementedError

    def asked(self, question: str, context: PaperSet, label: Mapping[Any, int]) -> dict[str, Any]:
        raise NotImplementedError
