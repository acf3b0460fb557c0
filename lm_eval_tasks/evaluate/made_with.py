"""What made the answers of a run: versions, the length that prompts were cut to, and the engine with the settings that it really used."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.data import context
from lm_eval_tasks.llm.usage import total

if TYPE_CHECKING:
    from lm_eval.api.model import LM

    from lm_eval_tasks.evaluate.answers import Counts
    from lm_eval_tasks.evaluate.generation import Generation
    from lm_eval_tasks.llm.budget import Means


_SUMS = (
    "tokens_in",
    "tokens_out",
    "reasoning_tokens",
    "cached_tokens",
    "answers",
    "unanswered",
    "asked_in_this_run",
    "seconds",
    "retries",
    "cost",
)


def usage_of(counts: Counts, means: Means) -> dict[str, Any]:
    """What the answers of a run used: tokens, finish reasons, seconds, retries, and money if a price is known."""
    return {
        **total(counts.usages),
        "answers": counts.answers,
        "unanswered": counts.unanswered,
        "asked_in_this_run": counts.asked,
        "seconds": round(counts.seconds, 3),
        "retries": counts.retries,
        "cost": means.cost(counts.usages),
    }


def together(usages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The usage of several runs; None for what one of them does not know."""
    sums = {name: [usage.get(name) for usage in usages] for name in _SUMS}
    finish: Counter[str] = Counter()
    for usage in usages:
        finish.update(usage.get("finish", {}))
    return {
        **{name: None if None in values else sum(values) for name, values in sums.items()},
        "finish": dict(sorted(finish.items())),
    }


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


def made_with(
    lm: LM, settings: Mapping[str, Any] | None, generation: Generation, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """What results say of it.

    Args:
        lm: the opened model.
        settings: of its engine, from `compat/engine_settings.py`.
        arguments: the metadata that lm-eval hands to a task: --model_args and --metadata together.

    Returns:
        `versions`; `chat_template`, its sha256, None if prompts do not go through one; `context`, the length that prompts were cut to and
        what said so, None if nothing cut them; `engine`, its settings and version, None if it does not run in this process.
    """
    versions = {"python": platform.python_version()}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    template = lm.chat_template(True) if generation.apply_chat_template else None
    served = context.served_by(arguments)
    return {
        "versions": versions,
        "chat_template": sha256_of_bytes(template) if template else None,
        "context": asdict(served) if served else None,
        "engine": {**settings, "version": versions.get(settings["name"])} if settings else None,
    }
