"""The page of figures shows what was measured."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from benchmarks import __main__ as bench
from benchmarks.shared import changes, running
from benchmarks.shared.running import offline

ROOT = Path(__file__).resolve().parents[1]


def test_the_page_shows_what_was_measured() -> None:
    pages = bench.page(bench.measured()), bench.PAGE.read_text(encoding="utf-8")
    # Every change of code makes figures older; the page says so when it is next written.
    first, second = (text.replace(bench.OLDER, "") for text in pages)
    assert first == second, "`python -m benchmarks --render` writes it"


def test_a_figure_knows_its_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*line: str) -> str:
        named = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        return subprocess.run(["git", *named, *line], cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    for module in (bench, changes, running):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(bench, "code", lambda: {"one": ["measured"]})
    for folder in ("measured", "other"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "code.py").write_text("1\n")
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "one")
    run = {"commit": bench.commit()}
    assert not bench.is_older("one", run)
    (tmp_path / "other" / "code.py").write_text("2\n")
    assert not bench.is_older("one", run) and bench.differs("HEAD", ["*.py"])
    (tmp_path / "measured" / "code.py").write_text('"""What it is about."""\n\n1  # why\n')
    assert not bench.is_older("one", run)
    (tmp_path / "measured" / "code.py").write_text("2\n")
    assert bench.is_older("one", run)
    assert bench.is_older("one", {"commit": "0123abc"}) and bench.is_older("one", {"commit": run["commit"] + "-dirty"})


@pytest.mark.parametrize("name", bench.figures())
def test_every_figure_has_a_benchmark_that_measures_it(name: str) -> None:
    assert (ROOT / "benchmarks" / f"{name}.py").is_file()
    assert all((ROOT / path).exists() for path in bench.code()[name])
    run = bench.measured().get(name)
    if run is not None:
        # Of a benchmark with parts, as long as some were not measured `check` refuses a release.
        assert bench.is_whole(name, run) or (name == "likelihood" and set(bench.figures()[name]) & set(run["figures"]))
        assert run["machine"] and run["commit"] and run["versions"]


def test_every_benchmark_has_figures() -> None:
    scripts = {path.stem for path in (ROOT / "benchmarks").glob("*.py")} - {"__init__", "__main__"}
    assert scripts == set(bench.figures())


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", sorted(bench.figures().keys() - {"gpu", "engine", "real_model", "figures"}))
def test_a_benchmark_runs_at_small_sizes(name: str) -> None:
    command = [sys.executable, "-m", f"benchmarks.{name}", "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=offline())
    if "is not there" in done.stderr:
        pytest.skip(f"the data of {name} are not here")
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout.splitlines()[-1])


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
