"""A Hub on this machine, and two rounds to push."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from builder.pipeline import run
from lm_eval_tasks.engines.local import LocalEngine
from tests.helpers.hub_server import Hub, hub_settings, serve
from tests.helpers.rounds import small_round


@pytest.fixture(scope="session")
def hub_server() -> Iterator[Hub]:
    with serve() as serving:
        yield serving


@pytest.fixture
def hub(hub_server: Hub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Hub:
    """An empty Hub on this machine that the clients in this process take for the real one."""
    hub_server.reset()
    for target, value in hub_settings(hub_server.url, tmp_path / "hf").items():
        monkeypatch.setattr(target, value)
    monkeypatch.setenv("HF_TOKEN", "hf_write")
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    return hub_server


@pytest.fixture(scope="session")
def two_rounds(world: Path, shared_tmp: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The dataset folders of two rounds with two settings each, of this process alone."""
    own = []
    with FileLock(shared_tmp / "two-rounds.lock"):
        for seed, name in enumerate(("2026.11", "2026.12")):
            place = shared_tmp / "two-rounds" / name
            if not (place / "academiceval" / "manifest.json").is_file():
                shutil.copytree(world / "work", place / "work")
                run(small_round(place, round=name, settings=("Abs-9K", "Intro-28K-G"), seed=seed), LocalEngine(2))
            own.append(tmp_path_factory.mktemp(name) / "academiceval")
            shutil.copytree(place / "academiceval", own[-1])
    return own[0], own[1]
