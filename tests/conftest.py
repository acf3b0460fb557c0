"""Shared fixtures: a small made-up world, a round built over it, and the real papers where they are."""

from __future__ import annotations

import os

# No test may leave this machine, and none may wait for a name that cannot be resolved.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TQDM_DISABLE"] = "1"
# Two test processes share the processors already.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from lm_eval_tasks.base.files import sha256_of
from standins.places import DATA
from tests.helpers.here import one_process, save_time
from tests.helpers.warm import Warm
from tests.helpers.warm import warm as warm_interpreter

save_time()
# (name, what builds it in a folder) -> the folder.
Kept = Callable[[str, Callable[[Path], object]], Path]
_ROOT = Path(__file__).resolve().parents[1]
_PACKAGES = ("builder", "lm_eval_tasks", "hub_scripts")
_SOURCES = "sources.json"  # what the folder was built by: path -> SHA-256


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs the real papers where they are not, saying so."""
    skip = pytest.mark.skip(reason=f"the real papers are not here ({DATA})")
    for item in items:
        if item.get_closest_marker("data") and not DATA.is_dir():
            item.add_marker(skip)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Caches for each test process, so that no earlier run can answer."""
    datasets_cache = tmp_path_factory.getbasetemp() / "datasets-cache"
    # Read when `datasets` is imported, which a test that does not need it need not wait for.
    monkeypatch.setenv("HF_DATASETS_CACHE", str(datasets_cache))
    if "datasets" in sys.modules:
        monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", datasets_cache)
    monkeypatch.delenv("ACADEMICEVAL_DATASET", raising=False)
    monkeypatch.setenv("ACADEMICEVAL_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
    yield


@pytest.fixture(autouse=True, scope="session")
def _one_process() -> Iterator[None]:
    with one_process():
        yield


@pytest.fixture(scope="session")
def shared_tmp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this test run share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base


@pytest.fixture(scope="session")
def kept(shared_tmp: Path, pytestconfig: pytest.Config) -> Kept:
    """A folder that is built once for all processes of this test run, and kept for the next while its sources are the same."""

    def folder(name: str, build: Callable[[Path], object]) -> Path:
        place = shared_tmp / name
        with FileLock(shared_tmp / f"{name}.lock"):
            if not place.is_dir():
                _copy_kept(pytestconfig.cache.mkdir("academiceval") / name, place, build)
        return place

    return folder


def _copy_kept(kept: Path, place: Path, build: Callable[[Path], object]) -> None:
    """Copy a kept folder to `place`; build it first if it is missing, unfinished, or of other sources."""
    with FileLock(kept.with_name(f"{kept.name}.lock")):
        if not _is_current(kept):
            shutil.rmtree(kept, ignore_errors=True)
            build(kept)
            (kept / _SOURCES).write_text(json.dumps({str(path): sha256_of(path) for path in sorted(set(_sources()))}))
        shutil.copytree(kept, place, ignore=shutil.ignore_patterns(_SOURCES))


def _is_current(kept: Path) -> bool:
    try:
        sources = json.loads((kept / _SOURCES).read_bytes())
        return all(sha256_of(Path(path)) == sha256 for path, sha256 in sources.items())
    except (OSError, ValueError):
        return False


def _sources() -> Iterator[Path]:
    """The project's modules that this process has imported, and every file of the packages that is not a module."""
    for module in list(sys.modules.values()):
        path = Path(getattr(module, "__file__", None) or "/")
        if path.is_relative_to(_ROOT) and path.relative_to(_ROOT).parts[0] in _PACKAGES:
            yield path
    for package in _PACKAGES:
        for path in (_ROOT / package).rglob("*"):
            if path.is_file() and path.suffix not in (".py", ".pyc"):
                yield path
    for folder in ("standins", "tests/helpers"):
        yield from (_ROOT / folder).glob("*.py")
    yield from (_ROOT / "pyproject.toml", _ROOT / "constraints.txt", _ROOT / "tests" / "conftest.py")


@pytest.fixture(scope="session")
def world(kept: Kept) -> Path:
    """A workspace whose world is drawn and extracted; copy it, do not write to it."""
    return kept("small-world", _build_world)


def _build_world(place: Path) -> None:
    from lm_eval_tasks.engines.registry import LocalEngine
    from standins.rounds import run, small_round

    run(small_round(place), LocalEngine(2))


@pytest.fixture(scope="session")
def dataset(world: Path) -> Path:
    """A finished dataset folder with all sixteen settings."""
    return world / "academiceval"


@pytest.fixture(scope="session")
def recalled(kept: Kept) -> Path:
    """A finished dataset folder with recall at 4K and 8K."""
    from tests.helpers.recall import recall_round

    return kept("recalled", lambda place: recall_round(place, ["4K", "8K"])) / "academiceval"


@pytest.fixture(scope="session")
def warm() -> Iterator[Warm]:
    """Commands in processes of their own, forked from one interpreter that has imported everything."""
    with warm_interpreter() as interpreter:
        yield interpreter


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run `academiceval ARGUMENTS...` in this process: (exit code, output, errors)."""
    from builder.cli import main

    def call(*arguments: object) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call
