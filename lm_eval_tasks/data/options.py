"""What a user may ask of the tasks through lm-eval's --metadata, checked."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar, get_args

from lm_eval_tasks.compat import lm_eval as command_line
from lm_eval_tasks.data.slots import Cut
from lm_eval_tasks.errors import OptionError
from lm_eval_tasks.metrics.scored import ALL, HEADLINE
from lm_eval_tasks.retrieval.base import INNER_PRODUCT, Similarity
from lm_eval_tasks.retrieval.retrieve import Chunking, Retrieval
from lm_eval_tasks.text import day

DEFAULT_DATASET = "academiceval"
VARIABLE = "ACADEMICEVAL_DATASET"
CACHE = "ACADEMICEVAL_CACHE"
# What --metadata may hold: our own options, what the prompts are cut with and to, and arguments of models.
KEYS = (
    "dataset", "dataset_revision", "round", "published_after", "published_before", "config", "core", "bertscore_model", "cut", "reserve",
    "system_instruction", "model_cutoff", "retriever", "similarity", "chunk_size", "chunk_overlap", "chunks", "metrics", "keep_parts",
    "tokenizer", "max_length", "max_model_len", "context_length", "pretrained", "revision",
    "model", "base_url", "api_key", "dtype", "trust_remote_code",
)  # fmt: skip
Default = TypeVar("Default", int, None, int | None)


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a run; docs/evaluate.md explains each.

    Attributes:
        reserve: tokens that the context leaves for the answer; None for what the task says.
        system_instruction: the system prompt that lm-eval will put before ours.
        metrics: which ones lm-eval prints, "headline" or "all"; samples hold all.
        model_cutoff: the month up to which the model was trained, "YYYY-MM"; None where it is not known.
    """

    dataset: str
    dataset_revision: str | None
    round: str | None
    published_after: str | None
    published_before: str | None
    config: str | None
    core: bool
    bertscore_model: str | None
    keep_parts: bool
    cut: Cut
    reserve: int | None
    system_instruction: str
    model_cutoff: str | None
    retrieval: Retrieval
    metrics: str

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Options:
        """Read lm-eval's --model_args and --metadata together; other keys are the model's.

        Raises:
            OptionError: a value cannot be used.
        """
        run = command_line.run_arguments()
        check_keys(run.metadata, others=True)
        cut = str(arguments.get("cut", "end"))
        if cut not in get_args(Cut):
            raise OptionError(f"the option cut={cut!r} is neither 'end' nor 'middle'")
        metrics = str(arguments.get("metrics", HEADLINE))
        if metrics not in (HEADLINE, ALL):
            raise OptionError(f"the option metrics={metrics!r} is neither {HEADLINE!r} nor {ALL!r}")
        similarity = str(arguments.get("similarity", INNER_PRODUCT))
        if similarity not in get_args(Similarity):
            raise OptionError(f"the option similarity={similarity!r} is neither 'inner_product' nor 'cosine'")
        usual = Chunking()
        chunking = Chunking(
            _number(arguments, "chunk_size", usual.size), _number(arguments, "chunk_overlap", usual.overlap),
            _number(arguments, "chunks", usual.top),
        )  # fmt: skip
        return cls(
            dataset=str(arguments.get("dataset") or os.environ.get(VARIABLE) or DEFAULT_DATASET),
            dataset_revision=_text(arguments, "dataset_revision"),
            round=_text(arguments, "round"),
            published_after=_day(arguments, "published_after"),
            published_before=_day(arguments, "published_before"),
            config=_text(arguments, "config"),
            core=bool(arguments.get("core")),
            bertscore_model=_text(arguments, "bertscore_model"),
            keep_parts=bool(arguments.get("keep_parts")),
            cut=cut,  # type: ignore[arg-type]
            reserve=_number(arguments, "reserve", run.max_gen_toks),
            system_instruction=_text(arguments, "system_instruction") or run.system_instruction,
            model_cutoff=_month(arguments, "model_cutoff"),
            retrieval=Retrieval(_text(arguments, "retriever") or "", similarity, chunking),  # type: ignore[arg-type]
            metrics=metrics,
        )


def check_keys(names: Iterable[str], *, others: bool) -> None:
    """Raise an OptionError for a key of --metadata that is none of ours.

    Args:
        others: whether keys of other tasks may stand there too; then only what looks like one of ours is refused.
    """
    for name in names:
        if name not in KEYS:
            near = get_close_matches(name, KEYS, 1, 0.75)
            if near or not others:
                hint = f"did you mean {near[0]!r}?" if near else "docs/evaluate.md lists the keys"
                raise OptionError(f"--metadata has a key {name!r} that no task reads; {hint}")


def cache_folder() -> Path:
    """Where what can be computed again is kept: the variable ACADEMICEVAL_CACHE, else ~/.cache/academiceval."""
    return Path(os.environ.get(CACHE) or Path.home() / ".cache" / "academiceval")


def _text(arguments: Mapping[str, Any], key: str) -> str | None:
    value = arguments.get(key)
    return None if value is None or value == "" else str(value)


def _number(arguments: Mapping[str, Any], key: str, default: Default) -> int | Default:
    value = arguments.get(key)
    if value is None:
        return default
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError) as err:
        raise OptionError(f"the option {key}={value!r} is no whole number") from err


def _day(arguments: Mapping[str, Any], key: str) -> str | None:
    value = _text(arguments, key)
    try:
        return value and day(value).isoformat()
    except ValueError as err:
        raise OptionError(f"the option {key}={value!r} is no day such as 2026-06-30") from err


def _month(arguments: Mapping[str, Any], key: str) -> str | None:
    value = _text(arguments, key)
    try:
        return value and day(f"{value[:7]}-01").isoformat()[:7]
    except ValueError as err:
        raise OptionError(f"the option {key}={value!r} is no month such as 2025-06") from err
