"""What tells one model from another, and what is said of one that cannot be opened."""

from __future__ import annotations

import pytest

from lm_eval_tasks.compat import lm_eval as compat
from lm_eval_tasks.core.errors import ModelError
from lm_eval_tasks.evaluate.generation import Generation
from lm_eval_tasks.evaluate.models import identity_of, open_model

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
                "To serve at least one request, 16.0 GiB KV cache is needed, which is larger than the available"
            ),
            "the cache of keys and values does not fit",
        ),
        (RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"), "the GPU has too little memory"),
        (RuntimeError("Engine core initialization failed. See root cause above."), "--verbose"),
    ],
)
def test_what_to_change_is_said(error: Exception, advice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(compat, "open_model", fail)
    with pytest.raises(ModelError, match="cannot be opened") as raised:
        open_model("hf", {"pretrained": "ORG/MODEL"}, Generation())
    assert advice in str(raised.value)
    assert "\n" not in str(raised.value)
