"""How many bert-base-uncased tokens a text has: the paper's unit of input length (section 3.2, footnote 4)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from builder.sources.tokenizer import load_tokenizer

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from builder.records import Task

_MOST_KNOWN = 1_000_000


class TokenCounter:
    """Counts the tokens of texts, special tokens left out.

    No token spans a space or a line's end, so that each word, with its punctuation, is tokenized once.

    Args:
        tokenizer: as `sources.tokenizer.load_tokenizer` gives it.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, int] = {}

    def __call__(self, texts: list[str]) -> list[int]:
        return list(map(self._count, texts))

    def _count(self, text: str) -> int:
        words = text.replace("\n", " ").split(" ")
        known = self._known
        if len(known) > _MOST_KNOWN:
            known.clear()
        if new := list(set(words).difference(known)):
            encoded = self._tokenizer.encode_batch_fast(new, add_special_tokens=False)
            known.update((word, len(encoding)) for word, encoding in zip(new, encoded, strict=True))
        return sum(map(known.__getitem__, words))


@cache
def token_counter() -> TokenCounter:
    """The counter of this process."""
    return TokenCounter(load_tokenizer())


def shown_beside(title: str, abstract: str, task: Task) -> list[str]:
    """What a prompt of the task shows of a paper besides its content: all but the part that is asked for."""
    return [text for text, part in ((title, "title"), (abstract, "abs")) if part != task]
