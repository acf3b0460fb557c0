"""`vllm` and `transformers`: the settings that an opened model really has, after all defaults.

What lm-eval is told is not enough: a checkpoint can bring its own quantization, number format, rope scaling and length. There is no
public way to ask `LLM` for them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Characters of a value that is no number.
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """The engine of a model, and the settings that it really used.

    Attributes:
        max_model_len: in tokens.
        quantization, rope: its method and parameters; None without.
    """

    name: str = ""
    max_model_len: int | None = None
    dtype: str | None = None
    kv_cache_dtype: str | None = None
    quantization: str | None = None
    rope: dict[str, object] | None = None
    version: str | None = None


def settings_of(lm: Any) -> EngineSettings | None:
    """The settings of a model of lm-eval; None if it does not run in this process."""
    model: Any = getattr(lm, "model", None)
    if config := getattr(getattr(model, "llm_engine", None), "vllm_config", None):
        loaded = config.model_config
        kept_as, text_config = str(config.cache_config.cache_dtype), loaded.hf_text_config
        # lm-eval cuts to its own, the engine refuses what is longer than its.
        length = min(int(lm.max_length), int(loaded.max_model_len))
        return _settings("vllm", length, loaded.dtype, kept_as, loaded.quantization, text_config)
    if hasattr(model, "config") and hasattr(model, "dtype"):
        text_config = getattr(model.config, "text_config", None) or model.config
        quantized = getattr(model.config, "quantization_config", None)
        method = (
            quantized.get("quant_method")
            if isinstance(quantized, Mapping)
            else getattr(quantized, "quant_method", None)
        )
        if str(method) == "gguf" and all(weights.is_floating_point() for weights in model.parameters()):
            method = "gguf, unpacked"
        return _settings("transformers", int(lm.max_length), model.dtype, "auto", method, text_config)
    return None


def _settings(
    name: str, length: int, dtype: object, kept_as: str, quantization: object, config: object
) -> EngineSettings:
    number = str(dtype).removeprefix("torch.")
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None)
    return EngineSettings(
        name,
        length,
        number,
        number if kept_as == "auto" else kept_as,
        # transformers has an enumeration.
        str(getattr(quantization, "value", quantization)) if quantization else None,
        _plain(rope) if isinstance(rope, Mapping) else None,
    )


def _plain(value: object) -> Any:
    """A value as JSON can have it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(value)[:_LONGEST]
