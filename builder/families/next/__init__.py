"""Next in a round: the passages that it shows of papers, its calls and rows.

Passages are sections cut at sentence ends into stretches of about the same length, neutral in what they show.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import accumulate, groupby
from math import inf
from typing import Any

from builder.families.reading.asking import LABEL_TOKENS, LEAST, PaperSet, ReadingAsker, part_of, room
from builder.families.reading.making import reading_family
from builder.families.reading.neutral import SENTENCE_END, edits_of
from builder.families.reading.papers_read import PaperLibrary, PaperRead
from builder.parquet.schema import Row
from builder.records import Paper, ReadingReason
from builder.seeding import digest_of
from builder.sources.tokenizer import token_counter
from lm_eval_tasks.base.bm25 import bm25_scores, standardised
from lm_eval_tasks.families.reading import SMALL
from lm_eval_tasks.families.reading.prompt import edited
from lm_eval_tasks.families.reading.reading_row import Edit

# Words of a passage: twice the shortest is no more than the longest, so that every rest of a passage or more can be cut.
SHORTEST, LONGEST = 175, 350
_BEGINS = re.compile(r"[\W\d]{0,4}(?:[A-Z]|\[)")
_ENDS = re.compile(r"[.?!:;)\]”\"']\s*$")


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a paper's shown text.

    Attributes:
        section: of the document, and `number` of the passage in it.
        edits: in characters of the shown text.
        begins_whole, ends_whole: whether it begins and ends as sentences do, as far as a file's debris lets it.
    """

    paper: str
    section: int
    number: int
    start: int
    end: int
    edits: tuple[Edit, ...]
    begins_whole: bool
    ends_whole: bool

    @property
    def key(self) -> tuple[str, int, int]:
        return self.paper, self.section, self.number


def passages_of(read: PaperRead) -> list[Passage]:
    """Return the passages of a paper, section after section."""
    return [passage for section in sorted(read.called) for passage in _of_section(read, section)]


def _of_section(read: PaperRead, section: int) -> Iterator[Passage]:
    text = read.document.sections[section].text
    cited = [(mention.start, mention.end) for mention in read.document.mentions if mention.section == section]
    edits = edits_of(text, cited)
    at = read.shown.sections[section]
    for number, (start, end) in enumerate(_stretches(text, edits, f"{read.paper.id} {section}")):
        inside = [
            Edit(max(start, edit.start), min(end, edit.end), edit.text)
            for edit in edits
            if edit.start < end and start < edit.end
        ]
        moved = tuple(Edit(edit.start + at, edit.end + at, edit.text) for edit in inside)
        shown = edited(text, start, end, inside)
        whole = _BEGINS.match(shown) is not None, "\n" in text[end : end + 2] and _ENDS.search(shown) is not None
        yield Passage(read.paper.id, section, number, start + at, end + at, moved, *whole)


def _stretches(text: str, edits: Sequence[Edit], seed: str) -> Iterator[tuple[int, int]]:
    """Yield where a section is cut: at ends of paragraphs, as far as the bounds of a passage let it; nothing if it is too short.

    The last passage is told from others by its length as little as any: each cut is drawn from those that leave a rest which can be
    cut within the bounds.
    """
    ends = _possible_cuts(text, edits)
    words = accumulate(_words(text, start, end, edits) for start, end in zip([0, *ends], ends, strict=False))
    reached = dict(zip(ends, words, strict=True))
    total, start, done = reached[ends[-1]], 0, 0
    while total - done >= SHORTEST:
        fitting = [
            end
            for end in ends
            if SHORTEST <= reached[end] - done <= LONGEST and not 0 < total - reached[end] < SHORTEST
        ]
        if not fitting:
            return
        at_paragraphs = [end for end in fitting if end == ends[-1] or "\n" in text[end - 1 : end + 1]]
        end = min(at_paragraphs or fitting, key=lambda end: digest_of(seed, end))
        stretch = text[start:end]
        yield start + len(stretch) - len(stretch.lstrip()), start + len(stretch.rstrip())
        start, done = end, reached[end]


def _possible_cuts(text: str, edits: Sequence[Edit]) -> list[int]:
    """Return the ends of sentences and of paragraphs that end with one, outside what is replaced; the end of the text last."""
    ends = [match.end() for match in SENTENCE_END.finditer(text)]
    free = [end for end in ends if not any(edit.start < end < edit.end for edit in edits)]
    return [*free, len(text)]


def _words(text: str, start: int, end: int, edits: Sequence[Edit]) -> int:
    return len(edited(text, start, end, [edit for edit in edits if start <= edit.start and edit.end <= end]).split())


# Passages that a paper set asks about; and in one call, which is long whatever it asks.
_OF_CONTEXT = 40
LEAST_OF_CALL, MOST_OF_CALL = 3, 20


# What is asked in one call: passages, and for each the one that follows it within its section.
NextCall = Mapping[Passage, Passage]


def in_chains(passages: Sequence[Passage], least: int) -> list[Passage]:
    """Return the passages of a paper as they are taken: section after section, the longest first, and those of fewer than `least` left
    out.
    """
    sections = [list(group) for _, group in groupby(passages, key=lambda passage: passage.section)]
    chains = sorted((chain for chain in sections if len(chain) >= least), key=len, reverse=True)
    return [passage for chain in chains for passage in chain]


def following(passages: Sequence[Passage]) -> dict[Passage, Passage]:
    """Return the passage that can be asked about -> the one that follows it within its section.

    A passage can be asked about if it ends with its paragraph, because words go on within a paragraph, and if the one before it is shown
    too, which is as like it as the one after. A program that compares words finds 0.2 to 0.4 of these, and more than half of all.
    """
    by_key = {passage.key: passage for passage in passages}
    neighbours = {
        passage: [by_key.get((passage.paper, passage.section, passage.number + step)) for step in (-1, 1)]
        for passage in passages
    }
    return {
        passage: after
        for passage, (before, after) in neighbours.items()
        if before and after and passage.ends_whole and after.begins_whole
    }


def twins(texts: Mapping[Passage, str]) -> set[Passage]:
    """Return the passages much of whose text stands in another one, such as those of two versions of a paper: both would be right."""
    runs: dict[Passage, set[tuple[str, ...]]] = {}
    for passage, text in texts.items():
        words = text.casefold().split()
        runs[passage] = {tuple(words[i : i + _RUN]) for i in range(len(words) - _RUN + 1)}
    counts = Counter(run for of_passage in runs.values() for run in of_passage)
    return {passage for passage, own in runs.items() if sum(counts[run] > 1 for run in own) > _MOST_SHARED * len(own)}


def calls(
    passages: Sequence[Passage],
    paper_id: str,
    seed: int,
    earlier: Sequence[NextCall] = (),
    unclear: Collection[Passage] = (),
) -> list[NextCall]:
    """Return what is asked over the passages of a paper set, chosen at random: calls of equal size, between `LEAST_OF_CALL` and
    `MOST_OF_CALL`; none if there is too little to ask.

    Args:
        earlier: calls that the paper set has already.
        unclear: passages that are neither asked about nor an answer.
    """
    pairs = following(passages).items()
    after = {passage: next_ for passage, next_ in pairs if passage not in unclear and next_ not in unclear}
    chosen: list[Passage] = []
    used = {passage for call in earlier for passage in (*call, *call.values())}
    most = _OF_CONTEXT - sum(map(len, earlier))
    for passage in sorted(after, key=lambda passage: digest_of(seed, paper_id, *passage.key, "asked")):
        # Two links of one chain tell more than each alone.
        if len(chosen) < most and used.isdisjoint((passage, after[passage])):
            chosen.append(passage)
            used |= {passage, after[passage]}
    if len(chosen) < LEAST_OF_CALL:
        return []
    count = -(-len(chosen) // MOST_OF_CALL)
    return [{passage: after[passage] for passage in chosen[i::count]} for i in range(count)]


def by_words(asked: Sequence[int], shown: Sequence[str]) -> list[int]:
    """Return the shortcut: for each of some passages, by their places among the texts of all, the other one that BM25 finds, for all of its
    text and for its end in what others begin with, both together.
    """
    words = [text.split() for text in shown]
    ends = bm25_scores(
        [" ".join(words[index][-_END_WORDS:]) for index in asked], [" ".join(of_text[:_END_WORDS]) for of_text in words]
    )
    scores = standardised(bm25_scores([shown[index] for index in asked], shown)) + standardised(ends)
    scores[range(len(asked)), asked] = -inf
    return [int(index) for index in scores.argmax(axis=1)]


# Papers whose passages are kept in memory, and words of a passage's end and of its beginning.
_KEPT, _END_WORDS = 1024, 120
# Words of a run, and the share of a passage's runs that others may have.
_RUN, _MOST_SHARED = 25, 0.2


class NextAsker(ReadingAsker[NextCall]):
    """Next over the papers of a round."""

    task = "next"
    most_floor = 0.5

    def __init__(self, library: PaperLibrary, seed: int) -> None:
        super().__init__(library, seed)
        self._passages = lru_cache(maxsize=_KEPT)(lambda id_: in_chains(passages_of(library.read(id_)), 1))
        self._tokens = lru_cache(maxsize=_KEPT)(self._count)

    def _count(self, id_: str) -> list[int]:
        return [count + LABEL_TOKENS for count in token_counter()(list(map(self._text, self._passages(id_))))]

    def paper_sets(self, paper: Paper, sizes: Sequence[int]) -> dict[int, PaperSet] | ReadingReason:
        if not self._passages(paper.id):
            return "no_question"
        papers = [paper, *self.others(paper)]
        return {size: paper_set for size in sizes if (paper_set := self._filled(papers, size))}

    def _filled(self, papers: Sequence[Paper], size: int) -> PaperSet | None:
        """Return as many passages as fill a paper set, one paper after another; None if there are too few, or none of the new paper.

        In small paper sets, sections of a single passage would leave too little to ask.
        """
        least = 2 if size in SMALL.values() else 1
        taken: dict[str, Paper] = {}
        stretches: set[tuple[str, int]] = set()
        total = 0
        for paper in papers:
            chains = in_chains(self._passages(paper.id), least)
            if not taken and not chains:
                return None
            for passage, tokens in zip(chains, self._tokens(paper.id), strict=False):
                taken[paper.id] = paper
                stretches.add((paper.id, passage.start))
                total += tokens
                if total >= room(size, LEAST):
                    return PaperSet(tuple(taken.values()), total, frozenset(stretches))
        return None

    def questions(self, paper_set: PaperSet, preferred: Sequence[NextCall]) -> list[NextCall]:
        every = self._all(paper_set)
        shown = set(every)
        unclear = twins({passage: self._text(passage) for passage in every})
        earlier = [call for call in preferred if (shown - unclear).issuperset((*call, *call.values()))]
        return [*earlier, *calls(every, paper_set.paper.id, self.seed, earlier, unclear)]

    def key(self, question: NextCall) -> Sequence[object]:
        return [passage.key for passage in question]

    def parts(self, paper_set: PaperSet) -> list[dict[str, Any]]:
        indices = {paper.id: i for i, paper in enumerate(paper_set.papers)}
        return [
            part_of(indices[passage.paper], passage.start, passage.end, list(map(asdict, passage.edits)))
            for passage in self._all(paper_set)
        ]

    def asked(self, question: NextCall, paper_set: PaperSet, label: Mapping[Any, int]) -> Row:
        indices = {paper.id: i for i, paper in enumerate(paper_set.papers)}
        labels = {passage: label[indices[passage.paper], passage.start] for passage in self._all(paper_set)}
        in_order = sorted(labels, key=labels.__getitem__)
        pairs = sorted((labels[first], labels[second]) for first, second in question.items())
        asked = [first for first, _ in pairs]
        found = by_words([number - 1 for number in asked], list(map(self._text, in_order)))
        return {
            "kind": "following",
            "asked": asked,
            "answer": [second for _, second in pairs],
            "shortcut": [index + 1 for index in found],
        }

    def _all(self, paper_set: PaperSet) -> list[Passage]:
        return [
            passage
            for paper in paper_set.papers
            for passage in self._passages(paper.id)
            if (passage.paper, passage.start) in paper_set.stretches
        ]

    def _text(self, passage: Passage) -> str:
        return edited(self.library.read(passage.paper).shown.text, passage.start, passage.end, passage.edits)


FAMILY = reading_family(lambda library, round_: [NextAsker(library, round_.seed)])
