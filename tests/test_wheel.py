"""What pip installs: every file that the packages read; and that what the README promises evaluators works with nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

import pytest

from standins.places import BIN
from tests.helpers.pages import ROOT


@pytest.mark.slow
def test_every_file_of_the_packages_is_installed() -> None:
    given = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    packages = ("builder", "lm_eval_tasks", "hub_scripts")
    files = [path for name in packages for path in (ROOT / name).rglob("*") if path.is_file()]
    others = [path.relative_to(ROOT) for path in files if path.suffix not in (".py", ".pyc")]
    assert len(others) > 50
    assert [str(path) for path in others if not _is_installed(PurePosixPath(path), given)] == []


def _is_installed(path: PurePosixPath, patterns: dict[str, list[str]]) -> bool:
    """Whether a pattern of a package that holds the file matches it; a `*` matches no `/`."""
    for package in path.parents:
        if (ROOT / package / "__init__.py").is_file():
            name, inner = ".".join(package.parts), path.relative_to(package)
            own = [*patterns["*"], *patterns.get(name, [])]
            return any(len(inner.parts) == one.count("/") + 1 and fnmatch(str(inner), one) for one in own)
    return False


def _run(*line: object, place: Path, code: int = 0, **variables: str) -> str:
    done = subprocess.run(
        list(map(str, line)), cwd=place, capture_output=True, text=True, check=False, env={**os.environ, **variables}
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("dist")
    _run(BIN / "uv", "build", "-q", "--out-dir", place, ROOT, place=place)
    _run(sys.executable, "-m", "twine", "check", "--strict", *place.glob("academiceval*"), place=place)
    [found] = place.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a bare environment with what the README tells evaluators to install."""
    place = tmp_path_factory.mktemp("bare")
    _run(sys.executable, "-m", "venv", place / "venv", place=place)
    programs = place / "venv" / "bin"
    # As the Makefile does: torch by pip, which finds its build for processors.
    constraints = ("-c", ROOT / "constraints.txt")
    _run(programs / "python", "-m", "pip", "install", "-q", *constraints, "torch", place=place)
    install = (BIN / "uv", "pip", "install", "-q", "--python", programs / "python", *constraints)
    _run(*install, f"academiceval[offline,report] @ {wheel.as_uri()}", place=place)
    return programs


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_an_evaluators_door(environment: Path, dataset: Path, tmp_path: Path) -> None:
    here = {"HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1", "PYTHONPATH": "", "PYTHONSAFEPATH": "1"}
    (tmp_path / "academiceval").symlink_to(dataset)

    def typed(line: str, code: int = 0) -> str:
        name, *rest = line.split()
        return _run(environment / name, *rest, place=tmp_path, code=code, **here)

    load = 'from datasets import load_dataset; print(len(load_dataset("academiceval", "Intro-28K-G")["test"]))'
    assert int(_run(environment / "python", "-c", load, place=tmp_path, **here).split()[-1]) > 0
    printed = typed(
        "academiceval eval --model lead --tasks academiceval_abs_9k --bertscore minilm --output results/lead-9k"
    )
    assert "academiceval_abs_9k" in printed
    assert "| Run | lead |" in typed("academiceval show results/lead-9k")
    typed(
        "academiceval eval --model random-sentence --tasks academiceval_abs_9k --bertscore minilm --output results/other"
    )
    assert "Detectable" in typed("academiceval compare results/lead-9k results/other --all-columns")
    typed("academiceval report results academiceval -o site")
    assert (tmp_path / "site" / "index.html").is_file()
    typed("academiceval link-tasks")
    metadata = '{"bertscore_model":"none"}'
    printed = typed(f"lm_eval --tasks academiceval_abs --model dummy --limit 2 --metadata {metadata}")
    assert "rouge_l_content" in printed
    # What it lacks, it names.
    (tmp_path / "round.toml").write_text('round = "2026.11"\n[source]\nkind = "sample"\n')
    assert "academiceval[builder]" in typed("academiceval run round.toml", code=1)
