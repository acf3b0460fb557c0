"""What a reading family does around a new paper: the paper sets, what is asked over them, and the rows.

A paper set is a new paper and older ones by the authors around its own, or of its category, as many as fill a number of tokens.
"""

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from builder.collect.graph import CoAuthorGraph
from builder.families.reading.columns import no_lists, shared_columns
from builder.families.reading.papers_read import PaperLibrary
from builder.parquet.schema import Row
from builder.records import Paper, ReadingReason, months_before
from builder.seeding import digest_of, share_of
from builder.sources.tokenizer import token_counter
from lm_eval_tasks.base.contract import PAPERS
from lm_eval_tasks.base.typed import typed
from lm_eval_tasks.families.reading.answering import reading_answering
from lm_eval_tasks.families.reading.prompt import prompt_of
from lm_eval_tasks.families.reading.reading_row import ReadingRow

# Of the tokens in a configuration's name: the rest is left to other tokenizers, templates and answers. With the prompt's own words
# a paper set has between 0.85 and 0.92 of them.
LEAST, MOST = 0.855, 0.915
# Tokens that the words of prompts and the answers take: much of a small paper set, nothing of a large one.
_BESIDE, _LARGE = 640, 128


def room(size: int, share: float) -> float:
    """Return the tokens of a share of a paper set that texts may take.

    Args:
        size: of the paper set, in units of 1,024 tokens.
    """
    return share * size * 1024 - (_BESIDE if size < _LARGE else 0)


@dataclass(frozen=True, slots=True)
class PaperSet:
    """Papers that are shown together.

    Attributes:
        papers: the new one first, then in the order in which they were taken.
        tokens: that they have together.
        stretches: paper and first character of each stretch that is shown, where papers are not shown whole.
    """

    papers: tuple[Paper, ...]
    tokens: int
    stretches: frozenset[tuple[str, int]] = frozenset()

    @property
    def paper(self) -> Paper:
        """The new paper."""
        return self.papers[0]


def neighbours(papers: Sequence[Paper], graph: CoAuthorGraph, seed: int, months: int) -> Callable[[Paper], list[Paper]]:
    """Return what gives the papers that may stand around a new one, within the window: those of the same first author, then by distance on
    the co-author graph, then those that it does not join to the paper: with its primary category, then with any other of its categories.

    Args:
        papers: those that may be shown.
        months: that they may be older than the new one.
    """
    known = {paper.id: paper for paper in papers}
    of_category: defaultdict[str, set[str]] = defaultdict(set)
    for paper in known.values():
        for category in paper.categories:
            of_category[category].add(paper.id)

    def around(paper: Paper) -> list[Paper]:
        since = months_before(paper.published, months)
        near = set[str]().union(*(of_category[category] for category in paper.categories))
        found: dict[str, Paper] = {}
        for ids in (*graph.papers_by_distance(paper), of_category[paper.primary_category], near):
            ring = (known[id_] for id_ in known.keys() & set(ids) - found.keys())
            in_order = sorted(ring, key=lambda other: digest_of(seed, paper.id, other.id, "context"))
            found |= {other.id: other for other in in_order}
        return [other for other in found.values() if since <= other.published < paper.published]

    return around


def fill(
    paper: Paper, others: Sequence[Paper], sizes: Sequence[int], tokens: Callable[[Paper], int | None]
) -> dict[int, PaperSet]:
    """Return the contexts of several sizes, each within the next larger one; none of a size that cannot be filled.

    Args:
        others: what may be taken, the best first.
        sizes: thousands of tokens, times 1,024, in rising order.
        tokens: of a paper as it is shown; None for one that cannot be.
    """
    paper_sets: dict[int, PaperSet] = {}
    taken, total = {paper.id: paper}, tokens(paper) or 0
    for size in sizes:
        least, most = room(size, LEAST), room(size, MOST)
        for other in others:
            if total >= least:
                break
            if other.id not in taken and (more := tokens(other)) and total + more <= most:
                taken[other.id] = other
                total += more
        if least <= total <= most:
            paper_sets[size] = PaperSet(tuple(taken.values()), total)
    return paper_sets


Question = TypeVar("Question")
# Fewer whole papers say too little about a set.
LEAST_PAPERS = 8
# What a label above a part takes.
LABEL_TOKENS = 8
# Of the rows, those that are asked again with the parts in another order.
_AGAIN = 0.1


class ReadingAsker(ABC, Generic[Question]):
    """One family over the papers of a round.

    Attributes:
        controls: whether it asks what a shortcut answers, see `reading.Reading` of `lm_eval_tasks`.
        fewest: papers of a paper set, the new one included; what a paper set with fewer is dropped for is `too_few`.
        most_floor: what the shortcut may score; a configuration in which it scores more is not offered.
        keeps_apart: whether paper sets are chosen so that no paper is in two of them.
        shown: papers of the paper sets that were taken.
        withheld: reason -> questions that have no certain answer, over the paper sets since it was last cleared.
    """

    task: str
    controls: bool = False
    fewest: int = 0
    too_few: ReadingReason = "too_few_papers"
    most_floor: float = 1.0
    keeps_apart: bool = True

    def __init__(self, library: PaperLibrary, seed: int) -> None:
        self.library, self.seed = library, seed
        self.shown: set[str] = set()
        self.withheld: Counter[str] = Counter()

    def others(self, paper: Paper) -> list[Paper]:
        """Return what may stand around a paper, the best first: papers that no paper set shows yet."""
        return sorted(self.library.around(paper), key=lambda other: other.id in self.shown)

    @abstractmethod
    def paper_sets(self, paper: Paper, sizes: Sequence[int]) -> dict[int, PaperSet] | ReadingReason:
        """Return the paper sets around a paper, each within the next larger one; or why there is none of any size.

        Args:
            sizes: thousands of tokens, times 1,024, in rising order.
        """

    @abstractmethod
    def questions(self, paper_set: PaperSet, preferred: Sequence[Question]) -> list[Question]:
        """Return what is asked over a paper set.

        Args:
            preferred: what was asked over a smaller paper set within this one.
        """

    @abstractmethod
    def key(self, question: Question) -> Sequence[object]:
        """Return what makes it the same question over a larger paper set."""

    @abstractmethod
    def parts(self, paper_set: PaperSet) -> list[dict[str, Any]]:
        """Return what is shown under labels, as the column `parts` of a row, in any order."""

    @abstractmethod
    def asked(self, question: Question, paper_set: PaperSet, label: Mapping[Any, int]) -> Row:
        """Return the columns that tell what a question asks; lists that are left out are empty.

        Args:
            label: key of a part, see `key_of`, -> its label.
        """

    def last(self, question: Question, paper_set: PaperSet) -> list[dict[str, Any]]:
        """Return the parts without a label that a question shows behind the others."""
        return []

    def rows(self, paper_set: PaperSet, questions: Sequence[Question], round_name: str) -> Iterator[Row]:
        """Yield the rows of a paper set: all questions, then a tenth of them again with the parts in another order."""
        paper, *others = paper_set.papers
        # An order that does not tell why they were taken; the new one stays first.
        others.sort(key=lambda other: digest_of(self.seed, paper.id, other.id, "listed"))
        paper_set = replace(paper_set, papers=(paper, *others))
        names = [digest_of(*self.key(question)).hex()[:8] for question in questions]
        again = [n for n, name in enumerate(names) if share_of(self.seed, paper.id, name, "again") < _AGAIN]
        shared = shared_columns(paper_set.papers, round_name)
        texts = {(PAPERS, other.versioned_id): self.library.read(other.id).shown.text for other in paper_set.papers}
        parts = self.parts(paper_set)
        answering = reading_answering(self.task)
        for order, numbers in enumerate((range(len(questions)), again)):
            in_order = sorted(parts, key=lambda part: digest_of(self.seed, paper.id, *key_of(part), order))
            label = {key_of(part): i for i, part in enumerate(in_order, 1)}
            common_tokens = 0
            for n in numbers:
                row = {
                    **no_lists(),
                    **shared,
                    "id": f"{paper.versioned_id}#{names[n]}" + "r" * order,
                    "order": order,
                    "parts": [*in_order, *self.last(questions[n], paper_set)],
                    "labels": len(in_order),
                    **self.asked(questions[n], paper_set, label),
                }
                common, own = prompt_of(typed(ReadingRow, row), texts, answering)
                common_tokens = common_tokens or token_counter()([common])[0]
                yield row | {"input_tokens": common_tokens + token_counter()([own])[0]}


def part_of(paper: int, start: int, end: int, edits: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """Return an element of the column `parts`."""
    return {"paper": paper, "start": start, "end": end, "edits": list(edits)}


def key_of(part: Mapping[str, Any]) -> tuple[int, int]:
    """Return what tells a part from the others of its paper set: the paper's place, and where it begins."""
    return part["paper"], part["start"]
