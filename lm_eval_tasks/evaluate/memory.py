"""What a model takes of a GPU's memory: its weights, and the cache of keys and values of a prompt; arithmetic, before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_tasks.core.errors import EvalError
from lm_eval_tasks.llm.served_length import configuration_of

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
_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
# Of the memory that vLLM takes, what activations and the engine itself need.
_BESIDE = 0.08


@dataclass(frozen=True, slots=True)
class Memory:
    """What a run needs, and has, over all GPUs that hold a copy of the model.

    Attributes:
        weights: bytes; None if the configuration does not tell.
        cache: bytes of the longest prompt and its answer.
        room: bytes that the engine may use; None if nobody said how large a GPU is.
    """

    weights: int | None
    cache: int
    gpus: int
    room: int | None

    @property
    def sentence(self) -> str:
        """Both sides in GiB."""
        weights = f"weights about {self.weights / GIB:.1f} GiB, " if self.weights else ""
        room = f"; room for both about {self.room / GIB:.1f} GiB, GPUs: {self.gpus}" if self.room else ""
        return f"Memory: {weights}KV cache of the longest prompt and answer {self.cache / GIB:.2f} GiB{room}"

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
    cache = cache_bytes(config, arguments, tokens)
    if cache is None:
        return None
    gpus = int(arguments.get("tensor_parallel_size") or 1) * int(arguments.get("pipeline_parallel_size") or 1)
    share = float(arguments.get("gpu_memory_utilization") or 0.9) - _BESIDE
    return Memory(weights_bytes(config, arguments), cache, gpus, int(gpus * gpu_gib * share * GIB) if gpu_gib else None)


def cache_bytes(config: Mapping[str, Any], arguments: Mapping[str, Any], tokens: int) -> int | None:
    """The bytes that a cache of keys and values takes; layers whose attention slides keep their window alone."""
    layers, heads = config.get("num_hidden_layers"), config.get("num_attention_heads")
    if not layers or not heads:
        return None
    kept_as = str(arguments.get("kv_cache_dtype") or "auto")
    size = 1.0 if kept_as.startswith("fp8") else _bytes_of(config, arguments)
    if latent := config.get("kv_lora_rank"):  # multi-head latent attention
        return int(layers * (latent + (config.get("qk_rope_head_dim") or 0)) * size * tokens)
    head = config.get("head_dim") or config["hidden_size"] // heads
    groups = config.get("num_key_value_heads") or heads
    window = min(tokens, config.get("sliding_window") or tokens)
    sliding = list(config.get("layer_types") or ()).count("sliding_attention")
    return int(2 * groups * head * size * ((layers - sliding) * tokens + sliding * window))


def weights_bytes(config: Mapping[str, Any], arguments: Mapping[str, Any]) -> int | None:
    """The bytes of a model's weights: of its files if they are here, else by its configuration."""
    folder = Path(str(arguments.get("pretrained") or ""))
    files = [file for pattern in _WEIGHTS for file in folder.glob(pattern)] if folder.is_dir() else []
    if files and not arguments.get("quantization"):
        return sum(file.stat().st_size for file in files)
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
    experts = config.get("num_experts") or config.get("n_routed_experts") or config.get("num_local_experts") or 0
    inner = (config.get("moe_intermediate_size") if experts else None) or config.get("intermediate_size") or 4 * width
    attention = 2 * width * heads * head + 2 * width * groups * head
    embeddings = vocabulary * width * (1 if config.get("tie_word_embeddings") else 2)
    return layers * 3 * width * int(inner) * max(1, int(experts)), layers * attention, embeddings
