"""What our tasks cost around a real language model: bare lm_eval over Title-10K, against transformers alone with the same prompts.

Both sides take turns over the weights of `make setup`, one prompt at a time on one thread; scores are left out. What our side takes begins
with the round's folder: opening it, cutting the prompts, asking. Then `make demo` runs in a clone of this repository, set up already.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import torch
from lm_eval.evaluator import simple_evaluate
from lm_eval.models.huggingface import HFLM
from lm_eval.tasks import TaskManager

from benchmarks.likelihood import DTYPE
from benchmarks.shared.running import ROOT, Figures, command, run
from lm_eval_tasks.engines.registry import LocalEngine
from lm_eval_tasks.tasks.catalogue import tasks_path
from standins import rounds
from standins.real_model import FOLDER, UNPACKED
from standins.rounds import small_round

# The weights, and tokens that are written for each prompt.
MODEL, WRITTEN = FOLDER / UNPACKED, 16


class Watched(HFLM):  # type: ignore[misc]
    """The model as lm-eval opens it, with the prompts that it was asked and when it had answered the last."""

    def generate_until(self, requests: list[Any], *arguments: Any, **keywords: Any) -> list[str]:
        self.prompts = [request.args[0] for request in requests]
        answers: list[str] = super().generate_until(requests, *arguments, **keywords)
        self.ended = time.process_time()
        return answers


def measure(folder: Path, quick: bool) -> Figures:
    """Count the tokens a second of both sides' median pair, the ratio of ours to transformers alone, and the demo's seconds."""
    prompts, window, pairs = (2, 512, 1) if quick else (12, 1024, 5)
    torch.set_num_threads(1)
    round_ = small_round(folder / "round", settings=["Title-10K"])
    rounds.run(round_, LocalEngine())
    model = Watched(str(MODEL), dtype=DTYPE, max_length=window, device="cpu")
    taken = []
    for _ in range(pairs):
        seconds = ours(model, round_.output, prompts)
        tokens, plain = alone(model)
        taken.append((plain / seconds, tokens / seconds, tokens / plain))
        print(f"{tokens} tokens: {seconds:.1f} s through lm_eval, {plain:.1f} s alone", flush=True)
    names = ("throughput_ratio", "tokens_second", "tokens_second_alone")
    figures: Figures = {name: round(figure, 3) for name, figure in zip(names, sorted(taken)[pairs // 2], strict=True)}
    return figures if quick else {**figures, "demo_seconds": round(demo(folder))}


def ours(model: Watched, dataset: Path, prompts: int) -> float:
    """Return the processor time of lm_eval until the last answer."""
    given = {"dataset": str(dataset), "bertscore_model": "none"}
    given |= {"pretrained": str(MODEL), "max_length": str(model.max_length)}
    started = time.process_time()
    simple_evaluate(
        model=model,
        tasks=["academiceval_title_10k"],
        task_manager=TaskManager(include_path=str(tasks_path()), include_defaults=False, metadata=given),
        apply_chat_template=True,
        gen_kwargs=f"max_gen_toks={WRITTEN}",
        limit=prompts,
        bootstrap_iters=0,
    )
    return model.ended - started


def alone(model: Watched) -> tuple[int, float]:
    """Count the tokens read and written, and processor time, of transformers asked the same."""
    started, tokens = time.process_time(), 0
    for asked in (model.tokenizer(prompt, return_tensors="pt", add_special_tokens=False) for prompt in model.prompts):
        tokens += model.model.generate(**asked, max_new_tokens=WRITTEN, do_sample=False).shape[1]
    return tokens, time.process_time() - started


def demo(folder: Path) -> float:
    """Return the seconds of `make demo`."""
    command("git", "clone", "-q", ROOT, folder / "clone")
    (folder / "clone" / ".venv").symlink_to(sys.prefix)
    return command("make", "-C", folder / "clone", "demo", "-o", ".venv/installed-demo").seconds


if __name__ == "__main__":
    run(measure, MODEL)
