"""What tells one model from another, and what is said of one that cannot be opened."""

from __future__ import annotations

import pytest

from lm_eval_tasks.base.errors import ModelError
from lm_eval_tasks.compat import lm_eval as compat
from lm_eval_tasks.evaluate.generation import Generation
from lm_eval_tasks.evaluate.identity import identity_of
from lm_eval_tasks.evaluate.models import open_model

ARGUMENTS = {"pretrained": "ORG/MODEL", "max_model_len": 131072}


@pytest.mark.parametrize(
    ("argument", "is_other_model"),
    [
        ({"tensor_parallel_size": 8}, False),
        ({"max_num_seqs": 4}, False),
        ({"gpu_memory_utilization": 0.7}, False),
        ({"enable_chunked_prefill": True}, False),
        ({"kv_cache_dtype": "fp8"}, True),
        ({"quantization": "awq"}, True),
        ({"hf_overrides": {"rope_parameters": {"factor": 4.0}}}, True),
        ({"dtype": "float16"}, True),
        ({"dtype": "auto", "kv_cache_dtype": "auto"}, False),
    ],
)
def test_answers_are_kept_if_only_the_hardware_changes(argument: dict[str, object], is_other_model: bool) -> None:
    generation = Generation()
    first = identity_of("vllm", ARGUMENTS, {}, generation)
    assert (identity_of("vllm", ARGUMENTS | argument, {}, generation) != first) == is_other_model


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (
            ValueError(
                "1 validation error for ModelConfig\n  Value error, User-specified max_model_len (9) is greater than the "
                "derived max_model_len (max_position_embeddings=8) [type=value_error]"
            ),
            "stretch it by YaRN",
        ),
        (
            ValueError(
                "To serve at least one request with the model's max seq len (2048), 16.0 GiB KV cache is needed, which is larger"
            ),
            "the cache of keys and values does not fit",
        ),
        (RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"), "the GPU has too little memory"),
        (OSError("/no/such/folder is not a local folder and is not a valid model identifier"), "no such folder here"),
        (RuntimeError("Engine core initialization failed. See root cause above."), "Engine core initialization failed"),
        (KeyError("factor"), "'factor'"),
        (RuntimeError(f"{'x' * 500} y"), " ..."),
        (RuntimeError("\n"), "RuntimeError"),
        (RuntimeError("1 validation error for X"), "1 validation error for X"),
        (
            ValueError("1 validation error for X\nkv_cache_dtype\n  Input should be [type=enum]"),
            "kv_cache_dtype: Input should be",
        ),
    ],
)
def test_what_to_change_is_said(error: Exception, advice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(compat, "open_model", fail)
    with pytest.raises(ModelError, match="cannot be opened") as raised:
        open_model("hf", {"pretrained": "ORG/MODEL"}, Generation())
    assert advice in str(raised.value)
    assert len(str(raised.value)) < 500
    assert "\n" not in str(raised.value)
