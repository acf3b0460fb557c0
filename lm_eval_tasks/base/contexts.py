"""With how much of what it shows a task is asked."""

from __future__ import annotations

from typing import Literal, get_args

Context = Literal["full", "none", "start", "local", "retrieved"]
CONTEXTS: tuple[Context, ...] = get_args(Context)
# All of it, nothing, the beginning of the paper, what is around the question, or what a search finds.
FULL: Context = "full"
NONE: Context = "none"
START: Context = "start"
LOCAL: Context = "local"
RETRIEVED: Context = "retrieved"
