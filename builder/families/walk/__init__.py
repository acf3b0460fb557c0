"""Walk in a round: the papers that it can show, its questions and rows."""

from collections.abc import Mapping, Sequence
from typing import Any

from builder.dataset.families import Row
from builder.families.reading.asking import LABEL_TOKENS, LEAST_PAPERS, NeighbourAsking, PaperSet, fill, part_of
from builder.families.reading.making import reading_family
from builder.families.reading.papers_read import PaperLibrary
from builder.families.walk.questions import CONTROL_KINDS, WALK_KINDS, Walk, WalkQuestion
from builder.records import Paper, ReadingReason


class WalkFamily(NeighbourAsking[WalkQuestion]):
    """Walk over the papers of a round.

    Args:
        count: most questions over one context.
        controls: whether the questions are those that a search for titles answers.
    """

    task = "walk"
    fewest = LEAST_PAPERS

    def __init__(self, library: PaperLibrary, seed: int, count: int, *, controls: bool = False) -> None:
        super().__init__(library, seed)
        self.controls = controls
        self._count = count

    def contexts(self, paper: Paper, sizes: Sequence[int]) -> dict[int, PaperSet] | ReadingReason:
        if self._tokens(paper) is None:
            return "doubtful_references"
        return fill(paper, self.others(paper), sizes, self._tokens)

    def _tokens(self, paper: Paper) -> int | None:
        """The tokens that a paper adds to a context; None if it cannot be shown."""
        read = self.library.read(paper.id)
        return read.tokens + LABEL_TOKENS if read.has_sure_references else None

    def questions(self, context: PaperSet, preferred: Sequence[WalkQuestion]) -> list[WalkQuestion]:
        kinds = CONTROL_KINDS if self.controls else WALK_KINDS
        walk = Walk([self.library.read(paper.id) for paper in context.papers], kinds)
        questions = walk.questions(self.seed, self._count, preferred)
        self.withheld.update(walk.withheld)
        return questions

    def key(self, question: WalkQuestion) -> Sequence[object]:
        return question.key

    def parts(self, context: PaperSet) -> list[dict[str, Any]]:
        return [part_of(i, 0, len(self.library.read(paper.id).shown.text)) for i, paper in enumerate(context.papers)]

    def asked(self, question: WalkQuestion, context: PaperSet, label: Mapping[Any, int]) -> Row:
        labels = {paper.id: label[i, 0] for i, paper in enumerate(context.papers)}
        names = {paper.id: paper.versioned_id for paper in context.papers}
        entries = [
            min(work.entries.values(), key=lambda entry: (entry.title != work.title, entry.paper))
            for work in question.works
        ]
        return {
            "kind": question.kind,
            "answer": sorted(labels[id_] for id_ in question.answer),
            "shortcut": sorted(labels[id_] for id_ in question.by_title),
            "works": [{"title": entry.title, "paper": names[entry.paper], "entry": entry.number} for entry in entries],
        }


FAMILY = reading_family(
    lambda library, round_: [
        WalkFamily(library, round_.seed, round_.reading.questions_of_context, controls=each) for each in (False, True)
    ]
)
