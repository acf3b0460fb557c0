"""Next in a round: the passages that it shows of papers, its calls and rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from builder.reading.asking import LABEL_TOKENS, Asked, part_of
from builder.reading.neighbours import NeighbourAsking
from builder.reading.next import NextCall, by_words, calls
from builder.reading.passages import Passage, neutral_text, passages_of
from builder.samples.tokens import token_counter
from lm_eval_tasks.metrics.reading import FOLLOWING

if TYPE_CHECKING:
    from builder.reading.contexts import Context
    from builder.reading.shelf import Shelf
    from builder.records import Paper, ReadingReason

_KEPT = 1024


class NextAsking(NeighbourAsking[NextCall]):
    """Next over the papers of a round."""

    task = "next"
    unfit: ReadingReason = "no_question"

    def __init__(self, shelf: Shelf, seed: int) -> None:
        super().__init__(shelf, seed)
        self._passages = lru_cache(maxsize=_KEPT)(lambda id_: passages_of(shelf.read(id_)))

    def tokens(self, paper: Paper) -> int | None:
        texts = list(map(self._text, self._passages(paper.id)))
        return sum(token_counter()(texts)) + LABEL_TOKENS * len(texts) or None

    def questions(self, context: Context, preferred: Sequence[NextCall]) -> list[NextCall]:
        return list(preferred) or calls(self._all(context), context.paper.id, self.seed)

    def key(self, question: NextCall) -> Sequence[object]:
        return [passage.key for passage in question.asked]

    def parts(self, context: Context) -> list[dict[str, Any]]:
        return [
            part_of(i, passage.start, passage.end, list(map(asdict, passage.edits)))
            for i, paper in enumerate(context.papers)
            for passage in self._passages(paper.id)
        ]

    def asked(self, question: NextCall, context: Context, label: Mapping[Any, int]) -> Asked:
        places = {paper.id: i for i, paper in enumerate(context.papers)}
        labels = {passage: label[places[passage.paper], passage.start] for passage in self._all(context)}
        in_order = sorted(labels, key=labels.__getitem__)
        pairs = sorted(
            (labels[first], labels[second]) for first, second in zip(question.asked, question.following, strict=True)
        )
        asked = [first for first, _ in pairs]
        found = by_words([number - 1 for number in asked], list(map(self._text, in_order)))
        return Asked(FOLLOWING, [second for _, second in pairs], [place + 1 for place in found], asked)

    def _all(self, context: Context) -> list[Passage]:
        return [passage for paper in context.papers for passage in self._passages(paper.id)]

    def _text(self, passage: Passage) -> str:
        text = self.shelf.read(passage.paper).shown.text
        return neutral_text(text, passage.start, passage.end, passage.edits)
