"""The Hub's benchmark file is as its documentation says."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from builder.dataset.manifest import read_manifest
from hub_scripts.errors import HubError
from hub_scripts.hub.benchmark import check_eval, eval_yaml

GOOD = {
    "name": "a",
    "description": "b",
    "evaluation_framework": "c",
    "tasks": [{"id": "x", "config": "y", "split": "z"}],
}


def test_eval_yaml_has_a_task_for_each_configuration_with_the_round_in_its_id(dataset: Path) -> None:
    manifest = read_manifest(dataset)
    content = yaml.safe_load(eval_yaml(manifest) or "")
    tasks = {one["config"]: one for one in content["tasks"]}
    assert tasks["Abs-9K"] == {"id": "abs_9k_rouge_l_content_2026_11", "config": "Abs-9K", "split": "test"}
    assert set(tasks) == {one.name for one in manifest.configurations if one.statistics("test").samples}
    assert content["evaluation_framework"] == "lm-evaluation-harness"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ([], "`the whole` is a list"),
        ({}, "the key `name` is missing"),
        ({**GOOD, "tasks": []}, "`tasks` is a list"),
        ({**GOOD, "tasks": "d"}, "`tasks` is 'd'"),
        ({**GOOD, "tasks": ["x"]}, "`tasks[0]` is 'x'"),
        ({**GOOD, "tasks": GOOD["tasks"] * 2}, "two tasks have the same id"),
        ({**GOOD, "metrics": []}, "unknown key `metrics`"),
        ({**GOOD, "tasks": [{"id": "whole paper", "config": "y", "split": "z"}]}, "`tasks[0].id` is 'whole paper'"),
    ],
)
def test_what_is_no_eval_yaml_is_refused(content: object, says: str) -> None:
    check_eval(GOOD)
    with pytest.raises(HubError) as error:
        check_eval(content)
    assert says in str(error.value)
