"""Words that make a text read as if a language model had written it."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W_]+")
# Words that abstracts use far more often since late 2022 (arXiv 2406.07016).
MARKERS = frozenset(
    "commendable comprehensive crucial delve delves delving encompass enhancing groundbreaking insights intricate "
    "intricacies invaluable leverage leveraging meticulous meticulously notable notably noteworthy pivotal realm "
    "showcase showcases showcasing surpass surpassing tapestry underscore underscores underscoring".split()
)


def counts(text: str) -> tuple[int, int]:
    """Marker words and words of a text."""
    words = _WORD.findall(text.casefold())
    return sum(map(MARKERS.__contains__, words)), len(words)
