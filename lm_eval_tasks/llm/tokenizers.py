"""Models' own tokenizers: prompts are cut with them, answers counted."""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from typing import Any

from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.llm.weights import check_weights

# The ending of files that have a model's weights, tokenizer and configuration in one.
GGUF = ".gguf"
_PIECE = re.compile(r"\s*\S+|\s+")
# What transformers keeps a list of, and more than any model has.
_COUNTED = re.compile(r"(num|n)_(\w+_)?(layer|label|block)")
_MOST = 100_000
_LOADED: dict[str, object] = {}


def load(name: str, *, trust_remote_code: bool = False) -> Any:
    """Return the tokenizer of a model; one without a fast version as `SlowTokenizer`.

    Args:
        name: a folder or Hub id, or a GGUF file in one, optionally followed by "@" and a revision.
        trust_remote_code: whether the model's own code may be run; once it was, that tokenizer is used in this process.

    Raises:
        EvalError: it cannot be loaded.
    """
    if name in _LOADED:
        return _LOADED[name]
    from transformers import AutoTokenizer

    # A folder's own name may have the sign as well.
    has_revision = "@" in name and not Path(name).exists()
    model, _, revision = name.rpartition("@") if has_revision else (name, "", "")
    folder, _, file = model.rpartition("/") if model.endswith(GGUF) else (model, "", None)
    check_gguf(folder, file or "")
    try:
        # Without the patience of a download where the Hub cannot be reached.
        check_weights(folder, revision or "main")
        _check_sizes(Path(folder))
        tokenizer = AutoTokenizer.from_pretrained(
            folder or ".", revision=revision or None, trust_remote_code=trust_remote_code, gguf_file=file
        )
    except Exception as err:  # transformers raises whatever a file that is none of its own makes it stumble over
        reason = str(err).strip().splitlines()[0][:160] if str(err).strip() else type(err).__name__
        raise EvalError(
            f"the tokenizer of {model!r} cannot be loaded ({reason}); {_remedy(str(err), folder, file or '')}"
        ) from err
    _LOADED[name] = tokenizer if tokenizer.is_fast else SlowTokenizer(tokenizer)
    return _LOADED[name]


def _remedy(error: str, folder: str, file: str) -> str:
    if "trust_remote_code" in error or "custom code" in error:
        return "add trust_remote_code=True to --model_args if you trust its code"
    if file and find_spec("gguf") is None:
        return 'pip install "academiceval[gguf]"'
    if Path(folder).is_dir():
        return "its files are not as transformers writes them"
    return "name a local folder, or fetch it while online"


def _check_sizes(folder: Path) -> None:
    """Raise a ValueError for a folder whose configuration counts more than any model has: transformers keeps a list of each."""
    file = folder / "config.json"
    config = json.loads(file.read_text()) if file.is_file() else {}
    if not isinstance(config, dict):
        raise ValueError(f"{file.name} is no object")
    for section in (config, *config.values()):
        for key, value in section.items() if isinstance(section, dict) else ():
            if _COUNTED.match(key) and isinstance(value, int | float) and value > _MOST:
                raise ValueError(f"{file.name} says {key} = {value:.4g}")


def check_gguf(folder: str, file: str) -> None:
    """Raise an EvalError for a folder without the GGUF file that is named, or that has nothing but such files and none ("") is."""
    path = Path(folder)
    if path.is_file() and path.name.endswith(GGUF):
        raise EvalError(
            f"{folder} is a GGUF file: name its folder and it by pretrained={path.parent},gguf_file={path.name}"
        )
    there = sorted(path.name for path in path.glob(f"*{GGUF}")) if path.is_dir() else []
    if file and path.is_dir() and file not in there:
        raise EvalError(f"{folder} has no file {file!r}; its GGUF files are {', '.join(there) or 'none'}")
    if there and not file and not (path / "config.json").exists():
        raise EvalError(f"{folder} has GGUF files alone: add gguf_file={there[0]} to --model_args")


class SlowTokenizer:
    """A tokenizer that does not say where its tokens begin: words are tokenized one by one, so that their places are known.

    That gives as many tokens as the whole text has, or a few more: prompts that are cut to a length still fit.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._count = cache(lambda piece: len(tokenizer(piece, add_special_tokens=False)["input_ids"]))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tokenizer, name)

    def __call__(self, text: str | Sequence[str], **_: Any) -> Any:
        from transformers import BatchEncoding

        encodings = [Encoding(each, self._count) for each in ([text] if isinstance(text, str) else text)]
        # Of ids only the number counts.
        ids = [range(len(encoding)) for encoding in encodings]
        return BatchEncoding({"input_ids": ids[0] if isinstance(text, str) else ids}, encodings, n_sequences=1)


class Encoding:
    """The tokens of one text, as many as `len` says, each at a place in its piece of the text; `count` tells how many a piece has."""

    def __init__(self, text: str, count: Callable[[str], int]) -> None:
        self._pieces = [piece.span() for piece in _PIECE.finditer(text)]
        # The number of each piece's first token, and of all tokens.
        self._first = [0, *accumulate(count(text[start:end]) for start, end in self._pieces)]

    def __len__(self) -> int:
        return self._first[-1]

    def token_to_chars(self, i: int) -> tuple[int, int]:
        """Return the characters of a token: an equal part of its piece."""
        piece = bisect_right(self._first, i) - 1
        (start, end), (first, behind) = self._pieces[piece], self._first[piece : piece + 2]
        length, count = end - start, behind - first
        return start + (i - first) * length // count, start + (i - first + 1) * length // count


def counts(name: str, texts: list[str]) -> list[int]:
    """Return how many tokens each text has, special ones left out."""
    return (
        [len(ids) for ids in load(name)(texts, add_special_tokens=False, verbose=False)["input_ids"]] if texts else []
    )
