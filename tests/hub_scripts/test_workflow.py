"""The commands of a month, as the workflow in the docs has them, against a Hub on this machine."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from datasets import load_dataset

from standins import hub_server
from standins.hub_server import Hub, hub_environment
from standins.rounds import SMALL_SOURCE
from tests.helpers.pages import ROOT
from tests.helpers.warm import warm

pytestmark = pytest.mark.slow

# Two writing tasks that a board counts, and a level of SCALAR.
ROUND = f"""round = "2026.11"
seed = 7
settings = ["Title-31K-G", "Abs-29K-G"]
{SMALL_SOURCE}[split]
validation = 0.2
test = 0.1
[scalar]
levels = ["SCALAR-Easy"]
questions = 6
"""


@pytest.mark.long
def test_a_month_from_the_papers_to_the_page(world: Path, tmp_path: Path) -> None:
    """Every command after set-up, in order; then up to the push once more, as in a job that is started again."""
    job = yaml.safe_load((ROOT / "docs" / "monthly" / "workflow.yml").read_text())["jobs"]["round"]
    steps = [step for step in job["steps"] if step.get("run", "").startswith("academiceval ")]
    assert len(steps) > 3
    shutil.copytree(world / "work", tmp_path / "work")
    (tmp_path / "round.toml").write_text(ROUND)
    with hub_server.serve() as hub:
        environment = hub_environment(hub.url, tmp_path / "home")
        with warm(environment) as interpreter:
            (tmp_path / "bin").mkdir()
            interpreter.command(tmp_path / "bin")
            token = environment.pop("HF_TOKEN")
            environment |= job["env"] | {"ROUND": "2026.11", "PATH": f"{tmp_path / 'bin'}:{environment['PATH']}"}
            states: list[dict[str, set[str]]] = []
            for part in (steps, steps[:2]):
                for step in part:
                    # Only a step that is given the secret has it.
                    secret = {name: token for name in step.get("env", {})}
                    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
                    done = subprocess.run(
                        command, cwd=tmp_path, env=environment | secret, capture_output=True, text=True, check=False
                    )
                    assert done.returncode == 0, f"{step['run']}\n{done.stdout[-1000:]}\n{done.stderr[-2000:]}"
                    assert token not in done.stdout + done.stderr
                states.append({key: set(repo.commits) for key, repo in hub.repos.items()})
                _check(hub, tmp_path, job["env"]["REPO"], job["env"]["RESULTS"])
    # The round is published once.
    assert states[0][f"datasets/{job['env']['REPO']}"] == states[1][f"datasets/{job['env']['REPO']}"]


def _check(hub: Hub, place: Path, repo: str, results: str) -> None:
    """What readers find: the round under its name, its results, and a page with both."""
    assert set(hub.repos) == {f"datasets/{repo}", f"datasets/{results}"}
    data = hub.repos[f"datasets/{repo}"]
    assert data.tags == {"2026.11": data.branches["main"]}
    names = {path.partition("/")[0].removesuffix("-ids") for path in hub.files(f"datasets/{repo}") if "/" in path}
    assert names == {"Title-31K-G", "Abs-29K-G", "SCALAR-Easy"}
    files = hub.files(f"datasets/{results}")
    path = next(path for path in files if re.fullmatch(r"lead/2026\.11/results_lead-[0-9a-f]{8}\.json", path))
    scores = json.loads(files[path].data)["academiceval"]["scores"]
    asked = {score["task"]: score["samples"] for score in scores}
    shown = csv.DictReader((place / "site" / "data" / "scores.csv").read_text().splitlines())
    of_lead = {row["setting"]: int(row["n"]) for row in shown if row["model"] == "lead"}
    for name in names:
        rows = load_dataset(str(place / "academiceval"), name, split="test", cache_dir=str(place / "cache"))
        task = name.lower().replace("-", "_")
        assert asked[f"academiceval_core_{task}"] == of_lead[name] == rows.num_rows
    assert json.loads((place / "site" / "academiceval-site.json").read_text()) == {"licenses": "redistributable"}
