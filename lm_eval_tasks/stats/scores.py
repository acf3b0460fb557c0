"""Samples of a run -> its scores with intervals, and what a reader of them must know."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, variance
from typing import TYPE_CHECKING, Any

from lm_eval_tasks.core.intervals import interval
from lm_eval_tasks.core.row_format import paper_of
from lm_eval_tasks.metrics import registry
from lm_eval_tasks.stats.estimates import around, mean
from lm_eval_tasks.stats.whole_paper import paper_scores

if TYPE_CHECKING:
    from lm_eval_tasks.samples.logged import Logged

WHOLE_PAPER = "whole paper"
# After the name of a headline metric: over only those answers that did not reach their cap.
UNCAPPED = "_uncapped"
_FEWEST_OF_A_THIRD = 3


@dataclass(frozen=True, slots=True)
class Score:
    """One number of a run: the mean over the samples and its 95 % interval, clustered by first authors.

    Attributes:
        retriever: what chose the chunks of a retrieval task, "" for the other tasks.
        of: how many samples the task has in all; None if it is not known.
    """

    model: str
    task: str
    metric: str
    value: float
    low: float | None
    high: float | None
    samples: int
    retriever: str = ""
    of: int | None = None


def scores_of(samples: Mapping[str, Sequence[Logged]], label: str) -> list[Score]:
    """All scores of a run.

    Args:
        samples: lm-eval task name -> its samples.
        label: of the model.
    """
    return [*_scores(samples, label), *_whole_papers(samples, label)]


def summary(samples: Mapping[str, Sequence[Logged]], scores: Sequence[Score]) -> dict[str, Any]:
    """What a reader of a result must know: rounds, prompt versions, scores with intervals, which tasks were run in part only, scores by
    month and by how much papers read as if a model had written them, and if prompts were repeated, the share of the
    model's own noise.
    """
    every = [one for rows in samples.values() for one in rows]
    return {
        "rounds": sorted({one.round for one in every}),
        "prompt_versions": sorted({one.prompt_version for one in every}),
        "scores": [asdict(score) for score in scores],
        "subsets": {
            task: [len(rows), rows[0].of] for task, rows in samples.items() if rows[0].of not in (None, len(rows))
        },
        "datasets": sorted({one.dataset_revision for one in every}),
        "months": {task: by_month(rows) for task, rows in samples.items()},
        "styles": {task: by_style(rows) for task, rows in samples.items()},
        "noise": {task: noise for task, rows in samples.items() if (noise := noise_share(rows))},
    }


def by_month(samples: Sequence[Logged]) -> dict[str, dict[str, float]]:
    """Month of publication -> number of samples and mean headline scores: the points of a contamination curve."""
    months: dict[str, list[Logged]] = defaultdict(list)
    for one in samples:
        months[one.published[:7]].append(one)
    return {
        month: {
            "samples": len(rows),
            **{
                metric: fmean(one.scores[metric] for one in rows)
                for metric in registry.headline()
                if metric in rows[0].scores
            },
        }
        for month, rows in sorted(months.items())
    }


def by_style(samples: Sequence[Logged]) -> dict[str, list[dict[str, float | None]]]:
    """Headline metric -> its mean and interval over the thirds of the papers that read least, and most, as if a
    language model had written them; last, the difference between the last third and the first.

    Do models score higher on text that models wrote? Papers are ordered by marker words in their abstracts. Empty with fewer than nine.
    """
    known = sorted((one for one in samples if one.marker_words is not None), key=lambda one: (one.marker_words, one.id))
    third = len(known) // 3
    thirds = (known[:third], known[third : len(known) - third], known[len(known) - third :])
    if third < _FEWEST_OF_A_THIRD:
        return {}
    found: dict[str, list[dict[str, float | None]]] = {}
    for metric in registry.headline(samples[0].kind):
        rows = [[one for one in part if metric in one.scores] for part in thirds]
        if all(rows):
            each = [interval([one.scores[metric] for one in part], [one.cluster for one in part]) for part in rows]
            found[metric] = [
                {"mean": one.mean, "low": one.low, "high": one.high, "samples": one.samples} for one in each
            ]
            least, most = (mean({one.id: (one.scores[metric], one.cluster) for one in rows[i]}) for i in (0, -1))
            bounds = around(most.value - least.value, [most, least]) or (None, None)
            found[metric].append({"difference": most.value - least.value, "low": bounds[0], "high": bounds[1]})
    return found


def noise_share(samples: Sequence[Logged]) -> dict[str, dict[str, float]]:
    """Headline metric -> how much of the variance of single answers' scores is between answers to one prompt: the model's own noise.

    The rest is between papers. Empty if each prompt was answered only once.
    """
    if not samples or len(samples) < 2 or not all(len(one.repeats) > 1 for one in samples):
        return {}
    found = {}
    for metric in registry.headline(samples[0].kind):
        each = [[scores[metric] for scores in one.repeats if metric in scores] for one in samples]
        if all(len(values) > 1 for values in each):
            within = fmean(variance(values) for values in each)
            means = variance([fmean(values) for values in each])
            between = max(0.0, means - within / len(each[0]))
            whole = within + between
            found[metric] = {"repeats": len(each[0]), "share": within / whole if whole else 0.0}
    return found


def _scores(samples: Mapping[str, Sequence[Logged]], label: str) -> list[Score]:
    scores: list[Score] = []
    for task, rows in sorted(samples.items()):
        for metric in rows[0].scores:
            having = [one for one in rows if metric in one.scores]
            scores.append(_score(label, task, metric, having, metric))
            whole = [one for one in having if one.scores.get(registry.CAPPED) == 0]
            if metric in registry.headline() and 0 < len(whole) < len(having):
                scores.append(_score(label, task, metric + UNCAPPED, whole, metric))
    return scores


def _score(label: str, task: str, name: str, rows: Sequence[Logged], metric: str) -> Score:
    over = interval([one.scores[metric] for one in rows], [one.cluster for one in rows])
    low, high = over.low, over.high
    if metric in registry.headline() and low is not None and high is not None:
        low, high = max(0.0, low), min(1.0, high)
    return Score(label, task, name, over.mean, low, high, over.samples, rows[0].retriever, rows[0].of)


def _whole_papers(samples: Mapping[str, Sequence[Logged]], label: str) -> list[Score]:
    """The mean over papers that are in several of the tasks that were run; nothing if there are none."""
    authors = {paper_of(one.id): one.cluster for rows in samples.values() for one in rows}
    scores = []
    for metric in registry.headline("writing"):
        if found := paper_scores(samples, metric):
            over = interval(list(found.values()), [authors[paper_id] for paper_id in found])
            scores.append(Score(label, WHOLE_PAPER, metric, over.mean, over.low, over.high, over.samples))
    return scores
