"""Samples of a run -> its scores with intervals, and what a reader of them must know: by the length of the prompt and the place of what
answers the question, too.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from lm_eval_tasks.base.intervals import level
from lm_eval_tasks.families.answering import answering_of
from lm_eval_tasks.llm.usage import UsageTotals
from lm_eval_tasks.samples.block import BinScore, Block, MadeWith, RunRequest, Score
from lm_eval_tasks.samples.sample import Sample
from lm_eval_tasks.stats.columns import columns_of, gains_of

# Task, as lm-eval names it, -> its samples.
Samples = Mapping[str, Sequence[Sample]]
# Upper ends of the bins of lengths, in units of 1,024 tokens; longer prompts are in one of their own.
BINS = {8: "8K", 16: "16K", 32: "32K", 64: "64K", 128: "128K", 256: "256K", 512: "512K", 1024: "1M"}
LONGER = "over 1M"
PLACES = ("first third", "middle third", "last third")


def scores_of(samples: Samples, model: str) -> list[Score]:
    """All scores of a run of the model that has this label."""
    scores = []
    for task, of_task in sorted(samples.items()):
        row = of_task[0].row
        for name, column in columns_of(of_task).items():
            over = column.interval()
            scores.append(Score(model, task, name, over.mean, over.low, over.high, column.n, row.retriever, row.of))
    return scores


def block_of(samples: Samples, run: RunRequest, scores: Sequence[Score], usage: UsageTotals, made: MadeWith) -> Block:
    """What results say of a run besides lm-eval's own figures."""
    rows = [sample.row for of_task in samples.values() for sample in of_task]
    # Samples whose score could not be computed are no part of a result.
    sizes = {
        task: (sum(sample.row.family.ranking in sample.scores for sample in of_task), of_task[0].row.of)
        for task, of_task in samples.items()
    }
    failed = {task: Counter(name for sample in of_task for name in sample.failed) for task, of_task in samples.items()}
    return Block(
        run=run,
        rounds=tuple(sorted({row.round for row in rows})),
        prompt_versions=tuple(sorted({row.prompt_version for row in rows})),
        scores=tuple(scores),
        subsets={task: (n, of) for task, (n, of) in sizes.items() if of is not None and of != n},
        datasets=tuple(sorted({row.dataset_revision for row in rows})),
        failures={task: dict(sorted(names.items())) for task, names in failed.items() if names},
        lengths={task: bins for task, of_task in samples.items() if (bins := by_length(of_task))},
        places={task: thirds for task, of_task in samples.items() if (thirds := by_place(of_task))},
        gains=gains_of(sample for of_task in samples.values() for sample in of_task),
        usage=usage,
        made_with=made,
    )


def by_length(samples: Sequence[Sample]) -> dict[str, BinScore]:
    """Bin of the uncut prompt's length in the model's tokens, by its upper end -> n, mean and 95 % interval of the score that models are
    ranked by. Empty if no tokenizer was known.
    """
    bins: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for sample in samples:
        metric = sample.row.family.ranking
        if sample.row.tokens_before and metric in sample.scores:
            longer_bins = (name for size, name in BINS.items() if sample.row.tokens_before <= size * 1024)
            bins[next(longer_bins, LONGER)].append((sample.scores[metric], sample.cluster))
    return {name: _summary(bins[name]) for name in (*BINS.values(), LONGER) if name in bins}


def by_place(samples: Sequence[Sample]) -> dict[str, BinScore]:
    """Third of the context where the answers stand -> the same: of SCALAR's right candidates and of the pairs of Next and Match, each by
    itself; of Walk, the F1 within the third. Empty for other tasks, and if prompts were answered several times.
    """
    thirds: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for sample in samples:
        row, metric = sample.row, sample.row.family.ranking
        if not row.shown and not sample.repeats and metric in sample.scores:
            for _, place, score in answering_of(row.task).placed(row, sample.answer, sample.scores[metric]):
                thirds[PLACES[min(2, int(3 * place))]].append((score, sample.cluster))
    return {name: _summary(thirds[name]) for name in PLACES if name in thirds}


def _summary(rows: Sequence[tuple[float, str]]) -> BinScore:
    """Of scores, and the first author of each."""
    over = level([score for score, _ in rows], [cluster for _, cluster in rows])
    return BinScore(over.samples, over.mean, over.low, over.high)
