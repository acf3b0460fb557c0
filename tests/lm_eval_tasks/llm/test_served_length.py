"""How many tokens a model serves, by its arguments and its configuration."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lm_eval_tasks.core.errors import TokenizerError
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
        with pytest.raises(TokenizerError, match="is not a whole number of tokens"):
            length(tmp_path, config, {"max_length": value})


def test_overrides_come_before_the_configuration(tmp_path: Path) -> None:
    config: Config = {"max_position_embeddings": 4096}
    assert length(tmp_path, config).tokens == 4096
    overridden = length(tmp_path, config, {"hf_overrides": {"max_position_embeddings": 8192}})
    assert (overridden.tokens, "hf_overrides" in overridden.source) == (8192, True)


@pytest.mark.parametrize(
    ("rope", "tokens"),
    [
        # From the length before scaling, not from the one that the configuration states.
        (YARN, 131072),
        ({"rope_type": "linear", "factor": 2.0}, 65536),
        ({"rope_type": "dynamic", "factor": 2.0}, 65536),
        ({"rope_type": "llama3", "factor": 8.0, "original_max_position_embeddings": 8192}, 32768),
        ({"rope_type": "default"}, 32768),
    ],
)
def test_rope_scaling_counts_as_the_engine_counts_it(rope: Config, tokens: int, tmp_path: Path) -> None:
    overrides = {"max_position_embeddings": 32768, "rope_parameters": rope}
    assert length(tmp_path, {"max_position_embeddings": 512}, {"hf_overrides": overrides}).tokens == tokens


def test_a_tokenizer_may_say_it(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    tokenizer = SimpleNamespace(model_max_length=1024)
    assert served_length(str(tmp_path), {}, tokenizer) == ServedLength(1024, "its tokenizer")
    with pytest.raises(TokenizerError, match="give max_length="):
        served_length(str(tmp_path), {}, SimpleNamespace(model_max_length=10**30))
