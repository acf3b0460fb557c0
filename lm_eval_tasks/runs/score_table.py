"""Scores as tables for people: the parity columns with their floors first, then what surrounds them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from lm_eval_tasks.runs.evaluate import Score

# Scores that are shown with their intervals, and behind each its floors.
_MAIN = {
    "rouge_l": ("rouge_l_random_pair", "rouge_l_wrong_paper"),
    "bertscore": ("bertscore_random_pair", "bertscore_wrong_paper"),
    "accuracy": ("accuracy_random",),
}
_SHARES = ("truncated", "cut_share", "empty", "no_answer", "unfinished")
_Rows = Mapping[tuple[str, str], Mapping[str, Score]]


def score_table(scores: Sequence[Score]) -> list[str]:
    """Markdown: the parity scores with 95 % intervals and floors, and how prompts and answers fared; then all other scores."""
    rows: dict[tuple[str, str], dict[str, Score]] = {}
    for score in scores:
        rows.setdefault((score.task, score.model), {})[score.metric] = score
    metrics = list(dict.fromkeys(score.metric for score in scores))
    main = [name for metric, floors in _MAIN.items() for name in (metric, *floors)] + [*_SHARES]
    first = [metric for metric in main if metric in metrics]
    others = [metric for metric in metrics if metric not in main]
    lines = list(_table(first, rows, lambda score: score.metric in _MAIN))
    return [*lines, "", *_table(others, rows, lambda _: False)] if others else lines


def _table(metrics: Sequence[str], rows: _Rows, with_interval: Callable[[Score], bool]) -> Iterator[str]:
    yield f"| Task | Model | n | {' | '.join(metrics)} |"
    yield f"| --- | --- | ---: |{' ---: |' * len(metrics)}"
    for (task, model), cells in sorted(rows.items()):
        if cells.keys().isdisjoint(metrics):
            continue
        n = next(iter(cells.values())).samples
        shown = (_cell(cells.get(metric), with_interval) for metric in metrics)
        yield f"| {task} | {model} | {n} | {' | '.join(shown)} |"


def _cell(score: Score | None, with_interval: Callable[[Score], bool]) -> str:
    if score is None:
        return ""
    return f"{score.value:.4f} [{score.low:.4f}, {score.high:.4f}]" if with_interval(score) else f"{score.value:.4f}"
