"""The tasks as a pull request to lm-evaluation-harness would hold them: nothing of ours in them, and the same scores."""

from __future__ import annotations

import ast
import json
import random
import re
import subprocess
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from lm_eval_tasks.tasks.catalogue import tasks_path
from lm_eval_tasks.tasks.yaml_files import contents, left_over
from tests.helpers.hub_server import hub_environment
from tests.helpers.hub_server import serve as serve_hub
from tests.helpers.linked_tasks import installed_tasks
from tests.helpers.openai_server import serve
from tests.helpers.places import BIN

ROOT = Path(__file__).resolve().parents[2]
UPSTREAM = ROOT / "docs" / "upstream" / "academiceval"
PROMPTS = ROOT / "lm_eval_tasks" / "prompts"
TASKS = ("title_10k", "abs_29k_g", "intro_28k", "related_53k_g")


def test_it_needs_nothing_of_ours() -> None:
    tree = ast.parse((UPSTREAM / "utils.py").read_text())
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported == {"re", "functools", "pathlib", "rouge_score"}
    # Another test imports the folder, which leaves compiled files in it.
    files = [path for path in UPSTREAM.rglob("*") if path.is_file() and path.parent.name != "__pycache__"]
    assert files
    assert not any("lm_eval_tasks" in path.read_text() for path in files)


@pytest.mark.slow
def test_every_file_is_what_the_records_say() -> None:
    files = contents()
    for path, text in files.items():
        assert path.read_text(encoding="utf-8") == text, f"{path}: `make tasks` writes it"
    assert left_over(files) == []


def answering(body: dict[str, Any]) -> str:
    """Some words of the prompt, always the same for the same prompt; around titles what models put there."""
    prompt = body["messages"][-1]["content"]
    words = re.findall(r"\w+", prompt)
    rng = random.Random(prompt)
    return f'Sure! Here is the title: "{" ".join(rng.choice(words) for _ in range(12))}"'


@pytest.mark.long
def test_the_same_answers_get_the_same_scores(dataset: Path, shared_tmp: Path, tmp_path: Path) -> None:
    scores = {}
    with serve_hub() as hub, serve(answering) as server:
        environment = hub_environment(hub.url, tmp_path / "home")
        push = [BIN / "academiceval", "push", dataset, "--repo", "ORG/academiceval", "--licenses", "all", "--yes"]
        subprocess.run(push, env=environment, check=True)
        hub.log.clear()
        for name in ("upstream", "ours"):
            metadata = json.dumps({"dataset": str(dataset), "bertscore_model": "none"})
            line = [
                BIN / "lm_eval",
                "--model",
                "local-chat-completions",
                "--model_args",
                f"model=m,base_url={server.url}/chat/completions,num_concurrent=8",
                "--apply_chat_template",
                "--limit",
                "4",
                "--tasks",
                ",".join(f"academiceval_{task}" for task in TASKS),
                "--output_path",
                tmp_path / name,
                *(("--metadata", metadata, "--include_path", tasks_path()) if name == "ours" else ()),
            ]
            with installed_tasks(UPSTREAM, shared_tmp) if name == "upstream" else nullcontext():
                done = subprocess.run(
                    list(map(str, line)), env=environment, capture_output=True, text=True, cwd=tmp_path, check=False
                )
            assert done.returncode == 0, done.stderr[-3000:]
            [file] = (tmp_path / name).rglob("results_*.json")
            results = json.loads(file.read_text())["results"]
            scores[name] = {task: _score(results[f"academiceval_{task}"]) for task in TASKS}
        asked = sorted(body["messages"][-1]["content"] for body in server.requests)
    # The same prompts, each once from either side.
    assert asked[::2] == asked[1::2]
    assert scores["upstream"] == pytest.approx(scores["ours"], abs=1e-9)
    assert all(score > 0 for score in scores["upstream"].values())
    # The dataset came from the Hub, at the revision that the files pin.
    assert any("/revision/2026.11" in path or "/resolve/2026.11/" in path for _, path in hub.log)


def _score(results: dict[str, Any]) -> float:
    return next(float(value) for name, value in results.items() if name.startswith("rougeL,"))
