"""Samples of a run -> its scores with intervals, and what a reader of them must know: by the length of the prompt and the place of what
answers the question, too; and all that as readable tables.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from lm_eval_tasks.base.contract import FULL
from lm_eval_tasks.base.intervals import NO_INTERVAL, level
from lm_eval_tasks.base.metadata import TEST
from lm_eval_tasks.base.tables import Table, with_bounds
from lm_eval_tasks.base.typed import present
from lm_eval_tasks.families.answering import answering_of
from lm_eval_tasks.families.descriptor import Metric
from lm_eval_tasks.families.registry import LOWER, METRICS, headline, is_lower_better
from lm_eval_tasks.llm.usage import UsageTotals
from lm_eval_tasks.samples.block import BinScore, Block, MadeWith, RunRequest, Score
from lm_eval_tasks.samples.results import Results
from lm_eval_tasks.samples.sample import Sample
from lm_eval_tasks.stats.columns import BEST_PROGRAM, Gain, columns_of, gain_table, gains_of, zero_of
from lm_eval_tasks.stats.kept import shown_kept
from lm_eval_tasks.stats.placed import HIGHEST_FLOOR
from lm_eval_tasks.stats.savings import shown_savings
from lm_eval_tasks.tasks.catalogue import TASKS, shown_name

# Task, as lm-eval names it, -> its samples.
Samples = Mapping[str, Sequence[Sample]]
PLACES = ("first third", "middle third", "last third")


def scores_of(samples: Samples, model: str) -> list[Score]:
    """Return all scores of a run of the model that has this label."""
    scores = []
    for task, of_task in sorted(samples.items()):
        row = of_task[0].row
        for name, column in columns_of(of_task).items():
            over = column.interval()
            scores.append(Score(model, task, name, over.mean, over.low, over.high, column.n, row.retriever, row.of))
    return scores


def block_of(samples: Samples, run: RunRequest, scores: Sequence[Score], usage: UsageTotals, made: MadeWith) -> Block:
    """Say what results do of a run besides lm-eval's own figures."""
    rows = [sample.row for of_task in samples.values() for sample in of_task]
    subsets = {task: _subset(of_task) for task, of_task in samples.items()}
    failures = {task: _failures(of_task) for task, of_task in samples.items()}
    places = {task: by_place(of_task) for task, of_task in samples.items()}
    datasets = {row.dataset_revision for row in rows}
    return Block(
        run=run,
        rounds=tuple(sorted({row.round for row in rows})),
        prompt_versions=tuple(sorted({row.prompt_version for row in rows})),
        scores=tuple(scores),
        subsets=present(subsets),
        datasets=tuple(sorted(datasets)),
        failures=present(failures),
        places=present(places),
        usage=usage,
        made_with=made,
    )


def _subset(samples: Sequence[Sample]) -> tuple[int, int] | None:
    """Count the samples of a task that have its score, and all; None if none is missing. A sample whose score could not be computed is no
    part of a result.
    """
    scored = sum(sample.row.ranking.name in sample.scores for sample in samples)
    of = samples[0].row.of
    return None if of is None or of == scored else (scored, of)


def _failures(samples: Sequence[Sample]) -> dict[str, int]:
    return dict(sorted(Counter(name for sample in samples for name in sample.failed).items()))


def by_place(samples: Sequence[Sample]) -> dict[str, BinScore]:
    """Return third of the context where the answers stand -> n, mean and 95 % interval of the score that models are ranked by: of SCALAR's
    right candidates and of the pairs of Next and Match, each by itself; of Walk, the F1 within the third. Empty for other tasks, and if
    prompts were answered several times.
    """
    thirds: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for sample in samples:
        row, metric = sample.row, sample.row.ranking.name
        if not row.shown and not sample.repeats and metric in sample.scores:
            for _, place, score in answering_of(row.task).placed(row, sample.answer, sample.scores[metric]):
                thirds[PLACES[min(2, int(3 * place))]].append((score, sample.cluster))
    return {name: _summary(thirds[name]) for name in PLACES if name in thirds}


def _summary(rows: Sequence[tuple[float, str]]) -> BinScore:
    """Summarize scores, given with the first author of each."""
    over = level([score for score, _ in rows], [cluster for _, cluster in rows])
    return BinScore(over.samples, over.mean, over.low, over.high)


# --- as tables: a row for each headline score of a task; then, where all columns are asked for, every score; and what reading gained

_MAIN = ("Task", "Score", "Value [95%]", "n", "Floor", "Margin [95%]", "Cut")


def score_table(
    scores: Sequence[Score], gains: Sequence[Gain] = (), samples: Samples | None = None
) -> Iterator[str | Table]:
    """Yield the scores of a run, or of several, with 95 % intervals; and beside the score that they are of, from a run's gains, the margin
    over the best program and the headline gain.

    Args:
        samples: of the run, by task: they tell which setting of the round's own was asked, and why a score has no interval.
    """
    samples = samples or {}
    if not scores:
        yield "no task has a score for this model"
        return
    names = {task: shown_name(task, {each.row.setting for each in of_task}) for task, of_task in samples.items()}
    tasks: dict[tuple[str, str], dict[str, Score]] = {}
    for score in scores:
        names.setdefault(score.task, score.task)
        model = f"{score.model} + {score.retriever}" if score.retriever else score.model
        tasks.setdefault((score.task, model), {})[score.metric] = score
    own = {task: _of_task(task, samples) for task, _ in tasks}
    rows = [
        (names[task], *_row(task, model, metric, of_task, samples.get(task, ()), own[task]))
        for (task, model), of_task in sorted(tasks.items())
        for metric in METRICS
        if metric.headline and metric.name in of_task
    ]
    lost = sorted({task for task, model in tasks if not tasks[task, model].keys() & headline()})
    if lost:
        yield f"no answer to {', '.join(lost)} has the score of its task: its metrics failed; --verbose says why"
    # Of several models, each has a floor over its own answers.
    main = ("Task", "Model", *_MAIN[1:4], "Cut") if len({model for _, model in tasks}) > 1 else _MAIN
    yield Table(("Task", "Model", *_MAIN[1:], "Gain [95%]", "Placed"), "lllrrrrrrr", rows, main)
    every = [
        (names[task], model, score.metric, _value(score), _samples(score))
        for (task, model), of_task in sorted(tasks.items())
        for score in of_task.values()
    ]
    yield Table(("Task", "Model", "Score", "Value [95%]", "n"), "lllrr", every, ())
    if any(score.of not in (None, score.samples) for score in scores if score.metric in headline()):
        yield from (
            "",
            "If n is only a part of the samples, the scores are of a subset, or a metric failed on the others.",
        )
    bare = [score for score in scores if score.metric in headline() and score.low is None]
    # Of bits, a table of their own says what is saved.
    of_scores = [gain for gain in gains if gain.by == "model" and not is_lower_better(gain.metric)]
    gained = [gain for gain in of_scores if gain.gain.low is None]
    reasons = list(_why_bare(bare, samples, names, gained)) if samples else []
    if reasons:
        yield from ("", *reasons)
    elif bare or gained:
        yield from ("", NO_INTERVAL)


def _why_bare(
    scores: Sequence[Score], samples: Samples, names: Mapping[str, str], gains: Sequence[Gain]
) -> Iterator[str]:
    """Yield for each reason why there is no interval the scores and gains that have none.

    Args:
        names: of the tasks, as the table shows them.
    """
    columns = {task: columns_of(samples.get(task, ())) for task in {score.task for score in scores}}
    reasons: dict[str, list[str]] = {}
    for score in scores:
        column = columns[score.task].get(score.metric)
        missing = column.interval().missing if column else ""
        if missing:
            reasons.setdefault(missing, []).append(f"{score.metric} of {names[score.task]}")
    for gain in gains:
        if gain.gain.missing:
            reasons.setdefault(gain.gain.missing, []).append(f"gain over {gain.shortcut} in {gain.configuration}")
    for why, named in reasons.items():
        yield f"no interval ({why}): {', '.join(named)}"


def _row(
    task: str,
    model: str,
    metric: Metric,
    scores: Mapping[str, Score],
    samples: Sequence[Sample],
    gains: Sequence[Gain],
) -> tuple[object, ...]:
    """Return the cells behind a task's name."""
    score = scores[metric.name]
    own = [gain for gain in gains if gain.metric == metric.name]
    margin = next((gain for gain in own if gain.shortcut == BEST_PROGRAM), None)
    gain = next((gain for gain in own if gain.is_headline and gain.by == "model"), None)
    floor = margin.short if margin else _floor(task, metric, scores, samples)
    cut = scores.get("truncated")
    is_lower = metric.best == "lower"
    return (
        model,
        f"{metric.name}{LOWER * is_lower}",
        _value(score),
        _samples(score),
        _rounded(floor, 4),
        # What two predictors save is no race, so nothing is subtracted.
        "-" if is_lower else _gain(margin),
        _rounded(cut.value if cut else None, 2),
        "-" if is_lower else _gain(gain),
        "-" if is_lower else _placed(score.value, floor),
    )


def _placed(value: float, floor: float | None) -> str:
    """Place a score between its floor and 1, if there is room."""
    if floor is None or floor > HIGHEST_FLOOR:
        return "-"
    return f"{(value - floor) / (1 - floor):.3f}"


def _rounded(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _asked_in_full(task: str) -> list[str]:
    """List the configurations that a task asks in full; none for a task with less to read."""
    return [record.configuration for record in TASKS if record.name == task and record.context == FULL]


def _of_task(task: str, samples: Samples) -> list[Gain]:
    """Return the gains of what a task asked in full, over its own rows: another task may ask more of the same configuration."""
    shorter = [sample for of_task in samples.values() for sample in of_task if sample.row.shown]
    return gains_of([*samples.get(task, ()), *shorter]) if _asked_in_full(task) else []


def _floor(task: str, metric: Metric, scores: Mapping[str, Score], samples: Sequence[Sample]) -> float | None:
    """Find the best floor that a run without a margin states; over part of a context only programs that read the prompt have one."""
    if metric.best != "lower" and not _asked_in_full(task):
        return None
    if samples:
        best = zero_of(metric.name, columns_of(samples))
        return best.mean if best else None
    floors = [scores[name].value for name in metric.zero if name in scores]
    return min(floors, default=None) if metric.best == "lower" else max(floors, default=None)


def _gain(gain: Gain | None) -> str:
    return "-" if gain is None else with_bounds(gain.gain.mean, gain.gain.low, gain.gain.high, "+.4f")


def _value(score: Score) -> str:
    return with_bounds(score.value, score.low, score.high)


def _samples(score: Score) -> str:
    """Return how many samples were scored, and out of how many if that is only a part."""
    return str(score.samples) if score.of in (None, score.samples) else f"{score.samples} of {score.of}"


def shown_scores(results: Results, samples: Samples) -> Iterator[str | Table]:
    """Yield a run's scores, and its gains if it was asked with less to read and its samples are there."""
    # Two tasks may ask the same, one of them under another name.
    every = {(sample.task, sample.id): sample for of_task in samples.values() for sample in of_task}
    of_run = gains_of(every.values())
    yield from score_table(results.scores, of_run, samples)
    months = sorted({sample.row.published[:7] for sample in every.values()})
    if months:
        yield from ("", f"The papers appeared from {months[0]} to {months[-1]} (first versions).")
    if results.split != TEST:
        yield from (
            "",
            f"These rows are of the split {results.split!r}: a round's scores are those of its test papers.",
        )
    gains = [gain for gain in of_run if not is_lower_better(gain.metric)]
    if any(gain.by == "model" for gain in gains):
        yield from ("", gain_table(gains))
    yield from shown_savings(list(every.values()))
    asked = results.run.tasks if results.run else ()
    window = results.block.made_with.window if results.block else None
    yield from shown_kept(list(every.values()), asked, window.tokens if window else None)
