"""How many tokens a model really serves, and what says so.

In this order: the argument that sets it, the overrides of its configuration (`hf_overrides`, for vLLM), the configuration with its
rope scaling, the tokenizer. The arithmetic is vLLM's (`vllm/config/model.py`, `_get_and_verify_max_len`): YaRN counts from the length
before scaling, types that state their own length (LongRoPE, Llama 3's) are not scaled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lm_eval_tasks.core.errors import TokenizerError

LENGTH_KEYS = ("max_model_len", "max_length", "context_length")
_CONFIGURED = ("max_position_embeddings", "n_positions", "n_ctx", "max_sequence_length", "max_seq_len", "seq_length")
_ROPE_KEYS = ("rope_parameters", "rope_scaling")
# Their configurations state the length after scaling.
_UNSCALED = frozenset({"su", "longrope", "llama3", "default", "mrope"})
# transformers writes 1e30 if a tokenizer has no limit of its own.
_NO_LIMIT = 10**9


@dataclass(frozen=True, slots=True)
class ServedLength:
    """A number of tokens, what it was taken from, in words, and by which key."""

    tokens: int
    source: str
    key: str = ""


def served_length(model: str, arguments: Mapping[str, Any], tokenizer: Any) -> ServedLength:
    """The length that a model serves.

    Args:
        model: a folder or Hub id, whose configuration is read if no argument decides.
        arguments: of lm-eval's model.

    Raises:
        TokenizerError: an argument is no number of tokens, or nothing tells the length.
    """
    for key in LENGTH_KEYS:
        if arguments.get(key) is not None:
            return ServedLength(argument_of(key, arguments[key]), f"the argument {key}")
    given = arguments.get("hf_overrides")
    overrides = given if isinstance(given, Mapping) else {}
    if length := _configured({**configuration_of(model, arguments), **overrides}):
        place = "hf_overrides" if length.key in overrides else "its configuration"
        return ServedLength(length.tokens, f"{length.source} of {place}")
    if tokenizer.model_max_length <= _NO_LIMIT:
        return ServedLength(int(tokenizer.model_max_length), "its tokenizer")
    raise TokenizerError(f"the context length of {model!r} is unknown; give max_length=... in --model_args")


def argument_of(key: str, value: object) -> int:
    """A number of tokens that an argument gives.

    Raises:
        TokenizerError: it is something else.
    """
    if isinstance(value, int | str) and str(value).isascii() and str(value).isdigit() and int(value):
        return int(value)
    raise TokenizerError(f"{key}={value!r:.40} is not a whole number of tokens of at least 1")


def configuration_of(model: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """A model's configuration, that of its text part if it has several; empty if it is not here."""
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(
            model, revision=arguments.get("revision") or "main", trust_remote_code=trusts_code(arguments)
        )
    except (OSError, ValueError, ImportError, AttributeError):
        return {}
    values: dict[str, Any] = (getattr(config, "text_config", None) or config).to_dict()
    return values


def trusts_code(arguments: Mapping[str, Any]) -> bool:
    """Whether a model's own code may be run, which --model_args say."""
    return str(arguments.get("trust_remote_code", "")).casefold() == "true"


def _configured(config: Mapping[str, Any]) -> ServedLength | None:
    """The length that some parameters give; None if they give none."""
    key = next((key for key in _CONFIGURED if isinstance(config.get(key), int) and config[key]), None)
    if key is None:
        return None
    rope_key = next((name for name in _ROPE_KEYS if isinstance(config.get(name), Mapping)), None)
    rope = config[rope_key] if rope_key else {}
    kind, factor = str(rope.get("rope_type") or rope.get("type") or "default"), rope.get("factor")
    if kind in _UNSCALED or not isinstance(factor, int | float):
        return ServedLength(config[key], key, key)
    before = rope.get("original_max_position_embeddings") if kind == "yarn" else config[key]
    if not isinstance(before, int):
        return ServedLength(config[key], key, key)
    return ServedLength(int(before * factor), f"{rope_key} ({kind}, {factor:g} times {before})", str(rope_key))
