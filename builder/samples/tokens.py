"""How many bert-base-uncased tokens a text has: the paper's unit of input length (section 3.2, footnote 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokenizers import Tokenizer

if TYPE_CHECKING:
    from builder.records import Task


class TokenCounter:
    """Counts the tokens of texts, special tokens left out; a text that was counted is not tokenized again.

    Args:
        tokenizer: as `sources.tokenizer.load_tokenizer` gives it.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._known: dict[int, int] = {}

    def __call__(self, texts: list[str]) -> list[int]:
        # Tokens never reach over an empty line: sections that several tasks show are counted once.
        parts = [text.split("\n\n") for text in texts]
        keys = [[hash(part) for part in own] for own in parts]
        new = {
            key: part
            for own, of_text in zip(parts, keys, strict=True)
            for part, key in zip(own, of_text, strict=True)
            if key not in self._known
        }
        encoded = self._tokenizer.encode_batch_fast(list(new.values()), add_special_tokens=False)
        self._known.update((key, len(one)) for key, one in zip(new, encoded, strict=True))
        return [sum(map(self._known.__getitem__, of_text)) for of_text in keys]


def input_texts(title: str, abstract: str, content: str, task: Task) -> list[str]:
    """What a prompt of the task shows of a paper, its own part left out."""
    texts = [content]
    texts += [title] if task != "title" else []
    texts += [abstract] if task != "abs" else []
    return texts
