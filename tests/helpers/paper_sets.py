"""Paper sets alone: what is asked about them does not matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from builder.families.reading.asking import LEAST_PAPERS, PaperSet, ReadingAsker, fill
from builder.records import Paper


class SetsAlone(ReadingAsker[str]):
    """Chooses paper_sets and counts questions; rows cannot be made of them."""

    fewest = LEAST_PAPERS

    def tokens(self, paper: Paper) -> int:
        raise NotImplementedError

    def paper_sets(self, paper: Paper, sizes: Sequence[int]) -> dict[int, PaperSet]:
        return fill(paper, self.others(paper), sizes, self.tokens)

    def key(self, question: str) -> Sequence[object]:
        raise NotImplementedError

    def parts(self, paper_set: PaperSet) -> list[dict[str, Any]]:
        raise NotImplementedError

    def asked(self, question: str, paper_set: PaperSet, label: Mapping[Any, int]) -> dict[str, Any]:
        raise NotImplementedError
