"""What processes write while an engine starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lm_eval_tasks.core.errors import ModelError
from lm_eval_tasks.evaluate import models
from lm_eval_tasks.evaluate.generation import Generation

# As vLLM's engine writes it, in a process of its own, and what it raises in ours.
ENGINE = """
import sys
print("(EngineCore pid=7) INFO 11-25 01:23:34 [core.py:10] Reading weights", flush=True)
print("(EngineCore pid=7) ERROR 11-25 01:23:34 [core.py:15] EngineCore failed to start.", flush=True)
print("(EngineCore pid=7) ERROR 11-25 01:23:34 [core.py:15] Traceback (most recent call last):", flush=True)
print("(EngineCore pid=7) ERROR 11-25 01:23:34 [core.py:15] ValueError: No available memory for the cache blocks.", flush=True)
print("Process EngineCore:\\nTraceback (most recent call last):\\nValueError: No available memory", file=sys.stderr, flush=True)
"""
OPENING = f"""
import subprocess, sys
from lm_eval_tasks.compat.engine_output import errors_kept
ends = sys.argv[1] == "ends"
try:
    with errors_kept() as said:
        subprocess.run([sys.executable, "-c", {ENGINE!r}])
        print("ours")
        if ends:
            raise RuntimeError
except RuntimeError:
    print(len(said), "lines kept; the reason is there:", any(line.startswith("ValueError: No available") for line in said))
print("after")
"""


@pytest.mark.parametrize("ends", [True, False])
def test_errors_are_kept_if_the_engine_does_not_start_and_passed_on_if_it_does(ends: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-c", OPENING, "ends" if ends else "starts"], capture_output=True, text=True, check=True
    )
    shown = done.stdout + done.stderr
    assert "Reading weights" in shown
    assert done.stdout.endswith("after\n")
    assert ("Traceback" in shown) != ends
    assert ("lines kept; the reason is there: True" in shown) == ends
    # Everything that was written is there, once.
    assert ends or (shown.count("ERROR"), shown.count("Process EngineCore:"), shown.count("ours")) == (3, 1, 1)


def test_the_reason_is_the_engines_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "engine.py"
    script.write_text(ENGINE)

    def fail(*_: object) -> None:
        subprocess.run([sys.executable, str(script)], check=True)
        raise RuntimeError("Engine core initialization failed. See root cause above. Failed core proc(s): {}")

    monkeypatch.setattr(models.importlib.util, "find_spec", lambda _: True)
    monkeypatch.setattr(models.compat, "open_model", fail)
    with pytest.raises(ModelError, match="No available memory for the cache blocks") as raised:
        models.open_model("vllm", {"pretrained": "ORG/MODEL"}, Generation())
    assert "use kv_cache_dtype=fp8" in str(raised.value)
