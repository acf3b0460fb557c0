"""Every metric, registered once: what it applies to, which way is better, what is shown of it, how it is computed.

ROUGE-L and BERTScore are the columns of the AcademicEval paper (section 4.3), accuracy that of SCALAR. Of writing, models are
ranked by ROUGE-L over content words: of the metrics that need no model it tells texts apart best (`benchmarks/headline.py`). The
floors show what a score is worth: the answer against other papers' targets ("random pair"), other papers' targets, human
texts, as the answer ("wrong paper"), and a text of function words alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from lm_eval_tasks.base.errors import MetricError
from lm_eval_tasks.base.row_format import BM25_LOCAL, BM25_PARTS, EMBED_LOCAL, LEAD, TITLE_SEARCH
from lm_eval_tasks.base.text import suggestion
from lm_eval_tasks.tasks.records import Kind

if TYPE_CHECKING:
    from lm_eval_tasks.samples.answers import Answers

Best = Literal["higher", "lower", "one", "neither"]
# One value for each answer; None if an answer has none of this metric.
Compute = Callable[["Answers"], Sequence[float | None]]


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric.

    Attributes:
        label: its name for display.
        kinds: of tasks that it is computed for.
        best: which values are better; "one" for ratios, whose best value is 1; "neither" where no value is better.
        headline: whether it is what a task is about; all others are diagnostics, kept in samples and printed on request.
        module: of this folder, in which a function of the metric's name computes it; loaded when a metric is computed.
        floors: metrics that say what a value of this one is worth.
        usual: the name that lm-eval's own tasks give such a metric; printed in addition to ours, which goes in the next version.
        zero: floors that do not depend on the model; the highest counts as 0 where scores of several tasks are averaged.
        rate: whether it belongs next to the headline: how often something went wrong with prompts or answers.
        baseline: the baseline whose score it is, which samples of other models carry.
        limits: the least and the greatest value; None if there are none.
    """

    name: str
    label: str
    kinds: frozenset[Kind]
    best: Best
    module: Literal["writing", "cloze", "reading", "rates"]
    headline: bool = False
    floors: tuple[str, ...] = ()
    zero: tuple[str, ...] = ()
    usual: str = ""
    rate: bool = False
    baseline: str = ""
    limits: tuple[float, float] | None = (0.0, 1.0)

    @property
    def compute(self) -> Compute:
        """Its docstring says what the metric measures, in docs/options.md too."""
        function: Compute = getattr(import_module(f"lm_eval_tasks.metrics.{self.module}"), self.name)
        return function

    @property
    def meaning(self) -> str:
        """What it measures."""
        return (self.compute.__doc__ or "").partition("\n")[0]


# The share of answers that were cut off is shown next to every score.
CAPPED = "capped"
_WRITING: frozenset[Kind] = frozenset({"writing"})
_CLOZE: frozenset[Kind] = frozenset({"cloze"})
_SET: frozenset[Kind] = frozenset({"set"})
_PAIRS: frozenset[Kind] = frozenset({"pairs"})
_READING = _SET | _PAIRS
_CUT = _WRITING | _CLOZE
_ALL = _CUT | _READING

METRICS: tuple[Metric, ...] = (
    Metric(
        "rouge_l_content",
        "ROUGE-L, content words",
        _WRITING,
        "higher",
        "writing",
        headline=True,
        floors=("rouge_l_content_wrong_paper", "rouge_l_content_lead"),
        zero=("rouge_l_content_wrong_paper",),
    ),
    Metric(
        "rouge_l",
        "ROUGE-L",
        _WRITING,
        "higher",
        "writing",
        headline=True,
        floors=("rouge_l_random_pair", "rouge_l_wrong_paper", "rouge_l_function_words"),
        zero=("rouge_l_wrong_paper", "rouge_l_function_words"),
        usual="rougeL",
    ),
    Metric(
        "bertscore",
        "BERTScore",
        _WRITING,
        "higher",
        "writing",
        headline=True,
        floors=("bertscore_random_pair", "bertscore_wrong_paper", "bertscore_function_words"),
        zero=("bertscore_wrong_paper", "bertscore_function_words"),
        usual="bert_score",
    ),
    Metric(
        "accuracy",
        "Accuracy",
        _CLOZE,
        "higher",
        "cloze",
        headline=True,
        floors=("accuracy_random", "accuracy_constant", "accuracy_bm25_local", "accuracy_embed_local"),
        zero=("accuracy_random",),
        usual="acc",
    ),
    Metric(
        "exact",
        "Exact sets",
        _SET,
        "higher",
        "reading",
        headline=True,
        floors=("exact_blind", "exact_title_search"),
        zero=("exact_blind",),
        usual="exact_match",
    ),
    Metric(
        "set_f1",
        "Set F1",
        _SET,
        "higher",
        "reading",
        headline=True,
        floors=("set_f1_blind", "set_f1_title_search"),
        zero=("set_f1_blind",),
    ),
    Metric(
        "share_right",
        "Share right",
        _PAIRS,
        "higher",
        "reading",
        headline=True,
        floors=("share_right_random", "share_right_bm25"),
        zero=("share_right_random",),
    ),
    Metric("rouge_l_content_wrong_paper", "ROUGE-L, content words, wrong paper", _WRITING, "lower", "writing"),
    Metric(
        "rouge_l_content_lead",
        "ROUGE-L, content words, of the body's first words",
        _WRITING,
        "neither",
        "writing",
        baseline=LEAD,
    ),
    Metric("rouge_l_random_pair", "ROUGE-L, random pair", _WRITING, "lower", "writing"),
    Metric("rouge_l_wrong_paper", "ROUGE-L, wrong paper", _WRITING, "lower", "writing"),
    Metric("bertscore_random_pair", "BERTScore, random pair", _WRITING, "lower", "writing"),
    Metric("bertscore_wrong_paper", "BERTScore, wrong paper", _WRITING, "lower", "writing"),
    Metric("rouge_l_function_words", "ROUGE-L, function words", _WRITING, "lower", "writing"),
    Metric("bertscore_function_words", "BERTScore, function words", _WRITING, "lower", "writing"),
    Metric("accuracy_strict", "Accuracy, answers read strictly", _CLOZE, "higher", "cloze"),
    Metric("accuracy_constant", "Accuracy of the best constant", _CLOZE, "lower", "cloze"),
    Metric("accuracy_random", "Accuracy of guessing", _CLOZE, "lower", "cloze"),
    Metric(
        "accuracy_bm25_local",
        "Accuracy of BM25 on the masked sentence",
        _CLOZE,
        "neither",
        "cloze",
        baseline=BM25_LOCAL,
    ),
    Metric(
        "accuracy_embed_local",
        "Accuracy of embeddings of the masked sentence",
        _CLOZE,
        "neither",
        "cloze",
        baseline=EMBED_LOCAL,
    ),
    Metric("exact_strict", "Exact sets, answers read strictly", _SET, "higher", "reading"),
    Metric("exact_blind", "Exact sets of the best constant", _SET, "lower", "reading"),
    Metric(
        "exact_title_search", "Exact sets of a search for titles", _SET, "neither", "reading", baseline=TITLE_SEARCH
    ),
    Metric("set_f1_blind", "Set F1 of the best constant", _SET, "lower", "reading"),
    Metric("set_f1_title_search", "Set F1 of a search for titles", _SET, "lower", "reading"),
    Metric("share_right_strict", "Share right, answers read strictly", _PAIRS, "higher", "reading"),
    Metric("share_right_random", "Share right of guessing", _PAIRS, "lower", "reading"),
    Metric(
        "share_right_bm25",
        "Share right of BM25 between what is shown",
        _PAIRS,
        "neither",
        "reading",
        baseline=BM25_PARTS,
    ),
    Metric(CAPPED, "Answers that reached their cap", _ALL, "lower", "rates", rate=True),
    Metric("truncated", "Prompts cut", _CUT, "lower", "rates", rate=True),
    Metric("cut_share", "Share of the prompt cut", _CUT, "lower", "rates", rate=True),
    Metric("empty", "Empty answers", _WRITING, "lower", "rates", rate=True),
    Metric("no_answer", "No answer", _CLOZE | _READING, "lower", "rates", rate=True),
    Metric("unfinished", "Unfinished reasoning", _ALL, "lower", "rates", rate=True),
    Metric("outside", "Names a label that there is not", _READING, "lower", "reading", rate=True),
    Metric("rouge_1", "ROUGE-1", _WRITING, "higher", "writing", usual="rouge1"),
    Metric("rouge_2", "ROUGE-2", _WRITING, "higher", "writing", usual="rouge2"),
    Metric("rouge_lsum", "ROUGE-Lsum", _WRITING, "higher", "writing", usual="rougeLsum"),
    Metric("length_ratio", "Length as a share of the target's", _WRITING, "one", "writing", limits=None),
    Metric("copied_from_input", "Longest run copied from the input", _WRITING, "lower", "writing", limits=None),
    Metric(
        "copied_from_demonstrations",
        "Longest run copied from demonstrations",
        _WRITING,
        "lower",
        "writing",
        limits=None,
    ),
    Metric("citations_mentioned", "Given citations mentioned", _WRITING, "higher", "writing"),
    Metric("citations_not_given", "Citations not given", _WRITING, "lower", "writing"),
)


def of_kind(kind: Kind) -> Iterator[Metric]:
    """The metrics of a kind of task, in the order in which they are shown."""
    return (metric for metric in METRICS if kind in metric.kinds)


def headline(kind: Kind | None = None) -> tuple[str, ...]:
    """The names of the headline metrics, of one kind of task or of all."""
    return tuple(metric.name for metric in METRICS if metric.headline and (kind is None or kind in metric.kinds))


def ranking(kind: Kind) -> str:
    """The name of the metric that models are ranked by: the first headline metric."""
    return headline(kind)[0]


def printed_metrics() -> tuple[str, ...]:
    """What lm-eval prints of a task: the headline metrics, what SCALAR's shortcuts score, and the share of answers that were cut off."""
    return (*headline(), *(metric.name for metric in METRICS if metric.baseline), CAPPED)


def floors_of(name: str) -> tuple[str, ...]:
    """The floors of a metric; none if it is not registered."""
    return metric.floors if (metric := find_metric(name)) else ()


def find_metric(name: str) -> Metric | None:
    """The metric of a name; None if there is none."""
    return next((metric for metric in METRICS if metric.name == name), None)


def limits_of(name: str) -> tuple[float, float] | None:
    """The least and the greatest value of a metric; of others than ours, None."""
    metric = find_metric(name)
    return metric.limits if metric else None


def check_names(names: Iterable[str]) -> None:
    """Raise a MetricError for a name that no metric has."""
    each = [metric.name for metric in METRICS]
    for name in names:
        if name not in each:
            raise MetricError(f"no metric {name!r:.60}; {suggestion(name, each, '{}')}")


def label(name: str) -> str:
    """A metric's name for display; the name itself if it is not one of ours."""
    metric = find_metric(name)
    return metric.label if metric else name


# --- as lm-eval's task files want them


def with_usual(scores: Mapping[str, float]) -> dict[str, float]:
    """Scores by our names, and by lm-eval's usual names where those differ."""
    usual = {metric.usual: scores[metric.name] for metric in METRICS if metric.usual and metric.name in scores}
    return {**scores, **usual}


def _metric_list(kind: Kind) -> list[dict[str, Any]]:
    """A task's `metric_list`; lm-eval knows two directions; other metrics have none there."""
    directions = {"higher": True, "lower": False, "one": None, "neither": None}
    return [
        {"metric": name, "aggregation": "mean", "higher_is_better": directions[metric.best]}
        for metric in of_kind(kind)
        for name in filter(None, (metric.name, metric.usual))
    ]


def _group_list(kind: Kind) -> list[dict[str, Any]]:
    """A group's `aggregate_metric_list`: each task counts the same, whatever its number of samples."""
    return [
        {"metric": name, "aggregation": "mean", "weight_by_size": False, "filter_list": "score"}
        for metric in of_kind(kind)
        if metric.headline
        for name in filter(None, (metric.name, metric.usual))
    ]


WRITING_METRIC_LIST, CLOZE_METRIC_LIST = _metric_list("writing"), _metric_list("cloze")
SET_METRIC_LIST, PAIRS_METRIC_LIST = _metric_list("set"), _metric_list("pairs")
WRITING_GROUP_LIST, CLOZE_GROUP_LIST = _group_list("writing"), _group_list("cloze")
