"""The tasks as a pull request to lm-evaluation-harness would hold them: nothing of ours in them, and the same scores."""

from __future__ import annotations

import ast
import json
import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lm_eval_tasks.task_folder import tasks_path
from tests.conftest import BIN
from tests.helpers.openai_server import serve

ROOT = Path(__file__).resolve().parents[2]
UPSTREAM = ROOT / "docs" / "upstream" / "academiceval"
PROMPTS = ROOT / "lm_eval_tasks" / "prompts"
TASKS = ("title_10k", "abs_29k_g", "intro_28k", "related_53k_g")
Command = Callable[..., tuple[int, str, str]]


def test_it_needs_nothing_of_ours() -> None:
    tree = ast.parse((UPSTREAM / "utils.py").read_text())
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported == {"re", "functools", "pathlib", "rouge_score"}
    assert "lm_eval_tasks" not in "".join(path.read_text() for path in UPSTREAM.rglob("*") if path.is_file())


def test_prompts_and_refinement_are_ours_byte_for_byte() -> None:
    for path in (UPSTREAM / "prompts").iterdir():
        assert path.read_bytes() == (PROMPTS / path.name).read_bytes()
    refine = (ROOT / "lm_eval_tasks" / "metrics" / "refine.py").read_text()
    assert refine[refine.index("_YES = ") :] in (UPSTREAM / "utils.py").read_text()


def answering(body: dict[str, Any]) -> str:
    """Some words of the prompt, always the same for the same prompt; around titles what models put there."""
    prompt = body["messages"][-1]["content"]
    words = re.findall(r"\w+", prompt)
    rng = random.Random(prompt)
    return f'Sure! Here is the title: "{" ".join(rng.choice(words) for _ in range(12))}"'


@pytest.mark.slow
def test_the_same_answers_get_the_same_scores(dataset: Path, tmp_path: Path) -> None:
    shutil.copytree(UPSTREAM, tmp_path / "tasks" / "upstream")
    for path in (tmp_path / "tasks" / "upstream").iterdir():
        if path.suffix == ".yaml" or path.name == "_default_yaml":
            text = path.read_text().replace("dataset_path: ORG/academiceval", f"dataset_path: {dataset}")
            text = re.sub(r"^dataset_kwargs: .*\n", "", text, flags=re.MULTILINE)
            path.write_text(
                re.sub(r"^(task|group): academiceval", r"\1: upstream", text, flags=re.MULTILINE).replace(
                    "- academiceval_", "- upstream_"
                )
            )
    found = {}
    with serve(answering) as server:
        for name, place in (("upstream", tmp_path / "tasks"), ("academiceval", tasks_path())):
            metadata = json.dumps({"dataset": str(dataset), "bertscore_model": "none"})
            line = [
                BIN / "lm_eval", "--model", "local-chat-completions", "--model_args",
                f"model=m,base_url={server.url}/chat/completions,num_concurrent=8", "--apply_chat_template", "--limit", "4",
                "--tasks", ",".join(f"{name}_{task}" for task in TASKS), "--include_path", place, "--output_path", tmp_path / name,
                *(("--metadata", metadata) if name == "academiceval" else ()),
            ]  # fmt: skip
            environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OPENAI_API_KEY": "made-up", "PYTHONPATH": str(ROOT)}
            done = subprocess.run(
                list(map(str, line)), env=environment, capture_output=True, text=True, cwd=tmp_path, check=False
            )
            assert done.returncode == 0, done.stderr[-3000:]
            [file] = (tmp_path / name).rglob("results_*.json")
            results = json.loads(file.read_text())["results"]
            found[name] = {task: _score(results[f"{name}_{task}"]) for task in TASKS}
        asked = sorted(body["messages"][-1]["content"] for body in server.requests)
    # The same prompts, each once from either side.
    assert asked[::2] == asked[1::2]
    assert found["upstream"] == pytest.approx(found["academiceval"], abs=1e-9)
    assert all(score > 0 for score in found["upstream"].values())


def _score(results: dict[str, Any]) -> float:
    return next(float(value) for name, value in results.items() if name.startswith("rougeL,"))


def test_the_tasks_for_lighteval_are_all_settings_with_their_answers_lengths() -> None:
    """Run by hand with lighteval 0.13, which wants older libraries than ours: the scores are ours."""
    tree = ast.parse((ROOT / "docs" / "configs" / "lighteval_tasks.py").read_text())
    [given] = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "SETTINGS"
    ]
    found = {}
    for path in (tasks_path() / "academiceval").glob("*.yaml"):
        asked = re.search(r"dataset_kwargs: \{setting: ([\w-]+), answer_tokens: (\d+)\}", path.read_text())
        if asked:
            found[asked[1]] = int(asked[2])
    assert given == found
    assert len(found) == 16
