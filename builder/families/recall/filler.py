"""What stands around the evidence: paragraphs of older papers by other people, added at the outer ends."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

from builder.families.recall.spans import TextSpan
from builder.families.recall.texts import AskedText, PaperText, Paragraph
from builder.ids import author_key
from builder.records import Paper
from builder.seeding import digest_of
from lm_eval_tasks.families.recall.recall_row import Place

# Paper, and the numbers of its paragraphs that are shown, in their order.
Run = tuple[str, list[int]]


def fillers_of(paper: Paper, papers: Sequence[Paper], shown: Collection[str], seed: int) -> list[Paper]:
    """Return the papers that may stand around one: older ones without an author in common and without a co-author of one, nearest in
    category first.

    Args:
        papers: all of the round, which tell co-authors.
        shown: the ids of those that may stand in a prompt.
    """
    own = set(map(author_key, paper.authors))
    joined = [set(map(author_key, other.authors)) for other in papers]
    near = own.union(*(authors for authors in joined if authors & own))
    fitting = [
        other
        for other, authors in zip(papers, joined, strict=True)
        if other.published < paper.published and not authors & near and other.id in shown
    ]

    def distance(other: Paper) -> tuple[bool, bool, bytes]:
        shares = not set(other.categories) & set(paper.categories)
        return other.primary_category != paper.primary_category, shares, digest_of(seed, paper.id, other.id, "filler")

    return sorted(fitting, key=distance)


@dataclass(slots=True)
class Filler:
    """Paragraphs before and behind the evidence, from the evidence outwards; a larger context has all of a smaller one."""

    before: list[tuple[str, int]] = field(default_factory=list)
    behind: list[tuple[str, int]] = field(default_factory=list)
    tokens: int = 0

    def runs(self) -> tuple[list[Run], list[Run]]:
        """Return what is shown before and behind, in the order of the prompt."""
        return runs_of(list(reversed(self.before))), runs_of(self.behind)


def runs_of(paragraphs: Sequence[tuple[str, int]]) -> list[Run]:
    """Return the runs of paragraphs that follow one another in a paper."""
    runs: list[Run] = []
    for paper, number in paragraphs:
        if runs and runs[-1][0] == paper and runs[-1][1][-1] == number - 1:
            runs[-1][1].append(number)
        else:
            runs.append((paper, [number]))
    return runs


def fill(
    asked: AskedText,
    place: Place,
    papers: Iterator[PaperText],
    *,
    least: int,
    most: int,
    replacing: Collection[tuple[str, int]] = (),
) -> Filler | None:
    """Return as much as fits around the evidence; None if the papers do not fill it, or the evidence alone is too long.

    Args:
        papers: those that may stand around it, the nearest first.
        least, most: reference tokens that may stand beside evidence and question.
        replacing: paragraphs that stand in place of the evidence already.
    """
    if most < 0:
        return None
    filler = Filler()
    queues: dict[str, Iterator[tuple[str, int, int]]] = {}
    sides = {"first": ("behind",), "last": ("before",), "middle": ("behind", "before")}[place]
    sizes = dict.fromkeys(sides, 0)
    while True:
        side = min(sides, key=lambda name: sizes[name])
        taken = next(queues.get(side, iter(())), None)
        if taken is None:
            paper = next(papers, None)
            if paper is None:
                return filler if filler.tokens >= least else None
            queues[side] = _outwards(paper, asked.sought, is_before=side == "before")
            continue
        id_, number, tokens = taken
        if (id_, number) in replacing:
            continue
        if filler.tokens + tokens > most:
            return filler if filler.tokens >= least else None
        getattr(filler, side).append((id_, number))
        sizes[side] += tokens
        filler.tokens += tokens


def _outwards(text: PaperText, spans: Sequence[TextSpan], *, is_before: bool) -> Iterator[tuple[str, int, int]]:
    """Yield the paragraphs of a paper without a span, with their tokens: from its end if it stands before the evidence."""
    paragraphs = reversed(text.paragraphs) if is_before else iter(text.paragraphs)
    for each in paragraphs:
        if not each.has(spans):
            yield text.read.paper.id, each.number, text.tokens[each.number]


def replaced(
    asked: AskedText, own: PaperText, papers: Sequence[PaperText], order: Callable[[Paragraph, PaperText], bytes]
) -> list[tuple[str, int]] | None:
    """Return, for each paragraph of the evidence that has a span, one of other papers of like length without any; others stay. None if
    there are too few.
    """
    pool = [
        (text, each)
        for text in papers
        for each in text.paragraphs[text.body :]
        if not each.has(asked.sought) and not each.text.startswith("#")
    ]
    shown: list[tuple[str, int]] = []
    used: set[tuple[str, int]] = set()
    for number in asked.evidence:
        if number not in asked.stating:
            shown.append((own.read.paper.id, number))
            continue
        size = own.paragraphs[number].size
        free = [pair for pair in pool if (pair[0].read.paper.id, pair[1].number) not in used]
        if not free:
            return None
        text, best = min(free, key=lambda pair: (abs(pair[1].size - size), order(pair[1], pair[0])))
        shown.append((text.read.paper.id, best.number))
        used.add(shown[-1])
    return shown
