"""Measure every figure that the documentation promises, and write them into results.md.

  python -m benchmarks [--only NAME,...] [--quick] [--render] [--check]

Each benchmark runs in a separate process, one after another; its last line of JSON goes into results.json with the machine, the
versions and the commit. From that comes results.md. `--quick` runs the small sizes and writes nothing; `--render` measures
nothing. A figure whose code has changed since is marked on the page; `--check` fails while there is one. While code differs from its
commit, nothing but `--quick` is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from benchmarks.shared.changes import code_differs
from benchmarks.shared.running import ROOT, commit, offline
from lm_eval_tasks.base.files import toml_beside
from standins.real_model import is_there

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.json"
PAGE = HERE / "results.md"
# Of a table in figures.toml; what the page says of a figure whose code has changed.
_CODE, OLDER = "measures", " (**older than the code**)"
VERSIONS = ("datasets", "lm_eval", "numpy", "pyarrow", "pymupdf", "ray", "tokenizers", "torch", "transformers")


def main() -> None:
    """Run the benchmarks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="comma-separated names")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--render", action="store_true", help="only write the tables again")
    parser.add_argument(
        "--check", action="store_true", help="fail if a figure is older than its code, or missing and can be measured"
    )
    arguments = parser.parse_args()
    if arguments.check:
        check(parser)
        return
    if not (arguments.quick or arguments.render) and differs("HEAD", ["*.py"]):
        parser.exit(
            1, "error: code differs from its commit, so nobody could say what is measured; commit it, or give --quick\n"
        )
    names = arguments.only.split(",") if arguments.only else [] if arguments.render else list(figures())
    absent = without_means()
    for name in [name for name in names if not arguments.only and name in absent]:
        print(f"{name} is skipped: what it measures is not here")
        names.remove(name)
    if unknown := set(names) - set(figures()):
        parser.exit(1, f"error: no benchmark {unknown.pop()!r}: choose among {', '.join(figures())}\n")
    failed = [name for name in names if not measure(name, quick=arguments.quick)]
    if not arguments.quick:
        PAGE.write_text(page(measured()), encoding="utf-8")
    if failed:
        parser.exit(1, f"error: no figures of {', '.join(failed)}\n")


def without_means() -> frozenset[str]:
    """Return the benchmarks for which this machine lacks something."""
    there = {
        "gpu": torch.cuda.is_available(),
        "engine": find_spec("vllm") is not None,
        "models": "ACADEMICEVAL_WEIGHTS" in os.environ,
        "real_model": is_there(),
    }
    return frozenset(name for name, is_here in there.items() if not is_here)


def check(parser: argparse.ArgumentParser) -> None:
    """End with 1 and one sentence if a published figure is older than the code that it measures, or one is missing that this machine can
    measure.
    """
    found = measured()
    measurable = figures().keys() - without_means()
    old = {name for name, run in found.items() if name in figures() and is_older(name, run)}
    missing = {name for name in measurable if name not in found or not is_whole(name, found[name])}
    stale = [name for name in figures() if name in missing | old]
    if stale:
        parser.exit(
            1,
            f"error: older than the code, or not measured: {', '.join(stale)}; run `make bench ONLY={','.join(stale)}`\n",
        )


def figures() -> dict[str, dict[str, tuple[str, str]]]:
    """Benchmark -> figure -> what it is and what it is compared with."""
    return {
        name: {key: (row[0], row[1]) for key, row in rows.items() if key != _CODE} for name, rows in _tables().items()
    }


def code() -> dict[str, list[str]]:
    """Benchmark -> the files and folders that it measures."""
    return {name: rows[_CODE] for name, rows in _tables().items()}


@cache
def _tables() -> dict[str, Any]:
    return toml_beside(__file__, "figures.toml")


def is_whole(name: str, run: dict[str, Any]) -> bool:
    """Tell whether a run has all figures of a benchmark, of which some have parts that are measured one by one."""
    return set(figures()[name]) <= set(run["figures"])


def is_older(name: str, run: dict[str, Any]) -> bool:
    """Tell whether the code that a benchmark measures has changed since its run, or nobody can say what it was."""
    return "-dirty" in run["commit"] or code_differs(run["commit"], code()[name])


def differs(commit: str, paths: list[str]) -> bool:
    """Tell whether paths differ from a commit."""
    line = ["git", "diff", "--quiet", commit, "--", *paths]
    return bool(subprocess.run(line, cwd=ROOT, check=False, stderr=subprocess.DEVNULL).returncode)


def measured() -> dict[str, dict[str, Any]]:
    """Benchmark -> its figures, and where and when they were measured."""
    return dict(json.loads(RESULTS.read_text(encoding="utf-8"))) if RESULTS.is_file() else {}


def measure(name: str, *, quick: bool) -> bool:
    """Run one benchmark and keep its figures; False if it failed."""
    print(f"== {name}", flush=True)
    command = [sys.executable, "-m", f"benchmarks.{name}", *(["--quick"] if quick else [])]
    started = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=offline())
    print(done.stdout, end="", flush=True)
    if done.returncode:
        return False
    found = {
        "figures": json.loads(done.stdout.splitlines()[-1]),
        "minutes": round((time.perf_counter() - started) / 60, 1),
        "machine": machine(),
        "commit": commit(),
        "versions": {one: version(one) for one in VERSIONS},
    }
    if not quick:
        RESULTS.write_text(json.dumps({**measured(), name: found}, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return True


def machine() -> str:
    """Return processor, number of cores, memory."""
    cpu = next((line for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line), ": unknown")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{cpu.partition(':')[2].strip()}, {os.cpu_count()} cores, {memory:.0f} GB, Python {platform.python_version()}"
    )


# --- what is written


def page(found: dict[str, dict[str, Any]]) -> str:
    """Render results.md."""
    parts = [
        "# What was measured\n\nWritten by `make bench`; each figure is of one run. A ratio compares two things of the same run;\n"
        "seconds depend on the machine and on what else it was doing.",
    ]
    for name in figures():
        title = f"## {name}\n\n`python -m benchmarks --only {name}`"
        if (run := found.get(name)) is None:
            parts.append(f"{title}: not measured yet.")
            continue
        versions = ", ".join(f"{one} {number}" for one, number in sorted(run["versions"].items()))
        of = f"{run['commit']}{OLDER if is_older(name, run) else ''}"
        parts.append(
            f"{title}: {run['minutes']} minutes, commit {of}; {run['machine']}; {versions}\n\n{table(name, found)}"
        )
    return "\n\n".join(parts) + "\n"


def table(name: str, found: dict[str, dict[str, Any]]) -> str:
    """Return the figures of one benchmark."""
    values = found.get(name, {}).get("figures", {})
    rows = [f"| {what} | {shown(values.get(key))} | {against} |" for key, (what, against) in figures()[name].items()]
    return "\n".join(["| what | measured | compared with |", "| --- | ---: | --- |", *rows])


def shown(value: object) -> str:
    """Return a figure as it is printed."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name.replace('_', ' ')} {shown(part)}" for name, part in value.items())
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


if __name__ == "__main__":
    main()
