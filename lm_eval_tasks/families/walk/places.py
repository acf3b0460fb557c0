"""What a program gets in Walk that reads no heading: it looks up the works in a paper's reference list, and how far into the paper their
numbers stand.
"""

import re
from collections.abc import Sequence

from lm_eval_tasks.families.walk.rules import REFERENCES, asked_in, entries_of, numbers_in

_NAME = re.compile(r"[A-Z][\w’'-]{3,}")
# Kind of question -> the parts of a paper between which it cites the work, or by which its citations of the two works differ. They answer
# most of every other question of `Walk-256K` over 86 papers (benchmarks/floors.py).
SPANS = {
    "background_only": (0.8, 1.0),
    "experiments": (0.3, 0.8),
    "introduction": (0.0, 0.15),
    "method": (0.2, 0.4),
    "related_work": (0.8, 1.0),
    "same_paragraph": (0.0, 0.02),
}
_ANYWHERE = (0.0, 1.0)


def papers_by_place(kind: str, prompt: str) -> list[int]:
    """Return the papers that a prompt's question, of this kind, may be about."""
    papers, titles = asked_in(kind, prompt)
    span = SPANS.get(kind, _ANYWHERE)
    return [
        i for i, paper in enumerate(papers, 1) if is_in_span(kind, [places_of(title, paper) for title in titles], span)
    ]


def is_in_span(kind: str, places: Sequence[Sequence[float]], span: tuple[float, float]) -> bool:
    """Tell whether a paper answers a question if it cites the works, one or two, at these places."""
    first, second = places[0], places[-1]
    if kind == "cites_first_only":
        return bool(first) and not second
    found = [abs(one - other) for one in first for other in second] if len(places) > 1 else first
    return any(span[0] <= place <= span[1] for place in found)


def places_of(title: str, paper: str) -> list[float]:
    """Return where a paper cites a work, as parts of its text: by its number or, where papers have none, its first author."""
    body, _, entries = paper.rpartition(REFERENCES)
    listed = entries_of(title, entries.splitlines())
    marks = list(numbers_in(body))
    if marks:
        starts = [start for start, number in marks if number in listed]
    else:
        names = [name[0] for entry in listed.values() if (name := _NAME.search(entry))]
        starts = [name.start() for each in names for name in re.finditer(rf"\b{re.escape(each)}\b", body)]
    return [start / max(1, len(body)) for start in starts]
