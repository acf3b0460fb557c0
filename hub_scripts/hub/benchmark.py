"""The Hub's benchmarks (https://huggingface.co/docs/hub/eval-results): `eval.yaml` of a dataset, `.eval_results/` of a model.

The Hub shows results of those datasets that it has listed as benchmarks, and knows a list of frameworks; lm-evaluation-harness has not
been on it. The files name it all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import yaml

from hub_scripts.errors import HubError

if TYPE_CHECKING:
    from builder.dataset.manifest import Manifest

EVAL = "eval.yaml"
RESULTS = ".eval_results/academiceval.yaml"
FRAMEWORK = "lm-evaluation-harness"
_HEADLINE = {"cloze": "accuracy"}
_SPLIT: Literal["test"] = "test"


def task_id(configuration: str, round_: str, metric: str) -> str:
    """A task's id, with the round in it: a leaderboard may put results of all revisions side by side."""
    return f"{configuration.lower().replace('-', '_')}_{metric}_{round_.replace('.', '_')}"


def eval_yaml(manifest: Manifest) -> str:
    """The text of `eval.yaml`: a task for each configuration with test samples."""
    shown = [
        one for one in manifest.configurations if one.statistics(_SPLIT).samples and one.form in ("full", "questions")
    ]
    content = {
        "name": f"AcademicEval {manifest.published_as}",
        "description": "A live long-context benchmark of academic writing; each task is one setting of one monthly round.",
        "evaluation_framework": FRAMEWORK,
        "tasks": [
            {
                "id": task_id(one.name, manifest.round, _HEADLINE.get(one.task, "rouge_l")),
                "config": one.name,
                "split": _SPLIT,
            }
            for one in shown
        ],
    }
    check_eval(content)
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def results_yaml(results: Sequence[Mapping[str, Any]]) -> str:
    """The text of a file in `.eval_results/`.

    Args:
        results: entries, each as `result` makes them.
    """
    check_results(results)
    return yaml.safe_dump(list(results), sort_keys=False, allow_unicode=True)


def result(dataset: str, task: str, revision: str, value: float, day: str, url: str, notes: str) -> dict[str, Any]:
    """One score of a model.

    Args:
        dataset: its id on the Hub.
        revision: 40 digits; "" if it is not known.
        day: ISO.
        url: of the file of results.
    """
    about = {"id": dataset, "task_id": task, **({"revision": revision} if revision else {})}
    return {
        "dataset": about, "value": round(value, 6), "date": day, "source": {"url": url, "name": "AcademicEval"},
        **({"notes": notes} if notes else {}),
    }  # fmt: skip


def check_eval(content: object) -> None:
    """Raise a HubError for what the Hub would not take as `eval.yaml`."""
    fields = content if isinstance(content, Mapping) else {}
    for name in ("name", "description", "evaluation_framework"):
        _text(fields.get(name), f"{EVAL}: {name}")
    tasks = fields.get("tasks")
    if not isinstance(tasks, Sequence) or isinstance(tasks, str):
        raise HubError(f"{EVAL}: tasks is not a list")
    ids = [task.get("id") for task in tasks]
    for task in tasks:
        for name in ("id", "config", "split"):
            _text(task.get(name), f"{EVAL}: {name} of a task")
    if len(set(ids)) < len(ids):
        raise HubError(f"{EVAL}: two tasks have the same id")


def check_results(content: object) -> None:
    """Raise a HubError for what the Hub would not take as a file of results."""
    if not isinstance(content, Sequence) or isinstance(content, str) or not content:
        raise HubError(f"{RESULTS} is not a list of results")
    for one in content:
        dataset = one.get("dataset", {})
        for name in ("id", "task_id"):
            _text(dataset.get(name), f"{RESULTS}: {name} of a dataset")
        if dataset["id"].count("/") != 1:
            raise HubError(f"{RESULTS}: {dataset['id']!r} is not the id of a dataset on the Hub")
        if type(one.get("value")) not in (int, float):
            raise HubError(f"{RESULTS}: the value of {dataset['task_id']} is not a number")
        _text(one.get("date"), f"{RESULTS}: date")


def _text(value: object, what: str) -> None:
    if not isinstance(value, str) or not value:
        raise HubError(f"{what} is not a text")
