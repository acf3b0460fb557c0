"""Why an engine did not start, as its processes log it; a made-up package stands in for vLLM."""

from __future__ import annotations

import json
import logging
import logging.config
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from lm_eval_tasks.base.errors import ModelError
from lm_eval_tasks.compat.vllm import errors_kept
from lm_eval_tasks.evaluate import models
from lm_eval_tasks.evaluate.generation import Generation

CONFIGURED = "VLLM_LOGGING_CONFIG_PATH"
CONFIG = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"vllm": {"class": "logging.StreamHandler", "stream": "ext://sys.stdout"}},
    "loggers": {"vllm": {"handlers": ["vllm"], "level": "INFO", "propagate": False}},
}
# As vLLM's engine does in a process of its own.
ENGINE = """
import json, logging.config, os, sys
from pathlib import Path
logging.config.dictConfig(json.loads(Path(os.environ["VLLM_LOGGING_CONFIG_PATH"]).read_text()))
log = logging.getLogger("vllm.v1.engine.core")
log.info("Reading weights")
try:
    raise ValueError(sys.argv[1])
except ValueError:
    log.exception("EngineCore failed to start.")
log.error("Exception: WorkerProc initialization failed due to an exception. See stack trace for root cause.")
"""
NO_ROOM = "No available memory for the cache blocks."


@pytest.fixture
def vllm(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    package, logger = ModuleType("vllm"), ModuleType("vllm.logger")
    vars(logger)["DEFAULT_LOGGING_CONFIG"] = CONFIG
    vars(package)["logger"] = logger
    monkeypatch.setitem(sys.modules, "vllm", package)
    monkeypatch.setitem(sys.modules, "vllm.logger", logger)
    monkeypatch.delenv(CONFIGURED, raising=False)
    yield
    log = logging.getLogger("vllm")
    log.handlers, log.propagate = [], True


def start(reason: str) -> str:
    """What the engine's process shows."""
    done = subprocess.run([sys.executable, "-c", ENGINE, reason], check=True, capture_output=True, text=True)
    return done.stdout + done.stderr


@pytest.mark.usefixtures("vllm")
def test_errors_of_all_processes_are_kept_if_the_engine_does_not_start() -> None:
    with pytest.raises(RuntimeError), errors_kept({}) as said:
        shown = start(NO_ROOM)
        logging.getLogger("vllm.here").error("and in this process")
        raise RuntimeError
    assert f"ValueError: {NO_ROOM}" in said
    assert "and in this process" in said
    assert not any("Reading weights" in line for line in said)
    # Nothing is taken from what is shown.
    assert "Reading weights" in shown
    assert "Traceback" in shown
    assert CONFIGURED not in os.environ
    with errors_kept({}) as said:
        # As vLLM does in this process too.
        logging.config.dictConfig(json.loads(Path(os.environ[CONFIGURED]).read_text()))
        start(NO_ROOM)
    assert said == []
    assert not any(isinstance(handler, logging.FileHandler) for handler in logging.getLogger("vllm").handlers)


@pytest.mark.usefixtures("vllm")
def test_a_configuration_of_the_users_own_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(CONFIGURED, str(tmp_path / "own.json"))
    with errors_kept({}):
        assert os.environ[CONFIGURED] == str(tmp_path / "own.json")
    monkeypatch.delenv(CONFIGURED)
    monkeypatch.setenv("VLLM_CONFIGURE_LOGGING", "0")
    with errors_kept({}):
        assert CONFIGURED not in os.environ
    monkeypatch.delenv("VLLM_CONFIGURE_LOGGING")
    for elsewhere in ({"distributed_executor_backend": "ray"}, {"nnodes": 2}, {"data_parallel_size": "4"}):
        with errors_kept(elsewhere):
            assert CONFIGURED not in os.environ


@pytest.mark.usefixtures("vllm")
@pytest.mark.parametrize(("reason", "is_known"), [(NO_ROOM, True), ("CUDA driver initialization failed", False)])
def test_the_reason_is_the_engines_own(reason: str, is_known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        start(reason)
        raise RuntimeError("Engine core initialization failed. See root cause above. Failed core proc(s): {}")

    monkeypatch.setattr(models.importlib.util, "find_spec", lambda _: True)
    monkeypatch.setattr(models.compat, "open_model", fail)
    with pytest.raises(ModelError) as raised:
        models.open_model("vllm", {"pretrained": "ORG/MODEL"}, Generation())
    assert f"cannot be opened: ValueError: {reason}" in str(raised.value)
    assert ("use kv_cache_dtype=fp8" in str(raised.value)) == is_known
