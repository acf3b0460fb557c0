"""A Hub on this machine, and two rounds that are pushed to it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from lm_eval_tasks.engines.registry import LocalEngine
from standins.hub_server import Hub, hub_settings, serve
from standins.rounds import run, small_round
from tests.helpers.served import Command


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
def states() -> dict[str, Any]:
    """What tests begin with -> what the Hub then holds, or a folder, once a test of this process has begun with it."""
    return {}


@pytest.fixture(scope="session")
def two_rounds(world: Path, shared_tmp: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The dataset folders of two rounds with two settings each, of this process alone."""
    return _rounds("two-rounds", world, shared_tmp, tmp_path_factory)


@pytest.fixture(scope="session")
def cloze_rounds(world: Path, shared_tmp: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The same with two levels of SCALAR."""
    scalar = {"levels": ["SCALAR-Easy", "SCALAR-Medium"], "questions": 12}
    return _rounds("cloze-rounds", world, shared_tmp, tmp_path_factory, scalar=scalar)


def _rounds(
    name: str, world: Path, shared_tmp: Path, tmp_path_factory: pytest.TempPathFactory, **changes: object
) -> tuple[Path, Path]:
    own = []
    with FileLock(shared_tmp / f"{name}.lock"):
        for seed, round_ in enumerate(("2026.11", "2026.12")):
            place = shared_tmp / name / round_
            if not (place / "academiceval" / "manifest.json").is_file():
                shutil.copytree(world / "work", place / "work")
                settings = ("Abs-9K", "Intro-28K-G")
                run(small_round(place, round=round_, settings=settings, seed=seed, **changes), LocalEngine(2))
            own.append(tmp_path_factory.mktemp(round_) / "academiceval")
            shutil.copytree(place / "academiceval", own[-1])
    return own[0], own[1]


@pytest.fixture
def first(states: dict[str, Any], command: Command, hub: Hub, two_rounds: tuple[Path, Path]) -> None:
    """The Hub holds the first round."""
    _push("first", two_rounds[0], states, command, hub)


@pytest.fixture
def both(first: None, states: dict[str, Any], command: Command, hub: Hub, two_rounds: tuple[Path, Path]) -> None:
    """The Hub holds both rounds."""
    _push("both", two_rounds[1], states, command, hub)


def _push(name: str, folder: Path, states: dict[str, Any], command: Command, hub: Hub) -> None:
    """Push a round, or let the Hub hold again what it held when that was done before."""
    if name not in states:
        code, out, err = command("push", folder, "--repo", "org/academiceval", "--yes")
        assert (code, err) == (0, "")
        assert "verified" in out
        states[name] = hub.save()
    hub.load(states[name])
