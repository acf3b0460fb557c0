"""Next in a round: the passages that it shows of papers, its calls and rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from builder.families.next.passages import Passage, neutral_text, passages_of
from builder.families.reading.asking import LABEL_TOKENS, QuestionColumns, part_of
from builder.families.reading.making import reading_family
from builder.families.reading.neighbours import NeighbourAsking
from builder.samples.tokens import token_counter
from builder.seeding import digest_of
from lm_eval_tasks.retrieval.sparse import BM25

if TYPE_CHECKING:
    from builder.families.reading.contexts import PaperSet
    from builder.families.reading.paper_library import PaperLibrary
    from builder.records import Paper, ReadingReason


# Passages that a context asks about, of one paper and in all; and in one call, which is long whatever it asks.
_OF_PAPER, _OF_CONTEXT = 3, 40
LEAST_OF_CALL, MOST_OF_CALL = 5, 20


@dataclass(frozen=True, slots=True)
class NextCall:
    """What is asked in one call: passages, and for each the one that follows it within its section."""

    asked: tuple[Passage, ...]
    following: tuple[Passage, ...]


def following(passages: Sequence[Passage]) -> dict[Passage, Passage]:
    """Passage -> the one that follows it within its section, if the one ends and the other begins as sentences do."""
    by_key = {passage.key: passage for passage in passages}
    after = {passage: by_key.get((passage.paper, passage.section, passage.number + 1)) for passage in passages}
    return {
        passage: next_one
        for passage, next_one in after.items()
        if next_one and passage.ends_whole and next_one.begins_whole
    }


def calls(passages: Sequence[Passage], context: str, seed: int) -> list[NextCall]:
    """What is asked over the passages of a context, chosen at random: calls of equal size, between `LEAST_OF_CALL` and
    `MOST_OF_CALL`; none if there is too little to ask.
    """
    after = following(passages)
    of_paper: dict[str, int] = {}
    chosen: list[Passage] = []
    answers: set[Passage] = set()
    for passage in sorted(after, key=lambda passage: digest_of(seed, context, *passage.key, "asked")):
        # Two links of one chain tell more than each alone.
        is_free = passage not in answers and after[passage] not in chosen
        if is_free and of_paper.get(passage.paper, 0) < _OF_PAPER and len(chosen) < _OF_CONTEXT:
            of_paper[passage.paper] = of_paper.get(passage.paper, 0) + 1
            chosen.append(passage)
            answers.add(after[passage])
    if len(chosen) < LEAST_OF_CALL:
        return []
    count = -(-len(chosen) // MOST_OF_CALL)
    groups = [chosen[i::count] for i in range(count)]
    return [NextCall(tuple(group), tuple(after[passage] for passage in group)) for group in groups]


def by_words(asked: Sequence[int], shown: Sequence[str]) -> list[int]:
    """The shortcut: for each of some passages the other one that BM25 finds for its text.

    Args:
        asked: places among `shown`.
        shown: the texts of all passages.
    """
    scores = BM25().all_scores([shown[place] for place in asked], shown)
    scores[range(len(asked)), asked] = -1.0
    return [int(place) for place in scores.argmax(axis=1)]


_KEPT = 1024


class NextFamily(NeighbourAsking[NextCall]):
    """Next over the papers of a round."""

    task = "next"
    unfit: ReadingReason = "no_question"

    def __init__(self, library: PaperLibrary, seed: int) -> None:
        super().__init__(library, seed)
        self._passages = lru_cache(maxsize=_KEPT)(lambda id_: passages_of(library.read(id_)))

    def tokens(self, paper: Paper) -> int | None:
        texts = list(map(self._text, self._passages(paper.id)))
        return sum(token_counter()(texts)) + LABEL_TOKENS * len(texts) or None

    def questions(self, context: PaperSet, preferred: Sequence[NextCall]) -> list[NextCall]:
        return list(preferred) or calls(self._all(context), context.paper.id, self.seed)

    def key(self, question: NextCall) -> Sequence[object]:
        return [passage.key for passage in question.asked]

    def parts(self, context: PaperSet) -> list[dict[str, Any]]:
        return [
            part_of(i, passage.start, passage.end, list(map(asdict, passage.edits)))
            for i, paper in enumerate(context.papers)
            for passage in self._passages(paper.id)
        ]

    def asked(self, question: NextCall, context: PaperSet, label: Mapping[Any, int]) -> QuestionColumns:
        places = {paper.id: i for i, paper in enumerate(context.papers)}
        labels = {passage: label[places[passage.paper], passage.start] for passage in self._all(context)}
        in_order = sorted(labels, key=labels.__getitem__)
        pairs = sorted(
            (labels[first], labels[second]) for first, second in zip(question.asked, question.following, strict=True)
        )
        asked = [first for first, _ in pairs]
        found = by_words([number - 1 for number in asked], list(map(self._text, in_order)))
        return QuestionColumns("following", [second for _, second in pairs], [place + 1 for place in found], asked)

    def _all(self, context: PaperSet) -> list[Passage]:
        return [passage for paper in context.papers for passage in self._passages(paper.id)]

    def _text(self, passage: Passage) -> str:
        text = self.library.read(passage.paper).shown.text
        return neutral_text(text, passage.start, passage.end, passage.edits)


FAMILY = reading_family(lambda library, plan: [NextFamily(library, plan.seed)])
