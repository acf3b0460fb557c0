"""How many tokens a model serves, by its arguments and its configuration."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.llm.served_length import ServedLength, served_length

YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}
Config = dict[str, Any]


def length(tmp_path: Path, config: Config, arguments: Config | None = None, limit: int = 10**30) -> ServedLength:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "llama", **config}))
    return served_length(str(tmp_path), arguments or {}, SimpleNamespace(model_max_length=limit))


def test_an_argument_decides(tmp_path: Path) -> None:
    config: Config = {"max_position_embeddings": 4096}
    for key in ("max_model_len", "max_length", "context_length"):
        assert length(tmp_path, config, {key: "2048", "hf_overrides": {"max_position_embeddings": 9}}) == ServedLength(
            2048, f"the argument {key}"
        )
    for value in (0, -1, 1.5, "8k", True, "²"):
        with pytest.raises(EvalError, match="is not a whole number of at least 1"):
            length(tmp_path, config, {"max_length": value})


def test_overrides_come_before_the_configuration(tmp_path: Path) -> None:
    config: Config = {"max_position_embeddings": 4096}
    assert length(tmp_path, config).tokens == 4096
    overridden = length(tmp_path, config, {"hf_overrides": {"max_position_embeddings": 8192}})
    assert (overridden.tokens, "hf_overrides" in overridden.source) == (8192, True)
    of_text = length(tmp_path, config, {"hf_overrides": {"text_config": {"max_position_embeddings": 1024}}})
    assert (of_text.tokens, "hf_overrides" in of_text.source) == (1024, True)


def test_overrides_that_were_torn_are_refused(tmp_path: Path) -> None:
    """As the bare `lm_eval` reads `hf_overrides={"max_position_embeddings":8192,"rope_parameters":...}`."""
    for arguments in ({}, {"max_model_len": 8192}):
        with pytest.raises(EvalError, match="give all of --model_args as JSON"):
            length(tmp_path, {}, {"hf_overrides": '{"max_position_embeddings":8192', **arguments})


@pytest.mark.parametrize(
    ("config", "tokens"),
    [
        # Engines differ in whether scaling raises what is stated.
        ({"max_position_embeddings": 32768, "rope_parameters": YARN}, 32768),
        ({"max_position_embeddings": 131072, "rope_parameters": YARN}, 131072),
        ({"max_position_embeddings": 4096, "rope_parameters": {"rope_type": "linear", "factor": 2.0}}, 4096),
        ({"max_position_embeddings": 4096, "rope_scaling": {"type": "dynamic", "factor": float("nan")}}, 4096),
        ({"max_position_embeddings": 4096, "model_max_length": 1024}, 1024),
        ({"max_position_embeddings": 4096, "seq_length": 0, "n_ctx": None, "n_positions": "512"}, 4096),
        (
            {
                "max_position_embeddings": 131072,
                "original_max_position_embeddings": 4096,
                "rope_scaling": {"type": "longrope"},
            },
            4096,
        ),
    ],
)
def test_a_configuration_counts_for_the_least_that_it_states(config: Config, tokens: int, tmp_path: Path) -> None:
    assert length(tmp_path, {}, {"hf_overrides": config}).tokens == tokens


def test_an_open_engine_knows_better(tmp_path: Path) -> None:
    config: Config = {"max_position_embeddings": 4096}
    assert length(tmp_path, config, {"engine_length": 8192}) == ServedLength(8192, "the engine")
    assert length(tmp_path, config, {"engine_length": 2048}) == ServedLength(2048, "the engine")
    assert length(tmp_path, config, {"engine_length": 4096}).source == "max_position_embeddings of its configuration"
    # What only we know lowers it; what it did not take does not raise it.
    lowered = length(tmp_path, config, {"engine_length": 8192, "context_length": 1000})
    assert lowered == ServedLength(1000, "the argument context_length")
    assert length(tmp_path, config, {"engine_length": 2048, "context_length": 9999}).tokens == 2048
    assert length(tmp_path, {}, {"engine_length": 2048}, 10**30).tokens == 2048


def test_a_configuration_that_cannot_be_read_says_nothing(tmp_path: Path) -> None:
    assert length(tmp_path, {"max_position_embeddings": None}, limit=512) == ServedLength(512, "its tokenizer")


def test_a_tokenizer_may_say_it(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    tokenizer = SimpleNamespace(model_max_length=1024)
    assert served_length(str(tmp_path), {}, tokenizer) == ServedLength(1024, "its tokenizer")
    with pytest.raises(EvalError, match="give max_length="):
        served_length(str(tmp_path), {}, SimpleNamespace(model_max_length=10**30))
