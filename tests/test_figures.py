"""The page of figures shows what was measured."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from benchmarks import __main__ as bench

ROOT = Path(__file__).resolve().parents[1]


def test_the_page_shows_what_was_measured() -> None:
    text = bench.page(bench.measured())
    assert bench.PAGE.read_text(encoding="utf-8") == text, "`python -m benchmarks --render` writes it"


@pytest.mark.parametrize("name", bench.figures())
def test_every_figure_has_a_benchmark_that_measures_it(name: str) -> None:
    assert (ROOT / "benchmarks" / f"{name}.py").is_file()
    run = bench.measured().get(name)
    if run is not None:
        assert set(bench.figures()[name]) <= set(run["figures"])
        assert run["machine"] and run["commit"] and run["versions"]


def test_every_benchmark_has_figures() -> None:
    scripts = {path.stem for path in (ROOT / "benchmarks").glob("*.py")} - {"__init__", "__main__"}
    assert scripts == set(bench.figures())


@pytest.mark.long
def test_the_gpu_benchmark_runs_at_toy_sizes() -> None:
    assert _gpu("--cpu")["retrieval_chunks_per_second"] > 0


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
@pytest.mark.timeout(1800)
def test_a_gpu_is_used() -> None:
    found = _gpu("--quick")
    assert found["device"] != "cpu"
    assert found["bertscore_pairs_per_second"] > 0


def _gpu(*arguments: str) -> dict[str, float]:
    command = [sys.executable, str(ROOT / "benchmarks" / "gpu.py"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return dict(json.loads(done.stdout.splitlines()[-1]))
