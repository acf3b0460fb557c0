"""The length that an open model serves, and what results say of it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from lm_eval_tasks.samples.sample import read
from tests.helpers.served import Command, metadata, results


@pytest.mark.slow
def test_prompts_are_cut_to_what_the_open_model_reads(
    command: Command, dataset: Path, tiny_llama: Path, tmp_path: Path
) -> None:
    """YaRN in a configuration does not make transformers' models of lm-eval read more than the length that it states."""
    model = tmp_path / "model"
    shutil.copytree(tiny_llama, model)
    config = json.loads((model / "config.json").read_text())
    rope = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 2048, "rope_theta": 10000.0}
    config |= {"max_position_embeddings": 2048, "rope_parameters": {**rope, "attention_factor": float("nan")}}
    (model / "config.json").write_text(json.dumps(config))
    asked = ("--tasks", "academiceval_abs_9k", "--limit", "2", "--gen_kwargs", "max_gen_toks=4")
    line = ("eval", "--model", "hf", "--model_args", f"pretrained={model}", *asked, "--output", tmp_path / "out")
    code, _, err = command(*line, "--metadata", metadata(dataset))
    assert code == 0, err
    samples = read([tmp_path / "out"])
    assert [sample.scores["truncated"] for sample in samples] == [1.0, 1.0]
    assert all(1_900 < sample.row.tokens_after <= 2_048 - 4 for sample in samples)
    made_with = results(tmp_path / "out")["made_with"]
    assert (made_with["window"]["tokens"], made_with["engine"]["max_model_len"]) == (2_048, 2_048)
    # A number that JSON does not have.
    assert made_with["engine"]["rope"] == {**rope, "attention_factor": "nan"}
