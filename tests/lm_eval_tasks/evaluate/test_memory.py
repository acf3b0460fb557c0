"""What a run needs of GPUs, by hand-made configurations whose sums are known."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lm_eval_tasks.core.errors import EvalError
from lm_eval_tasks.evaluate.memory import GIB, Memory, cache_bytes, memory_of, weights_bytes
from tests.helpers.llama import make_llama

# Llama 3.1 8B: 8.03e9 parameters, 128 KiB of cache a token in 16 bits.
LLAMA_8B = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}


def memory(tmp_path: Path, tokens: int, gpu: float | None = None, **arguments: Any) -> Memory | None:
    (tmp_path / "config.json").write_text(json.dumps(LLAMA_8B))
    return memory_of({"pretrained": str(tmp_path), **arguments}, tokens, gpu)


def test_sums_of_a_known_model(tmp_path: Path) -> None:
    plain = memory(tmp_path, 131072)
    assert plain is not None
    assert plain.weights == pytest.approx(8.03e9 * 2, rel=0.01)
    assert (plain.cache, plain.room) == (16 * GIB, None)
    plain.check()
    small = memory(tmp_path, 131072, kv_cache_dtype="fp8", quantization="awq_marlin")
    assert small is not None
    assert small.cache == 8 * GIB
    assert small.weights is not None
    assert small.weights < plain.weights / 2.5  # type: ignore[operator]


def test_what_cannot_fit_is_said(tmp_path: Path) -> None:
    needs_more = memory(tmp_path, 1 << 20, 80, gpu_memory_utilization=0.9)
    with pytest.raises(EvalError, match=r"weights and cache take 143\.\d GiB, the room is 65\.6 GiB \(GPUs: 1\)"):
        needs_more.check()  # type: ignore[union-attr]
    four = memory(tmp_path, 1 << 20, 80, tensor_parallel_size="4")
    four.check()  # type: ignore[union-attr]


def test_compressed_keys_and_unknown_models(tmp_path: Path) -> None:
    latent = {"num_hidden_layers": 61, "num_attention_heads": 128, "kv_lora_rank": 512, "qk_rope_head_dim": 64}
    assert cache_bytes(latent, {"dtype": "bfloat16"}, 1000) == 61 * 576 * 2 * 1000
    assert memory_of({"pretrained": str(tmp_path / "absent")}, 1000, 80) is None
    # Gemma 3's pattern: five layers of a window, one of everything.
    pattern = {"layer_types": ["sliding_attention"] * 5 + ["full_attention"], "sliding_window": 1024}
    shape = {"num_hidden_layers": 6, "num_attention_heads": 32, "num_key_value_heads": 16, "head_dim": 128}
    # A window has room for what is read at once, too.
    reading = {"dtype": "bfloat16", "max_num_batched_tokens": 2048}
    for tokens, kept in ((100_000, 100_000 + 5 * 3072), (1000, 6 * 1000)):
        assert cache_bytes(shape | pattern, reading, tokens) == 2 * 16 * 128 * 2 * kept
    whole = {**reading, "disable_hybrid_kv_cache_manager": True}
    assert cache_bytes(shape | pattern, whole, 100_000) == 2 * 16 * 128 * 2 * 6 * 100_000
    assert memory_of({}, 1000, 80) is None
    # Mistral's first release slides everywhere; Llama 4 goes in chunks, other layers keep no tokens at all.
    for config, kept in (
        ({"sliding_window": 1024}, 6 * 3072),
        ({"sliding_window": 1024, "use_sliding_window": False}, 6 * 100_000),
        ({"layer_types": ["chunked_attention"] * 6, "attention_chunk_size": 8192}, 6 * 10240),
        ({"layer_types": ["another_attention"] * 6}, 6 * 100_000),
        ({"layer_types": ["linear_attention"] * 5 + ["full_attention"]}, 100_000),
    ):
        assert cache_bytes(shape | config, reading, 100_000) == 2 * 16 * 128 * 2 * kept


def test_gpus_keep_copies_of_the_cache_if_they_are_more_than_its_groups() -> None:
    shape = {"num_hidden_layers": 48, "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128}
    latent = {"num_hidden_layers": 61, "num_attention_heads": 128, "kv_lora_rank": 512, "qk_rope_head_dim": 64}

    def copies(config: dict[str, Any], **arguments: int) -> float:
        one, all_ = (cache_bytes(config, {"dtype": "bfloat16", **given}, 1000) for given in ({}, arguments))
        assert one and all_
        return all_ / one

    assert [copies(shape, tensor_parallel_size=gpus) for gpus in (1, 4, 8, 16)] == [1, 1, 2, 4]
    assert copies(shape, tensor_parallel_size=8, decode_context_parallel_size=2) == 1
    assert copies(latent, tensor_parallel_size=16) == 16


def test_the_engine_wants_room_for_its_whole_length(tmp_path: Path) -> None:
    asked = memory(tmp_path, 3_000, 80, max_model_len=262144)
    assert asked is not None
    assert (asked.tokens, asked.cache) == (262144, 32 * GIB)
    assert "such prompts at once: 1" in asked.sentence
    with pytest.raises(EvalError, match="it does not fit"):
        memory(tmp_path, 3_000, 40, max_model_len=262144).check()  # type: ignore[union-attr]


def test_weights_of_experts_and_of_files(tmp_path: Path) -> None:
    # DeepSeek V3: 671e9 parameters, one expert that all tokens go through, three layers without experts.
    width = {"hidden_size": 7168, "num_hidden_layers": 61, "num_attention_heads": 128, "vocab_size": 129280}
    experts = {
        "n_routed_experts": 256,
        "n_shared_experts": 1,
        "first_k_dense_replace": 3,
        "moe_intermediate_size": 2048,
    }
    config = {**width, **experts, "intermediate_size": 18432, "kv_lora_rank": 512, "head_dim": 128}
    weights = weights_bytes(config, {"dtype": "bfloat16"})
    assert weights == pytest.approx(671e9 * 2, rel=0.03)
    # Llama 4 Maverick: 400e9, half of the layers with experts.
    maverick = {
        **{
            "hidden_size": 5120,
            "num_hidden_layers": 48,
            "num_attention_heads": 40,
            "num_key_value_heads": 8,
            "head_dim": 128,
        },
        **{"vocab_size": 202048, "num_local_experts": 128, "interleave_moe_layer_step": 2},
        **{"intermediate_size": 8192, "intermediate_size_mlp": 16384},
    }
    assert weights_bytes(maverick, {"dtype": "bfloat16"}) == pytest.approx(400e9 * 2, rel=0.02)
    (tmp_path / "model.safetensors").write_bytes(b"0" * 4000)
    for other in ("consolidated.safetensors", "pytorch_model.bin"):
        (tmp_path / other).write_bytes(b"0" * 4000)
    stored = {**config, "dtype": "float32"}
    assert weights_bytes(stored, {"pretrained": str(tmp_path)}) == 4000
    assert weights_bytes(stored, {"pretrained": str(tmp_path), "dtype": "bfloat16"}) == 2000


@pytest.mark.parametrize(
    "arguments",
    [
        {"tensor_parallel_size": "two"},
        {"tensor_parallel_size": -1},
        {"gpu_memory_utilization": "abc"},
        {"gpu_memory_utilization": 90},
        {"gpu_memory_utilization": float("nan")},
    ],
)
def test_arguments_that_are_no_such_numbers(arguments: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(EvalError, match=next(iter(arguments))):
        memory(tmp_path, 1000, 80, **arguments)


@pytest.mark.slow
def test_plan_says_whether_it_fits(dataset: Path, command: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    make_llama(tmp_path / "llama")
    ask = [
        "plan",
        "--model_args",
        f"pretrained={tmp_path / 'llama'},max_length=6144",
        "--tasks",
        "academiceval_abs_9k",
        "--metadata",
        json.dumps({"dataset": str(dataset)}),
    ]
    code, out, _ = command(*ask, "--gpu-memory", "80")
    assert (code, "GPUs: 1" in out) == (0, True)
    code, out, err = command(*ask, "--gpu-memory", "0.0001")
    assert (code, "it does not fit" in err, err.count("\n")) == (1, True, 1)
