"""Less to read: the contexts in which each task can be asked, besides all that it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lm_eval_tasks.core.errors import OptionError

if TYPE_CHECKING:
    from lm_eval_tasks.core.metadata import Context

# Of all that a task shows: all of it, nothing, the beginning of the paper, what is around the question, or what a search finds.
FULL: Context = "full"
NONE: Context = "none"
START: Context = "start"
LOCAL: Context = "local"
RETRIEVED: Context = "retrieved"
# Task -> with how much less it is asked. Of titles, the title alone would be the answer; what Next asks about is part of its context.
SHORTER: dict[str, tuple[Context, ...]] = {
    "title": (START, RETRIEVED),
    "abs": (NONE, START, RETRIEVED),
    "intro": (NONE, START, RETRIEVED),
    "related": (NONE, START, RETRIEVED),
    "cloze": (NONE, LOCAL, RETRIEVED),
    "walk": (NONE, RETRIEVED),
    "next": (RETRIEVED,),
    "match": (NONE, LOCAL),
    "select": (NONE,),
}
# The shortcut that each task's gain is first told against.
HEADLINE: dict[str, Context] = {
    **dict.fromkeys(("title", "abs", "intro", "related"), START),
    "cloze": LOCAL,
    **dict.fromkeys(("walk", "next"), RETRIEVED),
    "match": LOCAL,
    "select": NONE,
}


def check_context(context: Context, task: str, name: str, *, is_usual: bool = True) -> None:
    """Raise an OptionError if a task cannot be asked with a context.

    Args:
        name: of what is asked, for the message.
        is_usual: whether it is asked as usual, not by section or with numbers to cite.
    """
    if context == FULL:
        return
    if not is_usual:
        raise OptionError(f"{name} is always asked with its full context: leave out the option context={context!r}")
    if context not in SHORTER[task]:
        raise OptionError(f"{name} is not asked with context={context!r}; choose {', '.join((*SHORTER[task], FULL))}")
