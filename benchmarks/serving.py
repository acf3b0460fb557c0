"""`academiceval eval` against plain lm_eval on the same server and requests: time from the first request to the last answer.

  python benchmarks/serving.py [--quick]

The server answers after a random time, up to 32 requests at once. Both sides take turns, three times; what counts is the median ratio.
Besides: what batches of 64 with a wait after each, as earlier releases had them, would take. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ["OPENAI_API_KEY"] = "none"
os.environ["HF_HUB_OFFLINE"] = "1"

from lm_eval.evaluator import simple_evaluate  # noqa: E402
from lm_eval.tasks import TaskManager  # noqa: E402

from builder.pipeline import run  # noqa: E402
from builder.round.model import Round  # noqa: E402
from lm_eval_tasks.engines.local import LocalEngine  # noqa: E402
from lm_eval_tasks.evaluate import answers  # noqa: E402
from lm_eval_tasks.evaluate.generation import Generation  # noqa: E402
from lm_eval_tasks.evaluate.run import Part, evaluate  # noqa: E402
from lm_eval_tasks.tasks.folder import tasks_path  # noqa: E402
from tests.helpers.openai_server import serve  # noqa: E402

CHAT = "local-chat-completions"
TASKS = ["academiceval_title", "academiceval_abs"]
CONCURRENT = 32
BARRIER = 64
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


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        papers, authors = (120, 40) if quick else (500, 160)
        round_ = Round.model_validate(
            {
                "round": "2026.11",
                "seed": 7,
                "workspace": folder / "work",
                "output": folder / "academiceval",
                "source": {"kind": "sample", "authors": authors, "papers": papers},
                "split": {"validation": 0.1, "test": 0.5},
            }
        )
        run(round_, LocalEngine())
        print(json.dumps(measure(folder, round_.output)))


def measure(folder: Path, dataset: Path) -> dict[str, Any]:
    """Seconds of both sides and their ratio."""
    clock = Clock()
    taken: dict[str, list[float]] = {"plain": [], "ours": [], "barrier": []}
    with serve(clock.answer) as server:
        given = f"model=made-up,base_url={server.url}/chat/completions,num_concurrent={CONCURRENT}"
        metadata = {"dataset": str(dataset), "bertscore_model": "none"}
        sides: dict[str, Callable[[int], Any]] = {
            "plain": lambda turn: plain(CHAT, given, TASKS, metadata),
            "ours": lambda turn: ours(CHAT, given, TASKS, metadata, folder / f"ours{turn}"),
            "barrier": lambda turn: with_barrier(given, metadata, folder / f"barrier{turn}"),
        }
        for turn in range(TURNS):
            for name, side in sides.items():
                clock.restart()
                side(turn)
                taken[name].append(clock.seconds)
                print(f"{name}: {clock.answers} answers in {clock.seconds:.2f} s", flush=True)
    pairs = zip(taken["ours"], taken["plain"], strict=True)
    return {
        "answers": clock.answers,
        "ratio": round(median(a / b for a, b in pairs), 3),
        "barrier_ratio": round(median(taken["barrier"]) / median(taken["plain"]), 3),
    }


def plain(
    model: str, given: str, tasks: Sequence[str], metadata: dict[str, Any], gen_kwargs: str = "", batch_size: str = "1"
) -> None:
    """What the command lm_eval does."""
    manager = TaskManager(include_path=str(tasks_path()), include_defaults=False, metadata=metadata)
    simple_evaluate(
        model=model,
        model_args=given,
        batch_size=batch_size,
        tasks=list(tasks),
        task_manager=manager,
        metadata=metadata,
        apply_chat_template=True,
        gen_kwargs=gen_kwargs or None,
        bootstrap_iters=0,
    )


def ours(
    model: str,
    given: str,
    tasks: Sequence[str],
    metadata: dict[str, Any],
    output: Path,
    gen_kwargs: str = "",
    batch_size: str = "1",
) -> None:
    """What `academiceval eval` does."""
    generation = Generation(batch_size, apply_chat_template=True, gen_kwargs=gen_kwargs)
    evaluate(model, given, tasks, metadata, Part(), output, generation)


def with_barrier(given: str, metadata: dict[str, Any], output: Path) -> None:
    """The same with a wait after every 64 requests."""
    whole = answers.AnsweringLM._affordable
    answers.AnsweringLM._affordable = lambda self, questions: questions[:BARRIER]  # type: ignore[method-assign]
    try:
        ours(CHAT, given, TASKS, metadata, output)
    finally:
        answers.AnsweringLM._affordable = whole  # type: ignore[method-assign]


if __name__ == "__main__":
    main()
