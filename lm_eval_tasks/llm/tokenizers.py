"""Models' own tokenizers: prompts are cut with them, answers counted."""

from __future__ import annotations

from functools import cache
from typing import Any

from lm_eval_tasks.core.errors import TokenizerError


@cache
def load(name: str) -> Any:
    """The tokenizer of a model.

    Args:
        name: a folder or Hub id, optionally followed by "@" and a revision.

    Raises:
        TokenizerError: it cannot be loaded, or has no fast version.
    """
    from transformers import AutoTokenizer

    model, _, revision = name.rpartition("@")
    try:
        tokenizer = AutoTokenizer.from_pretrained(model, revision=revision)
    except (OSError, ValueError, ImportError) as err:
        reason = str(err).strip().splitlines()[0][:160] if str(err).strip() else type(err).__name__
        raise TokenizerError(
            f"the tokenizer of {model!r} cannot be loaded ({reason}); name a local folder, or fetch it while online"
        ) from err
    if not tokenizer.is_fast:
        raise TokenizerError(f"the tokenizer of {model!r} has no fast version, which cutting prompts needs")
    return tokenizer


def counts(name: str, texts: list[str]) -> list[int]:
    """How many tokens each text has, special ones left out."""
    return (
        [len(ids) for ids in load(name)(texts, add_special_tokens=False, verbose=False)["input_ids"]] if texts else []
    )
