"""Where functions run makes no difference to what comes of them; what dies on the way costs a retry or one sentence."""

from __future__ import annotations

import importlib.util
import os
import pickle
import signal
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from builder.dataset.audit import audit
from builder.extract.workers import _read_anywhere
from lm_eval_tasks.base.errors import EngineError
from lm_eval_tasks.engines import ray_driver, registry
from lm_eval_tasks.engines.ray import RayEngine
from lm_eval_tasks.engines.ray_driver import code_version
from lm_eval_tasks.engines.registry import LocalEngine, current_engine, open_engine, working_with
from lm_eval_tasks.families.rounds import read_manifest
from lm_eval_tasks.metrics.bertscore import bertscore
from lm_eval_tasks.retrieval.retrieve import Query, Retrieval, retrieve
from standins.ray_cluster import RayCluster
from standins.rounds import build, hashes, small_round
from tests.builder.test_pipeline import copy_of
from tests.helpers.served import Command


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_PATIENCE", 0.0)


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("at_once", [1, 4])
def test_results_come_in_order(impatient: None, jobs: int, at_once: int) -> None:
    with LocalEngine(jobs) as engine:
        assert list(engine.map(partial(pow, 2), range(50), at_once)) == [2**i for i in range(50)]
        assert list(engine.map(str, [])) == []


def test_items_are_taken_as_they_are_needed(impatient: None) -> None:
    taken = []

    def items() -> Iterator[int]:
        for i in range(1000):
            taken.append(i)
            yield i

    with LocalEngine(2) as engine:
        found = engine.map(abs, items())
        next(found)
        next(found)
        assert len(taken) < 20


def test_what_a_function_raises_is_passed_on(impatient: None) -> None:
    with LocalEngine(2) as engine, pytest.raises(ValueError, match="invalid literal"):
        list(engine.map(int, ["1", "2", "x", "4"]))


@pytest.mark.slow
def test_a_process_that_is_killed_is_a_named_error(impatient: None) -> None:
    with LocalEngine(2) as engine, pytest.raises(EngineError, match="fewer `--jobs`"):
        list(engine.map(signal.raise_signal, [0, 0, 0, signal.SIGKILL, *[0] * 16]))


def test_small_work_starts_no_process() -> None:
    with LocalEngine(8) as engine:
        assert list(engine.map(_process, range(5))) == [os.getpid()] * 5


def _process(_: int) -> int:
    return os.getpid()


def test_the_current_engine_is_this_process_unless_one_was_set() -> None:
    assert isinstance(current_engine(), LocalEngine)
    with open_engine("local", 2) as engine, working_with(engine):
        assert current_engine() is engine
    assert current_engine() is not engine


@pytest.mark.long
def test_jobs_make_no_difference_to_a_dataset_folder(world: Path, tmp_path: Path, impatient: None) -> None:
    with LocalEngine(3) as engine:
        build(small_round(copy_of(world, tmp_path)), engine)
        folder = tmp_path / "academiceval"
        assert hashes(folder) == hashes(world / "academiceval")
        assert audit(folder, read_manifest(folder).configurations, engine) == read_manifest(folder).audit


# --- Ray


def test_without_ray_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(EngineError, match=r'needs Ray: pip install "academiceval\[ray\]"'):
        open_engine("ray")


def test_a_worker_with_other_code_refuses() -> None:
    made = ray_driver.apply_batch(pickle.dumps(abs), pickle.dumps([1]), "academiceval 0.0.1, code 1234", ".")
    assert isinstance(err := pickle.loads(made), ray_driver.OtherCode)
    assert str(err) == f"a worker runs {code_version()}, this command academiceval 0.0.1, code 1234"


def test_a_cluster_must_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(EngineError, match="needs RAY_ADDRESS"):
        open_engine("ray")


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    pytest.importorskip("ray", reason="Ray is not installed")
    cluster = RayCluster()
    try:
        cluster.start("head")
        cluster.start("other")
        yield cluster
    finally:
        cluster.close()


@pytest.fixture
def on_ray(cluster: RayCluster) -> Iterator[RayEngine]:
    with RayEngine(cluster.address) as engine:
        yield engine


@pytest.mark.long
def test_no_cluster_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.2:9")
    monkeypatch.setattr("lm_eval_tasks.engines.ray._TO_CONNECT", 15.0)
    code, _, errors = command("extract", tmp_path / "a.pdf", "-o", tmp_path / "out.jsonl", "--engine", "ray")
    assert code == 1
    assert errors.startswith("error: cannot connect to a Ray cluster at 127.0.0.2:9 (")
    assert errors.count("\n") == 1


@pytest.mark.long
def test_a_cluster_gives_what_this_process_gives(world: Path, tmp_path: Path, on_ray: RayEngine) -> None:
    build(small_round(copy_of(world, tmp_path)), on_ray)
    assert hashes(tmp_path / "academiceval") == hashes(world / "academiceval")
    texts = [f"a text about {word} and what comes of it" for word in ("speech", "graphs", "proofs", "light")]
    questions = [Query(text, tuple(texts)) for text in texts]
    with working_with(on_ray):
        scores, chunks = (
            bertscore(texts, texts[::-1], "minilm"),
            retrieve(questions, Retrieval("minilm"), tmp_path / "ray"),
        )
    assert scores == bertscore(texts, texts[::-1], "minilm")
    assert chunks == retrieve(questions, Retrieval("minilm"), tmp_path / "here")


@pytest.mark.long
def test_a_cluster_passes_on_what_a_function_raises(
    on_ray: RayEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        list(on_ray.map(int, ["1", "x"]))
    with pytest.raises(FileNotFoundError):
        list(on_ray.map(os.stat, ["gone"]))
    # Relative paths begin where the command was given.
    (tmp_path / "here").touch()
    monkeypatch.chdir(tmp_path)
    with RayEngine(on_ray._address) as engine:
        assert next(engine.map(os.stat, ["here"])).st_size == 0


@pytest.mark.long
def test_calls_to_a_cluster_do_not_get_into_each_other(on_ray: RayEngine) -> None:
    left = on_ray.map(abs, [-5] * 8)
    next(left)
    left.close()  # type: ignore[attr-defined]
    assert list(on_ray.map(abs, range(4))) == [0, 1, 2, 3]
    assert list(zip(on_ray.map(abs, range(3)), on_ray.map(str, range(3)), strict=True)) == [
        (0, "0"),
        (1, "1"),
        (2, "2"),
    ]


@pytest.mark.long
def test_a_node_and_the_head_may_die(
    cluster: RayCluster, on_ray: RayEngine, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = sorted(map(str, (world / "work" / "sample").rglob("*.pdf")))
    reader = partial(_read_anywhere, 60.0, 2048)
    expected = [_read(reader(name)) for name in files]
    found = []
    for result in on_ray.map(reader, files):
        found.append(_read(result))
        if len(found) == 3:
            cluster.kill("other")
        if len(found) == 20:
            monkeypatch.setattr("lm_eval_tasks.engines.ray._SILENCE", 3.0)
            monkeypatch.setattr("lm_eval_tasks.engines.ray._TO_CONNECT", 10.0)
            cluster.kill("head")
            threading.Timer(30.0, cluster.start, ["head"]).start()
    assert found == expected


def _read(result: object) -> object:
    """An outcome without the time that it took."""
    from builder.extract.workers import Extracted

    assert isinstance(result, Extracted)
    return result.name, result.sha256, result.reason, result.document, result.quality
