"""`academiceval eval` against plain lm_eval on the same server and requests: time from the first request to the last answer.

The server answers after a random time, up to 32 requests at once. Both sides take turns, three times; what counts is the median ratio.
"""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path
from statistics import median
from typing import Any

from lm_eval.evaluator import simple_evaluate
from lm_eval.tasks import TaskManager

from benchmarks.shared.running import Figures, run
from lm_eval_tasks.engines.registry import LocalEngine
from lm_eval_tasks.evaluate.generation import Generation
from lm_eval_tasks.evaluate.run import evaluate
from lm_eval_tasks.evaluate.run_plan import RunPlan
from lm_eval_tasks.tasks.catalogue import tasks_path
from standins import rounds
from standins.openai_server import serve
from standins.rounds import small_round

TASKS = ["academiceval_title", "academiceval_abs"]
CONCURRENT = 32
TURNS = 3


class Clock:
    """When the first request of a run came and when the last answer went."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.restart()

    def restart(self) -> None:
        self._first, self._last, self.answers = 0.0, 0.0, 0
        self._random = random.Random(1)

    def answer(self, body: dict[str, Any]) -> str:
        with self._lock:
            self._first = self._first or time.perf_counter()
            pause = min(2.0, self._random.lognormvariate(-2.0, 0.8))
        time.sleep(pause)
        with self._lock:
            self._last = time.perf_counter()
            self.answers += 1
        return "A title"

    @property
    def seconds(self) -> float:
        return self._last - self._first


def measure(folder: Path, quick: bool) -> Figures:
    """Return the seconds of both sides and their ratio."""
    papers, authors, turns = (60, 20, 1) if quick else (500, 160, TURNS)
    source = {"kind": "sample", "authors": authors, "papers": papers}
    round_ = small_round(folder, source=source, split={"validation": 0.1, "test": 0.5})
    rounds.run(round_, LocalEngine())
    metadata = {"dataset": str(round_.output), "bertscore_model": "none"}
    clock = Clock()
    taken: dict[str, list[float]] = {"plain": [], "ours": []}
    with serve(clock.answer) as server:
        given = f"model=made-up,base_url={server.url}/chat/completions,num_concurrent={CONCURRENT}"
        for turn in range(turns):
            for side, seconds in taken.items():
                clock.restart()
                plan = RunPlan.of(
                    model="local-chat-completions",
                    model_args=given,
                    tasks=TASKS,
                    metadata=metadata,
                    output=folder / f"{turn}",
                    generation=Generation(apply_chat_template=True),
                )
                ask(side, plan)
                seconds.append(clock.seconds)
                print(f"{side}: {clock.answers} answers in {clock.seconds:.2f} s", flush=True)
    ratios = [ours / plain for ours, plain in zip(taken["ours"], taken["plain"], strict=True)]
    return {"answers": clock.answers, "ratio": round(median(ratios), 3)}


def ask(side: str, plan: RunPlan) -> None:
    """Do what a command does: `academiceval eval` for the side "ours", else `lm_eval`, which keeps no output."""
    if side == "ours":
        evaluate(plan)
        return
    generation = plan.generation
    tasks = TaskManager(include_path=str(tasks_path()), include_defaults=False, metadata=plan.metadata)
    simple_evaluate(
        model=plan.model,
        model_args=dict(plan.model_args),
        batch_size=generation.batch_size,
        tasks=list(plan.tasks),
        task_manager=tasks,
        metadata=plan.metadata,
        apply_chat_template=generation.apply_chat_template,
        gen_kwargs=generation.gen_kwargs or None,
        bootstrap_iters=0,
    )


if __name__ == "__main__":
    run(measure)
