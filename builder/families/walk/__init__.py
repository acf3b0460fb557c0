"""Walk: which of these papers cite a work in their experiments, introduction, related work or method, or next to another work?

Whatever is not certain is withheld with a reason: the section has a heading that people would call different things, or the two ways
to find where a paper cites (`citing`) disagree.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, islice, permutations
from typing import Any, Literal, get_args

from builder.families.reading.asking import LABEL_TOKENS, LEAST_PAPERS, PaperSet, ReadingAsker, fill, part_of
from builder.families.reading.citing import Locations
from builder.families.reading.making import reading_family
from builder.families.reading.papers_read import PaperLibrary, PaperRead
from builder.families.reading.works import CitedWork, WorkFault, certain_works, is_garbled, near_titles
from builder.parquet.schema import Row
from builder.records import Paper, ReadingReason
from builder.seeding import digest_of, share_of
from lm_eval_tasks.base.text import title_key

WalkKind = Literal["experiments", "introduction", "related_work", "method", "background_only", "same_paragraph"]
WALK_KINDS: tuple[WalkKind, ...] = get_args(WalkKind)
# What a search for titles answers, to compare with.
ControlKind = Literal["cites", "cites_both", "cites_first_only"]
CONTROL_KINDS: tuple[ControlKind, ...] = get_args(ControlKind)
Kind = WalkKind | ControlKind
Withheld = Literal[
    "garbled_title",
    "inside_the_set",
    "missed_entry",
    "near_title",
    "ways_disagree",
    "cited_nowhere",
    "doubtful_section",
    "doubtful_paragraph",
]
# Of the questions, those that no paper answers.
_EMPTY = 0.1
# A work that many papers cite leaves more to read.
_MANY = 4
# Where one paper alone cites two works, it is known to be the answer.
_FEWEST_TOGETHER = 2


@dataclass(frozen=True, slots=True)
class WalkQuestion:
    """A question over a set of papers.

    Attributes:
        works: that it names: one, or two for "same_paragraph".
        answer: ids of the papers that answer it.
        by_title: what a search for the titles in the papers' texts finds.
    """

    kind: Kind
    works: tuple[CitedWork, ...]
    answer: frozenset[str]
    by_title: frozenset[str]

    @property
    def key(self) -> tuple[str, ...]:
        """What makes it the same question over another set of papers."""
        return self.kind, *(work.key for work in self.works)


class Walk:
    """The questions that can be asked over a set of papers.

    Args:
        papers: the new one first; works that it cites are asked about before others.
        kinds: of the questions, `WALK_KINDS` or `CONTROL_KINDS`.

    Attributes:
        withheld: reason -> how many questions have no certain answer.
    """

    def __init__(self, papers: Sequence[PaperRead], kinds: Sequence[Kind] = WALK_KINDS) -> None:
        self._kinds, self._new = kinds, papers[0].paper.id
        self._found: dict[str, frozenset[str]] = {}
        self._papers = {read.paper.id: read for read in papers}
        self._titles = "\n".join(title_key(read.paper.title) for read in papers)
        entries = [entry for read in papers for entry in read.entries]
        works, faults = certain_works(entries)
        self._has_near_title = near_titles(entries)
        self.withheld: Counter[Withheld | WorkFault] = Counter(faults)
        self._works: dict[str, CitedWork] = {}
        for key, work in works.items():
            if 2 <= len(work.entries) < len(papers):
                if fault := self._fault(work):
                    self.withheld[fault] += 1
                else:
                    self._works[key] = work

    def _fault(self, work: CitedWork) -> Withheld | None:
        """Say why it is not known where all papers cite a work."""
        if is_garbled(work.title):
            return "garbled_title"
        if work.key in self._titles or any(entry.cited_id in self._papers for entry in work.entries.values()):
            return "inside_the_set"
        if any(work.key in read.references_key for id_, read in self._papers.items() if id_ not in work.entries):
            return "missed_entry"
        if self._has_near_title(work):
            return "near_title"
        locations = [self._locations(work, id_) for id_ in work.entries]
        if None in locations:
            return "ways_disagree"
        return "cited_nowhere" if frozenset() in locations else None

    def _locations(self, work: CitedWork, id_: str) -> Locations | None:
        return self._papers[id_].locations(work.entries[id_].number)

    def questions(self, seed: int, count: int, preferred: Sequence[WalkQuestion] = ()) -> list[WalkQuestion]:
        """Ask up to `count` questions, the kinds in turn, each about other works.

        Args:
            preferred: asked over a smaller set; they are asked here again, where they have a certain answer.
        """
        chosen: dict[tuple[str, ...], WalkQuestion] = {}
        used: set[str] = set()
        of_works = self.withheld.copy()
        again = [self.question(one.kind, [work.key for work in one.works]) for one in preferred]
        # All of them are asked in turn, which counts what is withheld.
        self.withheld = of_works
        for question in chain(filter(None, again), self._in_turn(seed)):
            if len(chosen) == count:
                break
            if used.isdisjoint(work.key for work in question.works):
                chosen[question.key] = question
                used.update(work.key for work in question.works)
        return list(chosen.values())

    def question(self, kind: Kind, keys: Sequence[str]) -> WalkQuestion | None:
        """Return the question of a kind about works that are given by the keys of their titles; None if it has no certain answer."""
        works = tuple(self._works[key] for key in keys if key in self._works)
        return self._question(kind, works) if len(works) == len(keys) else None

    def _in_turn(self, seed: int) -> Iterator[WalkQuestion]:
        """Yield questions, kind after kind, with as many empty answers as are wanted, as long as there are enough of all."""
        pools: dict[tuple[Kind, bool], list[WalkQuestion]] = {}
        for kind in self._kinds:
            for question in self._of_kind(kind, seed):
                pools.setdefault((kind, not question.answer), []).append(question)
        iterators = {key: iter(pool) for key, pool in pools.items()}
        for turn in range(sum(map(len, pools.values())) * len(self._kinds)):
            kind = self._kinds[(turn + digest_of(seed, self._new, "first kind")[0]) % len(self._kinds)]
            is_empty = share_of(seed, self._new, turn, "empty") < _EMPTY
            answered = iterators.get((kind, False), iter(()))
            yield from islice(chain(iterators.get((kind, True), ()), answered) if is_empty else answered, 1)

    def _of_kind(self, kind: Kind, seed: int) -> Iterator[WalkQuestion]:
        """Yield all questions of a kind that have a certain answer: works that many cite first, and of these those that the new paper
        does.
        """
        groups: Sequence[tuple[CitedWork, ...]] = [(work,) for work in self._works.values()]
        if kind in ("cites_both", "cites_first_only"):
            groups = list(permutations(self._works.values(), 2))
        elif kind == "same_paragraph":
            groups = self._pairs()

        def rank(works: tuple[CitedWork, ...]) -> tuple[int, bool, bytes]:
            by_chance = digest_of(seed, self._new, kind, *(work.key for work in works))
            return -min(_MANY, len(_citing(works))), not all(self._new in work.entries for work in works), by_chance

        for works in sorted(groups, key=rank):
            question = self._question(kind, works)
            if question is not None:
                yield question

    def _pairs(self) -> list[tuple[CitedWork, ...]]:
        """Return the pairs of works that the new paper cites in one paragraph, or that some other paper does."""
        pairs: set[tuple[str, str]] = set()
        for id_ in self._papers:
            paragraphs: dict[tuple[int, int], list[str]] = {}
            for key, work in self._works.items():
                for location in (self._locations(work, id_) or ()) if id_ in work.entries else ():
                    paragraphs.setdefault(location, []).append(key)
            pairs.update(pair for keys in paragraphs.values() for pair in combinations(sorted(keys), 2))
        return [(self._works[first], self._works[second]) for first, second in sorted(pairs)]

    def _question(self, kind: Kind, works: tuple[CitedWork, ...]) -> WalkQuestion | None:
        """Return a question; None if its answer is not certain."""
        if kind in CONTROL_KINDS:
            return self._control(kind, works)
        answer: set[str] = set()
        for id_ in sorted(_citing(works)):
            answers = self._answers(kind, works, id_)
            if answers is None:
                self.withheld["doubtful_paragraph" if kind == "same_paragraph" else "doubtful_section"] += 1
                return None
            if answers:
                answer.add(id_)
        if kind == "same_paragraph" and (not answer or len(_citing(works)) < _FEWEST_TOGETHER):
            return None
        return WalkQuestion(kind, works, frozenset(answer), frozenset.intersection(*map(self._by_title, works)))

    def _by_title(self, work: CitedWork) -> frozenset[str]:
        """Return the papers in whose text a search finds a work's title."""
        if work.key not in self._found:
            self._found[work.key] = frozenset(id_ for id_, read in self._papers.items() if work.key in read.text_key)
        return self._found[work.key]

    def _control(self, kind: Kind, works: tuple[CitedWork, ...]) -> WalkQuestion:
        """Return a question that reference lists answer."""
        first, last = ((frozenset(work.entries), self._by_title(work)) for work in (works[0], works[-1]))
        if kind == "cites_first_only":
            return WalkQuestion(kind, works, first[0] - last[0], first[1] - last[1])
        return WalkQuestion(kind, works, first[0] & last[0], first[1] & last[1])

    def _answers(self, kind: Kind, works: tuple[CitedWork, ...], id_: str) -> bool | None:
        """Tell whether a paper that cites the works answers a question; None if that is not certain."""
        locations = [self._locations(work, id_) or frozenset() for work in works]
        if kind == "same_paragraph":
            return _share_a_paragraph(*locations)
        if kind != "background_only":
            return self._is_in(id_, locations[0], kind)
        background = self._is_in(id_, locations[0], "introduction", "related_work")
        experiments = self._is_in(id_, locations[0], "experiments")
        if background is False or experiments is True:
            return False
        return None if background is None or experiments is None else True

    def _is_in(self, id_: str, locations: Locations, *kinds: str) -> bool | None:
        """Tell whether one of the places is in a section of one of the kinds; None if people may disagree."""
        called = [self._papers[id_].called[i] for i, _ in locations]
        if any(not name.sure.isdisjoint(kinds) for name in called):
            return True
        return None if any(not name.doubtful.isdisjoint(kinds) for name in called) else False


def _citing(works: tuple[CitedWork, ...]) -> set[str]:
    """Return the papers that cite all of some works."""
    return set.intersection(*(set(work.entries) for work in works))


def _share_a_paragraph(first: Locations, second: Locations) -> bool | None:
    """Tell whether two works are cited in one paragraph; None if only a page's end may have parted them."""
    if first & second:
        return True
    return None if any((i, n + step) in second for i, n in first for step in (-1, 1)) else False


class WalkAsker(ReadingAsker[WalkQuestion]):
    """Walk over the papers of a round.

    Args:
        count: most questions over one paper set.
        controls: whether the questions are those that a search for titles answers.
    """

    task = "walk"
    fewest = LEAST_PAPERS

    def __init__(self, library: PaperLibrary, seed: int, count: int, *, controls: bool = False) -> None:
        super().__init__(library, seed)
        self.controls, self._count = controls, count

    def paper_sets(self, paper: Paper, sizes: Sequence[int]) -> dict[int, PaperSet] | ReadingReason:
        is_sure = self._tokens(paper) is not None
        return fill(paper, self.others(paper), sizes, self._tokens) if is_sure else "doubtful_references"

    def _tokens(self, paper: Paper) -> int | None:
        """Return the tokens that a paper adds to a paper set; None if it cannot be shown."""
        read = self.library.read(paper.id)
        return read.tokens + LABEL_TOKENS if read.has_sure_references else None

    def questions(self, paper_set: PaperSet, preferred: Sequence[WalkQuestion]) -> list[WalkQuestion]:
        walk = Walk(
            [self.library.read(paper.id) for paper in paper_set.papers], CONTROL_KINDS if self.controls else WALK_KINDS
        )
        questions = walk.questions(self.seed, self._count, preferred)
        self.withheld.update(walk.withheld)
        return questions

    def key(self, question: WalkQuestion) -> Sequence[object]:
        return question.key

    def parts(self, paper_set: PaperSet) -> list[dict[str, Any]]:
        return [part_of(i, 0, len(self.library.read(paper.id).shown.text)) for i, paper in enumerate(paper_set.papers)]

    def asked(self, question: WalkQuestion, paper_set: PaperSet, label: Mapping[Any, int]) -> Row:
        labels = {paper.id: label[i, 0] for i, paper in enumerate(paper_set.papers)}
        names = {paper.id: paper.versioned_id for paper in paper_set.papers}
        entries = [
            min(work.entries.values(), key=lambda entry: (entry.title != work.title, entry.paper))
            for work in question.works
        ]
        works = [{"title": entry.title, "paper": names[entry.paper], "entry": entry.number} for entry in entries]
        return {
            "kind": question.kind,
            "answer": sorted(labels[id_] for id_ in question.answer),
            "shortcut": sorted(labels[id_] for id_ in question.by_title),
            "works": works,
        }


FAMILY = reading_family(
    lambda library, round_: [
        WalkAsker(library, round_.seed, round_.reading.questions_of_context, controls=each) for each in (False, True)
    ]
)
