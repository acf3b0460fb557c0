"""The Hub's benchmark files are as its documentation says."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from builder.dataset.manifest import read_manifest
from hub_scripts.errors import HubError
from hub_scripts.hub.benchmark import check_eval, check_results, eval_yaml, result, results_yaml, task_id


def test_eval_yaml_has_a_task_for_each_configuration_with_the_round_in_its_id(dataset: Path) -> None:
    manifest = read_manifest(dataset)
    content = yaml.safe_load(eval_yaml(manifest))
    tasks = {one["config"]: one for one in content["tasks"]}
    assert tasks["Abs-9K"] == {"id": "abs_9k_rouge_l_2026_11", "config": "Abs-9K", "split": "test"}
    assert set(tasks) == {one.name for one in manifest.configurations if one.statistics("test").samples}
    assert content["evaluation_framework"] == "lm-evaluation-harness"


def test_results_name_dataset_task_and_revision() -> None:
    entry = result(
        "org/academiceval",
        task_id("Abs-9K", "2026.11", "rouge_l"),
        "a" * 40,
        0.25,
        "2026-11-22",
        "https://x",
        "25 samples",
    )
    [read] = yaml.safe_load(results_yaml([entry]))
    assert read == {
        "dataset": {"id": "org/academiceval", "task_id": "abs_9k_rouge_l_2026_11", "revision": "a" * 40}, "value": 0.25, "date": "2026-11-22",
        "source": {"url": "https://x", "name": "AcademicEval"}, "notes": "25 samples",
    }  # fmt: skip


@pytest.mark.parametrize(
    "content",
    [{}, {"name": "a", "description": "b", "evaluation_framework": "c", "tasks": "d"},
     {"name": "a", "description": "b", "evaluation_framework": "c", "tasks": [{"id": "x", "config": "y", "split": "z"}] * 2}],
)  # fmt: skip
def test_what_is_no_eval_yaml_is_refused(content: object) -> None:
    with pytest.raises(HubError):
        check_eval(content)


@pytest.mark.parametrize(
    "content",
    [
        [],
        "x",
        [{"dataset": {"id": "name", "task_id": "t"}, "value": 1, "date": "d"}],
        [{"dataset": {"id": "a/b"}, "value": 1, "date": "d"}],
    ],
)
def test_what_are_no_results_is_refused(content: object) -> None:
    with pytest.raises(HubError):
        check_results(content)
