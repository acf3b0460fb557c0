"""Judge made-up samples by the command against an instant server, and end it at random points.

5,000 samples of 200 words in both orders, 10,000 verdicts, 64 at a time. Then 20 runs over 200 samples that are asked to stop (SIGTERM)
and started again, against a server that takes 20 ms: verdicts that are missing at the end, and answers that the server gave twice.
"""

from __future__ import annotations

import json
import random
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.shared.made_up import text, vocabulary
from benchmarks.shared.running import ACADEMICEVAL, Figures, command, interrupt, run
from standins.openai_server import FIRST_WINS, Server, serve
from standins.runs import abstract_of

CONCURRENCY = 64
DELAY = 0.02


def measure(folder: Path, quick: bool) -> Figures:
    """Measure both."""
    samples, kills = (250, 2) if quick else (5000, 20)
    return {**speed(folder, samples), **ended(folder, 40 if quick else 200, kills)}


def speed(folder: Path, samples: int) -> Figures:
    """Return the seconds and memory of judging so many samples."""
    make_samples(folder / "speed", samples)
    with serve(lambda _: FIRST_WINS) as server:
        used = command(*line(server, folder / "speed", folder / "judged"))
    return {"verdicts": 2 * samples, "seconds": round(used.seconds, 1), "peak_mb": round(used.peak_mb, 1)}


def ended(folder: Path, samples: int, kills: int) -> Figures:
    """Ask judges to stop at random points, then let them finish."""

    def answer(_: dict[str, Any]) -> str:
        time.sleep(DELAY)
        return FIRST_WINS

    make_samples(folder / "kills", samples)
    with serve(answer) as server:
        seconds = command(*line(server, folder / "kills", folder / "calm")).seconds
    rng = random.Random(4)
    lost = twice = 0
    for i in range(kills):
        with serve(answer) as server:
            interrupt(
                line(server, folder / "kills", folder / f"out-{i}"), rng.uniform(0.5, 1.0) * seconds, signal.SIGTERM
            )
        [journal] = (folder / f"out-{i}").glob("verdicts_*.jsonl")
        lost += 2 * samples - len({json.loads(verdict)["key"] for verdict in journal.read_text().splitlines()})
        asked = Counter(json.dumps(body) for body in server.requests)
        twice += asked.total() - len(asked)
    print(f"{kills} ended and started again: {lost} verdicts lost, {twice} answers paid for twice")
    return {"kills": kills, "lost": lost, "paid_twice": twice}


def line(server: Server, samples: Path, output: Path) -> tuple[object, ...]:
    """Return the command of a judge."""
    asked = ("--model", "judge", "--base-url", server.url, "--concurrency", CONCURRENCY, "--output", output)
    return (*ACADEMICEVAL, "judge", samples, *asked)


def make_samples(folder: Path, count: int) -> None:
    """Make logged samples whose texts have 200 words."""
    rng = random.Random(count)
    words = vocabulary(rng, 3000)
    folder.mkdir()
    with (folder / "samples_academiceval_abs_9k_model.jsonl").open("w") as file:
        for i in range(count):
            doc = abstract_of(i, text(rng, words, 200))
            scored = json.dumps({"answer": text(rng, words, 200), "scores": {}})
            file.write(json.dumps({"doc": doc, "filtered_resps": [scored]}) + "\n")


if __name__ == "__main__":
    run(measure)
