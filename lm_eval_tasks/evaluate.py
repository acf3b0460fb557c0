"""`academiceval eval`: thin over lm-eval's simple_evaluate, with the baselines as models beside lm-eval's own."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_tasks.errors import EvalError
from lm_eval_tasks.papers import METRICS, paper_scores, summary
from lm_eval_tasks.taskfolder import tasks_path


@dataclass(frozen=True, slots=True)
class Score:
    """One number of a run: mean over the samples and its standard error."""

    model: str
    task: str
    metric: str
    value: float
    stderr: float
    samples: int


def evaluate(
    model: str, model_args: str, tasks: Sequence[str], metadata: dict[str, Any], limit: int | None, output: Path | None
) -> list[Score]:
    """Evaluate a model or baseline and return its scores; with `output`, results and samples are written there.

    Args:
        model: a baseline's name or one of lm-eval's model types.
        model_args: lm-eval's "key=value,..." for its own model types.
        metadata: as lm-eval's --metadata.

    Raises:
        EvalError: an unknown task; what `loading.load` raises.
    """
    from lm_eval.evaluator import simple_evaluate
    from lm_eval.tasks import TaskManager
    from lm_eval.utils import simple_parse_args_string

    from lm_eval_tasks.baselines import BASELINES, BaselineLM

    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    is_baseline = model in BASELINES
    parsed = dict(simple_parse_args_string(model_args)) if model_args else {}
    given = {**metadata, **parsed, **({"keep_parts": True} if is_baseline else {})}
    manager = TaskManager(include_path=str(tasks_path()), include_defaults=False, metadata=given)
    unknown = [task for task in tasks if task not in manager.all_tasks]
    if unknown:
        raise EvalError(f"unknown task {unknown[0]!r}; `academiceval eval --tasks list` prints the tasks")
    results = simple_evaluate(
        model=BaselineLM(model) if is_baseline else model,
        model_args=None if is_baseline else model_args,
        tasks=list(tasks),
        task_manager=manager,
        limit=limit,
        log_samples=True,
        metadata=given,
    )
    assert results is not None
    scores = _scores(results, model) + _whole_papers(results["samples"], model)
    if output is not None:
        _write(results, model, output)
    return scores


def task_names() -> list[str]:
    """All task and group names."""
    from lm_eval.tasks import TaskManager

    return sorted(TaskManager(include_path=str(tasks_path()), include_defaults=False).all_tasks)


def _scores(results: dict[str, Any], model: str) -> list[Score]:
    scores: list[Score] = []
    for task, values in sorted(results["results"].items()):
        n = results["n-samples"].get(task, {}).get("effective", 0)
        for key, value in values.items():
            metric, _, filtered = key.partition(",")
            if not filtered or metric.endswith("_stderr") or not isinstance(value, float):
                continue
            stderr = values.get(f"{metric}_stderr,{filtered}")
            scores.append(Score(model, task, metric, value, stderr if isinstance(stderr, float) else 0.0, n))
    return scores


def _whole_papers(samples: dict[str, Any], model: str) -> list[Score]:
    """The mean over papers that are in several of the tasks that were run; nothing where there are none."""
    scores = []
    for metric in METRICS:
        if found := paper_scores(samples, metric):
            scores.append(Score(model, "whole paper", metric, *summary(found), len(found)))
    return scores


def score_table(scores: Sequence[Score]) -> list[str]:
    """Markdown rows, one for each model and task, with a column for each metric: mean ± standard error."""
    metrics = list(dict.fromkeys(score.metric for score in scores))
    rows: dict[tuple[str, str], dict[str, Score]] = {}
    for score in scores:
        rows.setdefault((score.task, score.model), {})[score.metric] = score
    lines = [
        f"| Task | Model | n | {' | '.join(metrics)} |",
        f"| --- | --- | ---: |{' ---: |' * len(metrics)}",
    ]
    for (task, model), cells in sorted(rows.items()):
        shown = (f"{cell.value:.4f} ± {cell.stderr:.4f}" if (cell := cells.get(metric)) else "" for metric in metrics)
        n = next(iter(cells.values())).samples
        lines.append(f"| {task} | {model} | {n} | {' | '.join(shown)} |")
    return lines


def _write(results: dict[str, Any], model: str, output: Path) -> None:
    output.mkdir(parents=True, exist_ok=True)
    for task, rows in results.pop("samples").items():
        lines = (json.dumps(row, default=str, ensure_ascii=False) + "\n" for row in rows)
        (output / f"samples_{task}_{model}.jsonl").write_text("".join(lines), encoding="utf-8")
    text = json.dumps(results, default=str, ensure_ascii=False, indent=1)
    (output / f"results_{model}.json").write_text(text, encoding="utf-8")
