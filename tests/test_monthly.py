"""A month by the script of docs/monthly, over a made-up arXiv and a Hub on this machine."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import yaml

from tests.conftest import BIN
from tests.hub_server import Hub

MONTHLY = Path(__file__).resolve().parents[1] / "docs" / "monthly"
ROUND = """
round = "2026.11"
settings = ["Abs-9K"]
[source]
kind = "sample"
authors = 16
papers = 36
[split]
validation = 0.2
test = 0.3
"""
STEPS = ["update", "run", "audit", "push"]


def _run(hub: Hub, place: Path, *command: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    env |= {
        "HF_ENDPOINT": hub.url,
        "HF_TOKEN": "hf_write",
        "HF_HOME": str(place / "home"),
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }
    env |= {"PATH": f"{BIN}:{env['PATH']}", "REPO": "org/academiceval"}
    return subprocess.run(command, cwd=place, env=env, capture_output=True, text=True, check=False)


def test_a_month_by_the_script(hub_server: Hub, tmp_path: Path) -> None:
    hub_server.reset()
    (tmp_path / "round.toml").write_text(ROUND)
    assert _run(hub_server, tmp_path, "academiceval", "run", "round.toml").returncode == 0
    month = ("sh", str(MONTHLY / "round.sh"), "2026.12")

    (tmp_path / "round.toml").write_text(ROUND + "[audit]\nlong_run = 0\nnot_english = 0\nlength_outlier = 0\n")
    failed = _run(hub_server, tmp_path, *month)
    assert failed.returncode == 1
    assert "the audit found what this round does not allow" in failed.stderr
    assert not hub_server.log

    (tmp_path / "round.toml").write_text(ROUND)
    done = _run(hub_server, tmp_path, *month)
    assert done.returncode == 0, done.stderr
    assert "verified: org/academiceval at 2026.12" in done.stdout
    assert list(hub_server.repos["datasets/org/academiceval"].tags) == ["2026.12"]


def test_script_and_workflow_run_the_same_steps() -> None:
    script = re.findall(r"^academiceval (\S+)", (MONTHLY / "round.sh").read_text(), re.MULTILINE)
    job = yaml.safe_load((MONTHLY / "workflow.yml").read_text())["jobs"]["round"]
    steps = [step for step in job["steps"] if "academiceval " in step.get("run", "")]
    workflow = [step["run"].split()[1] for step in steps]
    assert script == workflow == STEPS
    assert not any("continue-on-error" in step or "if" in step for step in steps)
    assert "set -eu" in (MONTHLY / "round.sh").read_text()
