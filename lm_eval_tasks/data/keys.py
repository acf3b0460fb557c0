"""What --metadata may contain: our own options, tokenizer and length for cutting prompts, and models' arguments."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from lm_eval_tasks.errors import OptionError

KEYS = (
    "dataset", "dataset_revision", "round", "split", "published_after", "published_before", "shard", "config", "core",
    "bertscore_model", "cut", "reserve", "reasoning_tokens",
    "system_instruction", "model_cutoff", "retriever", "similarity", "chunk_size", "chunk_overlap", "chunks", "metrics", "keep_parts",
    "tokenizer", "max_length", "max_model_len", "context_length", "pretrained", "revision",
    "enable_thinking", "think_end_token", "chat_template_args", "model", "base_url", "api_key", "dtype", "trust_remote_code",
)  # fmt: skip


def check_keys(names: Iterable[str], *, others: bool) -> None:
    """Raise an OptionError for a key of --metadata that is not one of ours.

    Args:
        others: whether keys of other tasks may occur there too; then only what looks like one of ours is refused.
    """
    for name in names:
        if name not in KEYS:
            near = get_close_matches(name, KEYS, 1, 0.75)
            if near or not others:
                hint = f"did you mean {near[0]!r}?" if near else f"the keys are {', '.join(sorted(KEYS))}"
                raise OptionError(f"--metadata has a key {name!r} that no task reads; {hint}")
