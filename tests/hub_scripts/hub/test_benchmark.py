"""The Hub's benchmark file is as its documentation says."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import yaml
from datasets import load_dataset

from hub_scripts.errors import HubError
from hub_scripts.hub.benchmark import EVAL, eval_yaml, task_ids
from lm_eval_tasks.families.rounds import read_manifest
from standins.hub_server import Hub
from standins.places import BIN
from tests.helpers.served import Command


def test_eval_yaml_has_a_task_for_each_level_that_inspect_takes(cloze_rounds: tuple[Path, Path]) -> None:
    from inspect_ai._eval.task.hf import HFTask, _record_to_sample_hf

    manifest = read_manifest(cloze_rounds[0])
    content = yaml.safe_load(eval_yaml(manifest) or "")
    assert content["evaluation_framework"] == "inspect-ai"
    # Inspect's own model of a task, which refuses what it does not know.
    tasks = {task.config: task for task in map(HFTask.model_validate, content["tasks"])}
    assert set(tasks) == {"SCALAR-Easy", "SCALAR-Medium"}
    assert (tasks["SCALAR-Easy"].id, tasks["SCALAR-Easy"].split) == ("scalar_easy_accuracy_2026_11", "test")
    spec = tasks["SCALAR-Easy"].field_spec
    for row in load_dataset(str(cloze_rounds[0]), "SCALAR-Easy", split="test"):
        shown = _record_to_sample_hf(row, spec)
        assert "[MASKED_CITATION]" in str(shown.input)
        assert shown.choices is not None
        right = shown.choices["ABCD".index(str(shown.target))]
        assert right == f"{row['candidates'][row['label']]['title']}\n\n{row['candidates'][row['label']]['content']}"


def test_a_round_without_scalar_has_none(dataset: Path) -> None:
    assert eval_yaml(read_manifest(dataset)) is None


@pytest.mark.long
def test_inspect_runs_a_published_round(
    command: Command, hub: Hub, cloze_rounds: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As users type it, with a model that is made up."""
    from inspect_ai.log import read_eval_log

    assert command("push", cloze_rounds[0], "--repo", "org/academiceval", "--yes", "--licenses", "all")[0] == 0
    environment = {
        **os.environ,
        "HF_ENDPOINT": hub.url,
        "HF_HUB_OFFLINE": "0",
        "HF_DATASETS_OFFLINE": "0",
        "HF_HOME": str(tmp_path / "hf"),
        "INSPECT_LOG_DIR": str(tmp_path / "logs"),
    }
    script = (
        "from inspect_ai import eval\n"
        "from inspect_ai.model import ModelOutput, ModelUsage, get_model\n"
        "def answer(*_):\n"
        "    made = ModelOutput.from_content('mockllm/model', 'I think so.\\nANSWER: B')\n"
        "    return made.model_copy(update={'usage': ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)})\n"
        "eval('hf/org/academiceval', model=get_model('mockllm/model', custom_outputs=answer), display='plain')\n"
    )
    done = subprocess.run(
        [BIN / "python", "-c", script], capture_output=True, text=True, check=False, env=environment, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr
    logs = [read_eval_log(str(path)) for path in sorted((tmp_path / "logs").glob("*.eval"))]
    assert len(logs) == 2
    for log in logs:
        assert log.status == "success", log.error
        assert log.results is not None
        assert [score.name for score in log.results.scores] == ["choice"]
        assert log.samples is not None
        assert all("<References>" in str(sample.messages[0].content) for sample in log.samples)
        right = [sample.target == "B" for sample in log.samples]
        assert log.results.scores[0].metrics["accuracy"].value == pytest.approx(sum(right) / len(right))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[]", "Expected `object`"),
        ("{}", "missing required field `tasks`"),
        ("tasks: d", "tasks: expected `array`"),
        ("tasks: [x]", "tasks[0]: expected `object`"),
        ("tasks: [{id: 7}]", "tasks[0].id: expected `str`"),
        ("tasks: [", "line 1"),
    ],
)
def test_what_is_no_eval_yaml_is_refused(text: str, says: str) -> None:
    assert task_ids(b"tasks: [{id: x, config: y, split: z}, {id: y}]", EVAL) == {"x", "y"}
    assert task_ids(b"", EVAL) == frozenset()
    with pytest.raises(HubError) as error:
        task_ids(text.encode(), EVAL)
    assert says in str(error.value)
