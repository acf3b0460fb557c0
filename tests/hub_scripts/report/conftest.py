"""Results of three models with a judge's verdicts, and the page of them, made once for all test processes."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from lm_eval_tasks.samples.answers import ScoredAnswer
from standins import openai_server
from standins.runs import rewrite

TASKS = "academiceval_abs_9k,academiceval_abs_28k,academiceval_abs_29k_g,academiceval_title_10k"
HOSTILE = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\u2028</script>"


def handed(path: Path) -> Any:
    """What a script of data hands over."""
    match = re.fullmatch(r'academiceval\("[^"]+",(.*)\);\n', path.read_text(encoding="utf-8"), re.DOTALL)
    assert match
    return json.loads(match[1])


@pytest.fixture(scope="session")
def results(dataset: Path, shared_tmp: Path) -> Path:
    """Two baselines' runs, a judge's verdicts on one, and a third model whose texts attack the page; only to be read."""
    return _made_once(shared_tmp / "results", lambda place: _make_results(dataset, place))


@pytest.fixture(scope="session")
def site(results: Path, dataset: Path, shared_tmp: Path) -> Path:
    from builder.cli import main

    def make(place: Path) -> None:
        assert main(["report", str(results), str(dataset), "-o", str(place / "site")]) == 0

    return _made_once(shared_tmp / "report", make) / "site"


def _made_once(place: Path, make: Callable[[Path], None]) -> Path:
    with FileLock(place.with_name(f"{place.name}.lock")):
        if not (place / "made").exists():
            place.mkdir(exist_ok=True)
            make(place)
            (place / "made").touch()
    return place


def _make_results(dataset: Path, place: Path) -> None:
    from builder.cli import main

    options = json.dumps({"dataset": str(dataset), "bertscore_model": "none", "model_cutoff": "2026-09"})
    for model in ("lead", "copy-demo"):
        line = ["eval", "--model", model, "--tasks", TASKS, "--metadata", options, "--output", str(place / model)]
        assert main(line) == 0
    with openai_server.serve(_verdict) as server:
        line = ["judge", str(place / "lead"), "--model", "judge-a", "--base-url", server.url]
        assert main([*line, "--output", str(place / "judged")]) == 0
    _make_hostile(place / "lead", place / "hostile")


def _verdict(body: dict[str, Any]) -> str:
    names = ("Novelty", "Feasibility", "Consistency", "Factuality", "Academic Style", "Overall Winner")
    shown = f"[Answer {1 + len(body['messages'][0]['content']) % 2}]"
    return json.dumps({name: {"Winner": shown, "Reason": "so"} if name != names[-1] else shown for name in names})


def _make_hostile(source: Path, place: Path) -> None:
    shutil.copytree(source, place)

    def attack(line: dict[str, Any]) -> dict[str, Any]:
        scored = ScoredAnswer.from_text(line["filtered_resps"][0])
        line["filtered_resps"] = [replace(scored, answer=HOSTILE, scorer=0).to_text()]
        line["doc"]["slots"][0]["head"] = HOSTILE
        return line

    rewrite(place, attack)
    content = json.loads((place / "results_lead.json").read_text())
    for score in content["academiceval"]["scores"]:
        score["model"] = "<b onclick=alert(1)>evil"
    (place / "results_lead.json").write_text(json.dumps(content))
