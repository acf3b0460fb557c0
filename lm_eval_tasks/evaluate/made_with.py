"""What made the answers of a run: versions, the length that prompts were cut to, and the engine with the settings that it really used."""

from __future__ import annotations

import platform
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.data import context
from lm_eval_tasks.llm.usage import UsageTotals
from lm_eval_tasks.samples.block import Arguments, MadeWith

if TYPE_CHECKING:
    from lm_eval.api.model import LM

    from lm_eval_tasks.compat.vllm import EngineSettings
    from lm_eval_tasks.evaluate.answers import Counts
    from lm_eval_tasks.evaluate.generation import Generation
    from lm_eval_tasks.llm.usage import Means


def usage_of(counts: Counts, means: Means) -> UsageTotals:
    """What the answers of a run used: tokens, finish reasons, seconds, retries, and money if a price is known."""
    return replace(
        UsageTotals.of(counts.usages),
        answers=counts.answers,
        unanswered=counts.unanswered,
        asked_in_this_run=counts.asked,
        seconds=round(counts.seconds, 3),
        retries=counts.retries,
        cost=means.cost(counts.usages),
    )


_PACKAGES = (
    "academiceval",
    "lm_eval",
    "datasets",
    "transformers",
    "torch",
    "vllm",
    "openai",
    "bert_score",
    "rouge_score",
)


def made_with(lm: LM, engine: EngineSettings | None, generation: Generation, arguments: Arguments) -> MadeWith:
    """What results say of it.

    Args:
        lm: the opened model.
        engine: its settings.
        arguments: the metadata that lm-eval hands to a task: --model_args and --metadata together.
    """
    versions = {"python": platform.python_version()}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    template = lm.chat_template(True) if generation.apply_chat_template else None
    return MadeWith(
        versions=versions,
        chat_template=sha256_of_bytes(template) if template else None,
        context=context.served_by(arguments),
        engine=replace(engine, version=versions.get(engine.name)) if engine else None,
    )
