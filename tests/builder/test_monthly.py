"""The monthly job for GitHub Actions."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

MONTHLY = Path(__file__).resolve().parents[2] / "docs" / "monthly"
STEPS = ["run", "push", "eval", "report", "push-results"]


def test_the_workflow_stops_where_a_step_fails() -> None:
    job = yaml.safe_load((MONTHLY / "workflow.yml").read_text())["jobs"]["round"]
    steps = [step for step in job["steps"] if "academiceval " in step.get("run", "")]
    assert [step["run"].split()[1] for step in steps] == STEPS
    assert not any("continue-on-error" in step or "if" in step for step in steps)


def test_the_workflow_gives_nobody_more_than_it_needs() -> None:
    text = (MONTHLY / "workflow.yml").read_text()
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    steps = workflow["jobs"]["round"]["steps"]
    assert all(re.fullmatch(r"actions/[\w/-]+@[0-9a-f]{40}", step["uses"]) for step in steps if "uses" in step)
    assert not any("${{" in step.get("run", "") for step in steps)
    with_token = [step["run"].split()[1] for step in steps if "HF_TOKEN" in step.get("env", {})]
    assert with_token == ["push", "push-results"]
    assert "secrets." not in text.replace("HF_TOKEN: ${{ secrets.HF_TOKEN }}", "")
    [install] = [step["run"] for step in steps if "pip install" in step.get("run", "")]
    assert install == 'pip install -c software/constraints.txt "./software[builder,offline,report]"'
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
