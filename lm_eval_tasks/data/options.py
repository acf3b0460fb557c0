"""What a user may ask of the tasks through lm-eval's --metadata, checked."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, get_args

from lm_eval_tasks.compat import lm_eval as command_line
from lm_eval_tasks.data.keys import check_keys
from lm_eval_tasks.data.slots import Cut
from lm_eval_tasks.errors import OptionError
from lm_eval_tasks.metrics.scored import ALL, HEADLINE
from lm_eval_tasks.retrieval.base import Similarity
from lm_eval_tasks.retrieval.retrieve import Chunking, Retrieval
from lm_eval_tasks.text import day

DEFAULT_DATASET = "academiceval"
VARIABLE = "ACADEMICEVAL_DATASET"
SPLITS = ("test", "validation", "train", "all")
Default = TypeVar("Default", int, None, int | None)
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
        found = _SHARD.fullmatch(text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise OptionError(
                f"the shard {text!r:.40} is not of the form 1/8: the first number must be between 1 and the second"
            )
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


@dataclass(frozen=True, slots=True)
class HowGenerated:
    """What is known about how answers are generated.

    Attributes:
        chat_template: whether prompts go through the model's chat template.
        whole_answers: whether answers are seen with their reasoning (`academiceval eval`); else lm-eval or a server may have taken
            it off.
        think_end_token: the mark that ends the model's reasoning, as the user names it; "" without one.
        is_local: whether lm-eval renders the prompts itself; a server does it out of sight.
    """

    chat_template: bool
    whole_answers: bool
    think_end_token: str
    is_local: bool

    @classmethod
    def of(cls, arguments: Mapping[str, Any], run: command_line.RunArguments) -> HowGenerated:
        """Read lm-eval's arguments, those of its command line too."""
        return cls(
            chat_template=bool(arguments.get("apply_chat_template", run.apply_chat_template)),
            whole_answers=bool(arguments.get("whole_answers")),
            think_end_token=str(arguments.get("think_end_token") or ""),
            is_local=bool(arguments.get("pretrained")) and not arguments.get("base_url"),
        )

    @property
    def sees_reasoning(self) -> bool:
        """Whether reasoning that is not in an answer was never there."""
        # lm-eval takes reasoning off itself if its end is given as a token's number.
        return (self.whole_answers and not self.think_end_token.isdigit()) or (
            self.is_local and not self.think_end_token
        )


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a run; docs/evaluate.md explains each.

    Attributes:
        split: of the dataset, or "all" for all three together.
        shard: the part of the samples that this run answers; None for all.
        reserve: tokens that the context leaves for the answer; None for what the task sets.
        reasoning_tokens: room for reasoning on top of the answer's.
        system_instruction: the system prompt that lm-eval will put before ours.
        metrics: which ones lm-eval prints, "headline" or "all"; samples contain all.
        model_cutoff: the month up to which the model was trained, "YYYY-MM"; None if it is not known.
    """

    dataset: str
    dataset_revision: str | None
    round: str | None
    split: str
    published_after: str | None
    published_before: str | None
    shard: Shard | None
    config: str | None
    core: bool
    bertscore_model: str | None
    keep_parts: bool
    cut: Cut
    reserve: int | None
    reasoning_tokens: int
    generation: HowGenerated
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
        similarity = _one_of(arguments, "similarity", get_args(Similarity))
        generation = HowGenerated.of(arguments, run)
        reasoning = _number(arguments, "reasoning_tokens", 0)
        if reasoning and not generation.whole_answers and run.max_gen_toks is None and command_line.is_lm_eval():
            raise OptionError(
                "lm_eval cannot lengthen answers by reasoning_tokens: give it --gen_kwargs max_gen_toks=... with room for both, or "
                "use `academiceval eval`"
            )
        usual = Chunking()
        chunking = Chunking(
            _number(arguments, "chunk_size", usual.size), _number(arguments, "chunk_overlap", usual.overlap),
            _number(arguments, "chunks", usual.top),
        )  # fmt: skip
        return cls(
            dataset=str(arguments.get("dataset") or os.environ.get(VARIABLE) or DEFAULT_DATASET),
            dataset_revision=_text(arguments, "dataset_revision"),
            round=_text(arguments, "round"),
            split=_one_of(arguments, "split", SPLITS),
            published_after=_day(arguments, "published_after"),
            published_before=_day(arguments, "published_before"),
            shard=Shard.of(_text(arguments, "shard")),
            config=_text(arguments, "config"),
            core=bool(arguments.get("core")),
            bertscore_model=_text(arguments, "bertscore_model"),
            keep_parts=bool(arguments.get("keep_parts")),
            cut=_one_of(arguments, "cut", get_args(Cut)),  # type: ignore[arg-type]
            reserve=_number(arguments, "reserve", run.max_gen_toks, 1),
            reasoning_tokens=reasoning,
            generation=generation,
            system_instruction=_text(arguments, "system_instruction") or run.system_instruction,
            model_cutoff=_month(arguments, "model_cutoff"),
            retrieval=Retrieval(_text(arguments, "retriever") or "", similarity, chunking),  # type: ignore[arg-type]
            metrics=_one_of(arguments, "metrics", (HEADLINE, ALL)),
        )


def _one_of(arguments: Mapping[str, Any], key: str, choices: Sequence[str]) -> str:
    """An option with few values; the first is the default."""
    value = str(arguments.get(key) or choices[0])
    if value not in choices:
        raise OptionError(f"the option {key}={value!r:.60} must be one of {', '.join(map(repr, choices))}")
    return value


def _text(arguments: Mapping[str, Any], key: str) -> str | None:
    value = arguments.get(key)
    return None if value is None or value == "" else str(value)


def _number(arguments: Mapping[str, Any], key: str, default: Default, least: int = 0) -> int | Default:
    value = arguments.get(key)
    if value is None:
        return default
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError) as err:
        raise OptionError(f"the option {key}={value!r} is not a whole number") from err
    if isinstance(value, bool) or (number != value and not isinstance(value, str)) or number < least:
        raise OptionError(f"the option {key}={value!r} is not a whole number of at least {least}")
    return number


def _day(arguments: Mapping[str, Any], key: str) -> str | None:
    value = _text(arguments, key)
    try:
        return value and day(value).isoformat()
    except ValueError as err:
        raise OptionError(f"the option {key}={value!r} is not a day such as 2026-06-30") from err


def _month(arguments: Mapping[str, Any], key: str) -> str | None:
    value = _text(arguments, key)
    try:
        return value and day(f"{value[:7]}-01").isoformat()[:7]
    except ValueError as err:
        raise OptionError(f"the option {key}={value!r} is not a month such as 2025-06") from err
