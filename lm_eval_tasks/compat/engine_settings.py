"""`vllm` and `transformers`: the settings that an opened model really has, after all defaults.

What lm-eval is told is not enough: a checkpoint can bring its own quantization, number format and rope scaling. There is no public way
to ask `LLM` for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def settings_of(lm: Any) -> dict[str, Any] | None:
    """The settings of a model of lm-eval; None if it does not run in this process.

    Returns:
        `name` of the engine, `dtype`, `kv_cache_dtype`, `quantization` and `rope` (its parameters), the last two None without.
    """
    model: Any = getattr(lm, "model", None)
    if config := getattr(getattr(model, "llm_engine", None), "vllm_config", None):
        loaded = config.model_config
        return _settings(
            "vllm", loaded.dtype, config.cache_config.cache_dtype, loaded.quantization, loaded.hf_text_config
        )
    if hasattr(model, "config") and hasattr(model, "dtype"):
        quantized = getattr(model.config, "quantization_config", None)
        method = (
            quantized.get("quant_method")
            if isinstance(quantized, Mapping)
            else getattr(quantized, "quant_method", None)
        )
        text_config = getattr(model.config, "text_config", None) or model.config
        return _settings("transformers", model.dtype, "auto", method, text_config)
    return None


def _settings(name: str, dtype: object, kept_as: object, quantization: object, config: object) -> dict[str, Any]:
    # torch writes torch.bfloat16, an enumeration of transformers QuantizationMethod.AWQ.
    number, method = (str(value).rpartition(".")[2] for value in (dtype, quantization))
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None)
    return {
        "name": name,
        "dtype": number,
        "kv_cache_dtype": number if kept_as == "auto" else str(kept_as),
        "quantization": method.casefold() if quantization else None,
        "rope": dict(rope) if isinstance(rope, Mapping) else None,
    }
