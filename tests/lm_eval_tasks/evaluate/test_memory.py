"""What a run needs of GPUs, by hand-made configurations whose sums are known."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lm_eval_tasks.core.errors import EvalError
from lm_eval_tasks.evaluate.memory import GIB, Memory, cache_bytes, memory_of
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
    for tokens, kept in ((100_000, 100_000 + 5 * 1024), (1000, 6 * 1000)):
        assert cache_bytes(shape | pattern, {"dtype": "bfloat16"}, tokens) == 2 * 16 * 128 * 2 * kept
    assert memory_of({}, 1000, 80) is None


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
