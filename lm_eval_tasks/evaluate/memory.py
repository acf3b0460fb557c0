"""What a model takes of a GPU's memory: its weights, and the cache of keys and values of a prompt; arithmetic, before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from lm_eval_tasks.core.errors import EvalError
from lm_eval_tasks.llm.served_length import argument_of, configuration_of, stated, switched_on

GIB = 1 << 30
_BYTES = {
    "float32": 4.0,
    "float": 4.0,
    "float16": 2.0,
    "half": 2.0,
    "bfloat16": 2.0,
    "float8": 1.0,
    "fp8": 1.0,
    "int8": 1.0,
}
# Weights that are quantized, by the argument that says so or the configuration: bytes of a parameter, scales included.
_QUANTIZED = {"fp8": 1.0, "awq": 0.56, "gptq": 0.56, "bitsandbytes": 0.56, "mxfp4": 0.54, "compressed-tensors": 1.0}
_WEIGHTS = ("model*.safetensors", "pytorch_model*.bin")
# The arguments that an engine knows for its length, and that say how many GPUs hold a copy of the model.
_ENGINES_LENGTH = ("max_model_len", "max_length")
_PARALLEL = ("tensor", "pipeline", "prefill_context")
# Tokens that vLLM reads of a prompt at once, for which windows have room too.
_BATCHED = 8192
# Layers that keep no tokens.
_KEEPS_NONE = ("linear_attention", "mamba", "mamba2", "conv", "moe")
# Of the memory that vLLM takes, what activations and the engine itself need.
_BESIDE = 0.08


@dataclass(frozen=True, slots=True)
class Memory:
    """What a run needs, and has, over all GPUs that hold a copy of the model.

    Attributes:
        weights: bytes; None if the configuration does not tell.
        tokens: of the model's context, for all of which vLLM wants room when it starts, or of the longest prompt and its answer.
        cache: bytes of so many tokens.
        room: bytes that the engine may use; None if nobody said how large a GPU is.
    """

    weights: int | None
    tokens: int
    cache: int
    gpus: int
    room: int | None

    @property
    def sentence(self) -> str:
        """Both sides in GiB, and how many prompts of that length fit at once."""
        weights = f"weights about {self.weights / GIB:.1f} GiB, " if self.weights else ""
        needed = f"Memory: {weights}KV cache of {self.tokens:,} tokens {self.cache / GIB:.2f} GiB"
        if self.room is None:
            return needed
        at_once = (
            f"; such prompts at once: {max(0, self.room - (self.weights or 0)) // self.cache}" if self.cache else ""
        )
        return f"{needed}; room for both about {self.room / GIB:.1f} GiB (GPUs: {self.gpus}){at_once}"

    def check(self) -> None:
        """Raise an EvalError if it cannot fit."""
        if self.room is not None and (self.weights or 0) + self.cache > self.room:
            needed = ((self.weights or 0) + self.cache) / GIB
            raise EvalError(
                f"it does not fit: weights and cache take {needed:.1f} GiB, the room is {self.room / GIB:.1f} GiB (GPUs: {self.gpus}); "
                "use more of them (tensor_parallel_size), kv_cache_dtype=fp8, a lower max_model_len, or smaller weights"
            )


def memory_of(arguments: Mapping[str, Any], tokens: int, gpu_gib: float | None) -> Memory | None:
    """What a run needs; None if the configuration of the model is not on this machine or of another kind.

    Args:
        arguments: of lm-eval's model.
        tokens: of the longest prompt and its answer.
        gpu_gib: memory of one GPU.
    """
    config = configuration_of(str(arguments["pretrained"]), arguments) if arguments.get("pretrained") else {}
    key = next((key for key in _ENGINES_LENGTH if arguments.get(key) is not None), None)
    longest = max(tokens, argument_of(key, arguments[key]) if key else (stated(config) or (tokens,))[0])
    used = _share(arguments)
    try:
        cache = cache_bytes(config, arguments, longest)
        weights = weights_bytes(config, arguments)
    except (TypeError, ValueError, KeyError):  # a configuration unlike others
        return None
    if cache is None:
        return None
    gpus = prod(_whole(arguments, f"{kind}_parallel_size", 1) for kind in _PARALLEL)
    room = int(gpus * gpu_gib * max(0.0, used - _BESIDE) * GIB) if gpu_gib else None
    return Memory(weights, longest, cache, gpus, room)


def _whole(arguments: Mapping[str, Any], key: str, default: int) -> int:
    value = arguments.get(key)
    return default if value is None else argument_of(key, value)


def _share(arguments: Mapping[str, Any]) -> float:
    value = arguments.get("gpu_memory_utilization")
    try:
        share = 0.9 if value is None else float(value)
    except (TypeError, ValueError):
        share = 0.0
    if not 0 < share <= 1:
        raise EvalError(f"gpu_memory_utilization={value!r:.40} is not a share above 0 and at most 1")
    return share


def cache_bytes(config: Mapping[str, Any], arguments: Mapping[str, Any], tokens: int) -> int | None:
    """The bytes that a cache of keys and values takes on all GPUs together; None if the configuration does not tell.

    Layers whose attention slides or goes in chunks keep their window alone, linear ones next to nothing. GPUs keep copies if they are
    more than the groups of keys and values, which `decode_context_parallel_size` takes apart.
    """
    layers, heads = config.get("num_hidden_layers"), config.get("num_attention_heads")
    if not layers or not heads:
        return None
    kept_as = str(arguments.get("kv_cache_dtype") or "auto")
    size = 1.0 if kept_as.startswith("fp8") else _bytes_of(config, arguments)
    latent = config.get("kv_lora_rank")  # multi-head latent attention: one group
    groups = 1 if latent else config.get("num_key_value_heads") or heads
    split = _whole(arguments, "decode_context_parallel_size", 1)
    copies = max(1, _whole(arguments, "tensor_parallel_size", 1) // groups // split)
    if latent:
        return int(copies * layers * (latent + (config.get("qk_rope_head_dim") or 0)) * size * tokens)
    head = config.get("head_dim") or config["hidden_size"] // heads
    return int(copies * 2 * groups * head * size * sum(_kept(config, arguments, layers, tokens)))


def _kept(config: Mapping[str, Any], arguments: Mapping[str, Any], layers: int, tokens: int) -> list[int]:
    """The tokens that each layer keeps."""
    if switched_on(arguments, "disable_hybrid_kv_cache_manager"):
        return [tokens] * layers
    batched = _whole(arguments, "max_num_batched_tokens", _BATCHED)
    window, chunk = (
        min(tokens, config[key] + batched) if config.get(key) else tokens
        for key in ("sliding_window", "attention_chunk_size")
    )
    kept = {"sliding_attention": window, "chunked_attention": chunk, **dict.fromkeys(_KEEPS_NONE, 0)}
    if types := config.get("layer_types"):
        return [kept.get(kind, tokens) for kind in types]
    # Without types, all layers slide, as Mistral's did.
    return [window if config.get("use_sliding_window", True) else tokens] * layers


def weights_bytes(config: Mapping[str, Any], arguments: Mapping[str, Any]) -> int | None:
    """The bytes of a model's weights: of its files if they are here, else by its configuration."""
    folder = Path(str(arguments.get("pretrained") or ""))
    files = (
        next((files for pattern in _WEIGHTS if (files := list(folder.glob(pattern)))), []) if folder.is_dir() else []
    )
    if files and not arguments.get("quantization"):
        stored = sum(file.stat().st_size for file in files)
        is_quantized = config.get("quantization_config")
        return stored if is_quantized else int(stored * _bytes_of(config, arguments) / _bytes_of(config, {}))
    parameters = _parameters(config)
    plain = _bytes_of(config, arguments)
    quantized = str(
        arguments.get("quantization") or (config.get("quantization_config") or {}).get("quant_method") or ""
    )
    # Ways to compute with the same weights have names that begin alike: awq_marlin.
    size = next((size for name, size in _QUANTIZED.items() if quantized.startswith(name)), plain)
    if parameters is None:
        return None
    feed_forward, attention, embeddings = parameters
    # MXFP4 is for experts alone; embeddings are hardly ever quantized.
    attention_size = plain if quantized.startswith("mxfp4") else size
    return int(feed_forward * size + attention * attention_size + embeddings * plain)


def _bytes_of(config: Mapping[str, Any], arguments: Mapping[str, Any]) -> float:
    """The bytes of a number as the model computes."""
    dtype = str(arguments.get("dtype") or "auto")
    dtype = str(config.get("dtype") or config.get("torch_dtype") or "bfloat16") if dtype == "auto" else dtype
    return _BYTES.get(dtype.removeprefix("torch."), 2.0)


def _parameters(config: Mapping[str, Any]) -> tuple[int, int, int] | None:
    """About how many parameters a decoder has: in gated feed-forward (of all experts), attention, embeddings."""
    needed = ("hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size")
    if not all(config.get(key) for key in needed):
        return None
    width, layers, heads, vocabulary = (int(config[key]) for key in needed)
    head = config.get("head_dim") or width // heads
    groups = config.get("num_key_value_heads") or heads
    experts = int(config.get("num_experts") or config.get("n_routed_experts") or config.get("num_local_experts") or 0)
    inner = int(config.get("intermediate_size") or 4 * width)
    of_expert = int(config.get("moe_intermediate_size") or inner)
    # Experts that every token goes through; Llama 4 has one, and another size for layers without experts.
    shared = int(config.get("n_shared_experts") or "intermediate_size_mlp" in config)
    with_experts = _layers_with_experts(config, layers) if experts else 0
    dense = (layers - with_experts) * int(config.get("intermediate_size_mlp") or inner)
    feed_forward = 3 * width * (dense + with_experts * (experts + shared) * of_expert)
    attention = 2 * width * heads * head + 2 * width * groups * head
    embeddings = vocabulary * width * (1 if config.get("tie_word_embeddings") else 2)
    return feed_forward, layers * attention, embeddings


def _layers_with_experts(config: Mapping[str, Any], layers: int) -> int:
    steps = ("interleave_moe_layer_step", "decoder_sparse_step", "expert_layer_period")
    step = next((int(config[key]) for key in steps if config.get(key)), 1)
    without = int(config.get("first_k_dense_replace") or 0) + len(config.get("mlp_only_layers") or ())
    return max(0, layers - without) // step
