"""A month by the script of docs/monthly, over a made-up arXiv and a Hub on this machine."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.helpers.hub_server import Hub
from tests.helpers.warm import HUB, warm

MONTHLY = Path(__file__).resolve().parents[2] / "docs" / "monthly"
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


def _environment(hub: Hub, place: Path) -> dict[str, str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    env |= {
        "HF_ENDPOINT": hub.url,
        "HF_TOKEN": "hf_write",
        "HF_HOME": str(place / "home"),
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }
    return env | {"PATH": f"{place / 'bin'}:{env['PATH']}", "REPO": "org/academiceval"}


@pytest.mark.slow
def test_a_month_by_the_script(hub_server: Hub, tmp_path: Path) -> None:
    hub_server.reset()
    env = _environment(hub_server, tmp_path)

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)

    with warm(env, HUB) as interpreter:
        (tmp_path / "bin").mkdir()
        interpreter.command(tmp_path / "bin")
        (tmp_path / "round.toml").write_text(ROUND)
        begun = run("academiceval", "run", "round.toml")
        assert begun.returncode == 0, begun.stderr
        month = ("sh", str(MONTHLY / "round.sh"), "2026.12")

        (tmp_path / "round.toml").write_text(ROUND + "[audit]\nlong_run = 0\nnot_english = 0\nlength_outlier = 0\n")
        failed = run(*month)
        assert failed.returncode == 1
        assert "the audit found what this round does not allow" in failed.stderr
        assert not hub_server.log

        (tmp_path / "round.toml").write_text(ROUND)
        done = run(*month)
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


def test_the_workflow_gives_nobody_more_than_it_needs() -> None:
    text = (MONTHLY / "workflow.yml").read_text()
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    steps = workflow["jobs"]["round"]["steps"]
    assert all(re.fullmatch(r"actions/[\w/-]+@[0-9a-f]{40}", step["uses"]) for step in steps if "uses" in step)
    assert not any("${{" in step.get("run", "") for step in steps)
    [with_token] = [step for step in steps if "HF_TOKEN" in step.get("env", {})]
    assert with_token["run"].startswith("academiceval push")
    assert "secrets." not in text.replace("HF_TOKEN: ${{ secrets.HF_TOKEN }}", "")
    [install] = [step["run"] for step in steps if "pip install" in step.get("run", "")]
    assert install == 'pip install -c software/constraints.txt "./software[builder]"'
    own = (Path(__file__).resolve().parents[2] / ".github" / "workflows" / "tests.yml").read_text()
    assert all(re.search(r"@[0-9a-f]{40}\b", line) for line in own.splitlines() if "uses:" in line)


@pytest.mark.parametrize(
    ("asked", "code"),
    [("2026.11", 0), ("", 0), ("2026.01\nBASH_ENV=/tmp/evil", 1), ("2026.13", 1), ("$(id)", 1), ("2026.11 ", 1)],
)
def test_what_a_person_types_is_a_round_or_nothing(asked: str, code: int, tmp_path: Path) -> None:
    steps = yaml.safe_load((MONTHLY / "workflow.yml").read_text())["jobs"]["round"]["steps"]
    [step] = [step for step in steps if "ASKED" in step.get("env", {})]
    place = tmp_path / "env"
    done = subprocess.run(
        ["bash", "-e", "-c", step["run"]], env={**os.environ, "ASKED": asked, "GITHUB_ENV": str(place)}, check=False
    )
    assert done.returncode == code
    assert not place.exists() if code else re.fullmatch(r"ROUND=\d{4}\.\d\d\n", place.read_text())
