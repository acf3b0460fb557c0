"""What made the answers of a run: versions, the length that prompts were cut to, and the engine with the settings that it really used."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from lm_eval_tasks.core.files import sha256_of_bytes
from lm_eval_tasks.data import context

if TYPE_CHECKING:
    from lm_eval.api.model import LM

    from lm_eval_tasks.evaluate.generation import Generation

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
