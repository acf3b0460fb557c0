"""Which metric of texts tells better from worse best: graded texts of real papers, and texts that say nothing of the paper.

The abstracts of the gold sections are the references. Five kinds of text stand for answers: the authors' conclusion; half of it followed
by half of another paper's; the first words of the introduction, as many as the abstract has; a wrong paper's abstract; and function words
alone. Each paper is paired with four others. An effect is the mean of the paired differences over their standard deviation. BERTScore is
that of a small model (minilm); `--quick` leaves it out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median, stdev

from benchmarks.shared.data import GOLD_SECTIONS, records_of
from benchmarks.shared.running import Figures, run
from lm_eval_tasks.base import rouge
from lm_eval_tasks.base.rouge import text_of
from lm_eval_tasks.metrics.bertscore import bertscore

# How far on in the list the other papers are.
STEPS = (1, 5, 11, 17)
SECTIONS = ("abstract", "introduction", "conclusion", "body")
# What should score higher, and what lower.
EFFECTS = {
    "graded": ("conclusion", "half_and_half"),
    "wrong": ("introduction", "wrong_abstract"),
    "function_words": ("conclusion", "function_words"),
}
MEASURES: dict[str, Callable[[str, str], float]] = {
    "rouge_l_content": rouge.rouge_l_content,
    "rouge_l": rouge.rouge_l,
    "rouge_1": lambda target, text: rouge.rouge_n(target, text, 1),
    "rouge_2": lambda target, text: rouge.rouge_n(target, text, 2),
    "rouge_lsum": rouge.rouge_lsum,
}
Paper = Mapping[str, str]
# (targets, texts) -> a score of each.
Metric = Callable[[Sequence[str], Sequence[str]], list[float]]


def measure(_: Path, quick: bool) -> Figures:
    """Return the effects of each metric, its mean scores, and which tells apart best."""
    papers = [record for record in records_of(GOLD_SECTIONS) if all(record.get(name) for name in SECTIONS)]
    metrics = {name: each(of_pair) for name, of_pair in MEASURES.items()}
    if not quick:
        metrics["bertscore"] = lambda targets, texts: bertscore(targets, texts, "minilm")
    figures: Figures = {"papers": len(papers)}
    means: dict[str, float] = {}
    for name, metric in metrics.items():
        scores = scores_of(papers, metric)
        effects = {key: effect(scores[better], scores[worse]) for key, (better, worse) in EFFECTS.items()}
        means[name] = fmean(effects.values())
        figures |= {f"{name}_{key}": round(value, 2) for key, value in effects.items()}
        figures |= {f"{name}_of_{kind}": round(fmean(values), 3) for kind, values in scores.items()}
        print(name, {key: round(value, 2) for key, value in effects.items()}, flush=True)
    figures["best_without_model"] = max(MEASURES, key=lambda name: means[name])
    return figures


def each(of_pair: Callable[[str, str], float]) -> Metric:
    """Return a metric of a target and a text as one of many."""
    return lambda targets, texts: [of_pair(target, text) for target, text in zip(targets, texts, strict=True)]


def scores_of(papers: Sequence[Paper], metric: Metric) -> dict[str, list[float]]:
    """Return the kind of text -> a score for each paper: the mean over the papers that it is paired with."""
    targets = [paper["abstract"] for paper in papers]
    runs: dict[str, list[list[float]]] = {}
    for step in STEPS:
        for kind, texts in texts_of(papers, [*papers[step:], *papers[:step]]).items():
            runs.setdefault(kind, []).append(metric(targets, texts))
    return {kind: [fmean(of_paper) for of_paper in zip(*of_kind, strict=True)] for kind, of_kind in runs.items()}


def texts_of(papers: Sequence[Paper], others: Sequence[Paper]) -> dict[str, list[str]]:
    """Return the kind -> a text for each paper, which is paired with another."""
    words = round(median(len(paper["abstract"].split()) for paper in papers))
    return {
        "conclusion": [paper["conclusion"] for paper in papers],
        "half_and_half": [
            f"{half(paper['conclusion'])} {half(other['conclusion'])}"
            for paper, other in zip(papers, others, strict=True)
        ],
        "introduction": [" ".join(paper["introduction"].split()[: len(paper["abstract"].split())]) for paper in papers],
        "wrong_abstract": [other["abstract"] for other in others],
        "function_words": [text_of(words)] * len(papers),
    }


def half(text: str) -> str:
    """Return the first half of a text's words."""
    words = text.split()
    return " ".join(words[: len(words) // 2])


def effect(better: Sequence[float], worse: Sequence[float]) -> float:
    """Return the mean of the paired differences over their standard deviation."""
    gains = [high - low for high, low in zip(better, worse, strict=True)]
    return fmean(gains) / stdev(gains)


if __name__ == "__main__":
    run(measure, GOLD_SECTIONS)
