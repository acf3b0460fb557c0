"""Settings with a budget of tokens: as many whole demonstrations as fit."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, zip_longest

from builder.families.writing.demonstrations import DemonstrationIds

# Demonstrations that are too long for what is left are passed over, but not for ever.
_MOST_PASSED = 5


def fill(drawn: DemonstrationIds, room: int, cost: Callable[[str], int]) -> tuple[DemonstrationIds, bool]:
    """Take demonstrations as long as they fit, the kinds in turn.

    Args:
        drawn: candidates of each kind, in the order in which they were drawn.
        room: tokens that the target leaves of the budget.
        cost: tokens of a demonstration.

    Returns:
        What was taken, and whether the budget was the limit rather than the number of candidates.
    """
    turns = chain.from_iterable(zip_longest(drawn.co_author, drawn.random))
    taken: set[str] = set()
    passed = 0
    for paper_id in turns:
        if paper_id is None:
            continue
        if (tokens := cost(paper_id)) <= room:
            taken.add(paper_id)
            room -= tokens
        else:
            passed += 1
            if passed == _MOST_PASSED:
                break
    kept = (tuple(id_ for id_ in ids if id_ in taken) for ids in (drawn.random, drawn.co_author))
    return DemonstrationIds(*kept), passed > 0
