"""The names and acronyms of a text, and whether another text has them too, in singular or plural, with or without hyphens."""

from __future__ import annotations

import re
import string
from functools import cached_property

# An acronym, a word with capitals or digits inside it, or a capitalized word that does not begin a sentence.
_NAME = re.compile(
    r"(?<![\w.@/-])(?:[A-Z][A-Za-z]*[A-Z][\w]*s?|[a-z]+[A-Z]\w*|[A-Za-z]+-?\d+(?:\.\d+)?\w*|[A-Z][a-z]{2,})(?:-[A-Z0-9]\w*)*(?![\w@])"
)
_BEGINS = re.compile(r"(?:^|[.!?:;]\s+|[\n\r]\s*|[\"“(]\s?|\d\.\s)$")
_CAPITALIZED = re.compile(r"[A-Z][a-z]+")
_NOT_NAMES = frozenset(
    "january february march april may june july august september october november december monday tuesday wednesday thursday friday "
    "saturday sunday english however moreover furthermore finally additionally notably specifically overall thus therefore hence first "
    "second third figure table section appendix equation theorem algorithm abstract introduction conclusion".split()
)


def names(text: str) -> list[str]:
    """The names and acronyms of a text, each once, in order."""
    found: dict[str, None] = {}
    for one in _NAME.finditer(text):
        word = one[0]
        if _CAPITALIZED.fullmatch(word) and (
            word.casefold() in _NOT_NAMES or _BEGINS.search(text, max(0, one.start() - 3), one.start())
        ):
            continue
        found[word] = None
    return list(found)


class ShownNames:
    """The words of what a model was shown, prepared for looking names up."""

    def __init__(self, text: str) -> None:
        self._folded = _plain(text)

    def support(self, name: str) -> bool:
        """Whether the text has the name."""
        plain = _plain(name).strip()
        forms = {plain, plain.removesuffix("s"), f"{plain}s", plain.removesuffix("es")}
        if any(_has(self._folded, form) for form in forms if form):
            return True
        # "LLM-based": each part by itself; "pre-trained" and "pretrained".
        parts = [part for part in plain.split(" ") if len(part) > 1]
        return plain.replace(" ", "") in self._tight or (
            len(parts) > 1 and all(_has(self._folded, part) for part in parts)
        )

    @cached_property
    def _tight(self) -> str:
        return self._folded.replace(" ", "")


def _has(text: str, word: str) -> bool:
    return f" {word} " in text


# As bytes, because `translate` is slow on a text that is not ASCII.
_PUNCTUATION = bytes.maketrans(string.punctuation.encode(), b" " * len(string.punctuation))
_MORE_PUNCTUATION = re.compile("[‐‑‒–—‘’“”…·×∗†‡•\u00a0]")


def _plain(text: str) -> str:
    """Words in lower case with single spaces between and around them."""
    apart = _MORE_PUNCTUATION.sub(" ", text).encode("utf-8", "surrogatepass").translate(_PUNCTUATION)
    return f" {' '.join(apart.decode('utf-8', 'surrogatepass').casefold().split())} "
