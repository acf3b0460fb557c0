"""Every fault at every step of every command that writes; prints a table, and with --write puts it into benchmarks/faults.md.

python -m tests.faults [--only COMMAND,...] [--jobs N] [--write]
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.faults.cases import CASES
from tests.faults.harness import Bench
from tests.helpers.warm import warm

PAGE = Path(__file__).resolve().parents[2] / "benchmarks" / "faults.md"
OUTCOMES = ("undisturbed", "one sentence", "killed")


def tried(name: str) -> tuple[str, int, Counter[str], list[str]]:
    """All faults of one command: steps, outcomes, and what went wrong."""
    os.environ |= {"HF_HUB_OFFLINE": "1", "TQDM_DISABLE": "1"}
    case = next(case for case in CASES if case.name == name)
    outcomes: Counter[str] = Counter()
    wrong: list[str] = []
    with warm() as interpreter, tempfile.TemporaryDirectory() as place:
        bench = Bench(case, Path(place) / name, interpreter)
        for fault in bench.faults():
            try:
                outcomes[bench.outcome(fault)] += 1
            except AssertionError as err:
                wrong.append(f"{name}, {err}")
    return name, len(bench.steps) + bench.answers, outcomes, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(case.name for case in CASES))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    rows, failed, total = [], [], Counter[str]()
    with ProcessPoolExecutor(arguments.jobs) as processes:
        for name, steps, outcomes, wrong in processes.map(tried, arguments.only.split(",")):
            counts = " | ".join(str(outcomes[one]) for one in OUTCOMES)
            rows.append(f"| `{name}` | {steps} | {outcomes.total() + len(wrong)} | {counts} | {len(wrong)} |")
            print(rows[-1], *wrong, sep="\n", flush=True)  # noqa: T201
            total.update(outcomes)
            failed += wrong
    head = f"| command | steps | faults | {' | '.join(OUTCOMES)} | wrong |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
    if arguments.write:
        text = PAGE.read_text().partition("\n| command ")[0]
        PAGE.write_text(f"{text}\n{head}" + "\n".join(rows) + "\n")
    print(json.dumps({"faults": total.total() + len(failed), "wrong": len(failed), **total}))  # noqa: T201
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
