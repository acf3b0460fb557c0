"""Next: given passages of several papers, which passage follows each of them in its paper?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from builder.seeding import digest_of
from lm_eval_tasks.retrieval.sparse import BM25

if TYPE_CHECKING:
    from builder.reading.passages import Passage

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
