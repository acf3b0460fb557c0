"""`academiceval compare A B ...`: paired differences between runs, with clustered intervals and corrected p-values."""

import logging
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from operator import attrgetter
from pathlib import Path
from statistics import fmean

from lm_eval_tasks.base import intervals
from lm_eval_tasks.base.contract import LIKELIHOOD
from lm_eval_tasks.base.errors import SamplesError
from lm_eval_tasks.base.intervals import Interval, holm
from lm_eval_tasks.base.metadata import TEST
from lm_eval_tasks.base.tables import Table, with_bounds
from lm_eval_tasks.families.descriptor import Board
from lm_eval_tasks.families.registry import BOARDS, LOWER, comparisons, counted, is_lower_better
from lm_eval_tasks.samples.prompt_row import PromptRow
from lm_eval_tasks.samples.results import Results, read_results
from lm_eval_tasks.samples.run_folder import is_time, newest_results, only_result, refuse_unfinished
from lm_eval_tasks.samples.sample import Sample, by_task, paired, revisions_apart
from lm_eval_tasks.stats import placed
from lm_eval_tasks.stats.columns import columns_of, zero_of
from lm_eval_tasks.stats.kept import FEWEST, share_differences
from lm_eval_tasks.stats.opened import read_runs
from lm_eval_tasks.stats.placed import PlacedTask
from lm_eval_tasks.stats.savings import HEADLINE, Contexts, contexts_of, saving_of

_LOGGER = logging.getLogger(__name__)
OTHER_FORMAT = "likelihoods with a chat template and without one cannot be compared, only what reading saves (with --contexts other,start)"
_SHARE_KEPT = "share kept"
_NO_SHARE = f"a share is stated for {FEWEST} first authors and more who recall alike, if every row has a score"
# Task -> its samples.
Run = Mapping[str, Sequence[Sample]]
# What a sample says of each stage, in the order in which they follow one another; nothing for what it does not know.
_STAGES: dict[str, Callable[[Sample], object]] = {
    "prompts": attrgetter("prompt_hash"),
    "tokens of prompts": lambda sample: sample.row.tokenizer and sample.row.tokens_after,
    "answers": attrgetter("answer"),
    "scores": attrgetter("rounded_scores"),
}


@dataclass(frozen=True, slots=True)
class Difference:
    """B - A over the papers that both runs answered.

    Attributes:
        runs: A and B.
        sizes: samples of A and of B, of which some may have no partner in the other run, or no such score.
        corrected_p: p over all differences that are shown together (Holm).
        of_board: whether it is over the tasks of a board, with scores placed between their floor and 1.
        detectable: the smallest true difference that would be shown in four out of five cases, after Holm's correction.
    """

    runs: tuple[Path, Path]
    task: str
    metric: str
    a: float
    b: float
    difference: Interval
    sizes: tuple[int, int]
    corrected_p: float | None = None
    of_board: bool = False
    detectable: float | None = None


def runs_of(paths: Sequence[Path]) -> dict[Path, Run]:
    """Return the runs of samples files or folders of them; a SamplesError if one is given twice."""
    for i, path in enumerate(paths):
        if any(_is_part(path, other) or _is_part(other, path) for other in paths[:i]):
            raise SamplesError(f"{path} cannot be compared with itself: give the runs of two models")
        refuse_unfinished(path)
    return {path: by_task(read_runs([path])) for path in paths}


def compare(runs: Mapping[Path, Run], metrics: Sequence[str] | None = None, *, uncut: bool = False) -> list[Difference]:
    """Compare runs, sample by sample: each with each that comes later.

    Args:
        runs: at least two, see `runs_of`.
        metrics: names; by default the one that models are ranked by, of each task.
        uncut: whether samples whose prompts were cut for a run are left out.

    Raises:
        SamplesError: runs have few rows in common.
    """
    differences: list[Difference] = []
    rows = 0
    refused: list[SamplesError] = []
    for pair in combinations(runs, 2):
        first, second = (runs[run] for run in pair)
        try:
            of_pair, planned = _of_pair(pair, first, second, metrics or (), uncut=uncut)
        except SamplesError as err:
            refused.append(err)
            continue
        differences += of_pair
        # As `plan` counts them, before it is known which have a p-value.
        rows += planned
    if refused and not differences:
        raise refused[0]
    for reason in refused:
        _LOGGER.warning("left out: %s", reason)
    known = [difference.difference.p for difference in differences if difference.difference.p is not None]
    corrected = iter(holm(known, rows))
    return [
        replace(
            difference,
            corrected_p=None if difference.difference.p is None else next(corrected),
            detectable=difference.difference.detectable(rows),
        )
        for difference in differences
    ]


def _is_part(run: Path, other: Path) -> bool:
    """Tell whether a run is another one, or a file of it."""
    return other.resolve() in (run.resolve(), run.resolve().parent)


def _of_pair(
    runs: tuple[Path, Path], first: Run, second: Run, metrics: Sequence[str], *, uncut: bool
) -> tuple[list[Difference], int]:
    """Return the differences of two runs, of each task, then of the boards that both have; and how many were to be expected."""
    common = [task for task in first if task in second]
    saved = [] if metrics else list(_of_savings(runs, first, second, uncut=uncut))
    if not common and not saved:
        reason = f": {OTHER_FORMAT}" if _formats(first) != _formats(second) else ""
        raise SamplesError(
            f"{runs[0]} and {runs[1]} have no task in common ({', '.join(sorted(first))}; {', '.join(sorted(second))}){reason}"
        )
    pairs = {task: paired(task, first[task], second[task]) for task in common}
    if uncut:
        pairs = {
            task: [(x, y) for x, y in of_task if not (x.row.tokens_cut or y.row.tokens_cut)]
            for task, of_task in pairs.items()
        }
    if not any(pairs.values()) and not saved:
        raise SamplesError(f"{runs[0]} and {runs[1]} have no sample in common whose prompt neither of them cut")
    sizes = {task: (len(first[task]), len(second[task])) for task in common}
    # What is recalled ranks nobody; the shares that are kept are compared.
    levels = [task for task in common if metrics or not first[task][0].row.family.kept]
    differences = [
        difference for task in levels for difference in _of_task(runs, task, pairs[task], sizes[task], metrics)
    ]
    differences += saved
    differences += [] if metrics else _of_shares(runs, first, second, uncut=uncut)
    if not differences:
        # Of what is recalled, only shares are compared.
        usual = "by which models are ranked" if levels else f"of what is recalled: {_NO_SHARE}"
        raise SamplesError(f"{runs[0]} and {runs[1]} do not both have one of the scores {', '.join(metrics) or usual}")
    rows = {task: pairs[task][0][0].row for task in levels if pairs[task]}
    ranked = {task: row for task, row in rows.items() if not metrics or row.ranking.name in metrics}
    boards = {task: row.family.board for task, row in ranked.items()}
    planned = len(differences) - len(boards) + comparisons(boards)
    over_boards = (_of_board(runs, board, pairs, sizes, ranked) for board in BOARDS)
    return differences + [difference for difference in over_boards if difference], planned


def _of_task(
    runs: tuple[Path, Path],
    task: str,
    pairs: Sequence[tuple[Sample, Sample]],
    sizes: tuple[int, int],
    metrics: Sequence[str],
) -> Iterator[Difference]:
    for metric in dict.fromkeys(metrics or [x.row.ranking.name for x, _ in pairs]):
        both = [(x, y) for x, y in pairs if metric in x.scores and metric in y.scores]
        if both:
            gains = [y.scores[metric] - x.scores[metric] for x, y in both]
            over = intervals.difference(gains, [x.cluster for x, _ in both])
            a, b = fmean(x.scores[metric] for x, _ in both), fmean(y.scores[metric] for _, y in both)
            yield Difference(runs, task, metric, a, b, over, sizes)


def _formats(run: Run) -> set[bool | None]:
    """Return whether a run asked for likelihoods through a chat template."""
    return {sample.row.chat for of_task in run.values() for sample in of_task if sample.row.way == LIKELIHOOD}


def _of_shares(runs: tuple[Path, Path], first: Run, second: Run, *, uncut: bool) -> Iterator[Difference]:
    """Yield the differences between the shares that two runs keep of what they recall alone."""
    every = [
        [sample for of_task in run.values() for sample in of_task if not (uncut and sample.row.tokens_cut)]
        for run in (first, second)
    ]
    for name, a, b, over, sizes in share_differences(*every):
        yield Difference(runs, name, _SHARE_KEPT, a, b, over, sizes)


def _of_savings(runs: tuple[Path, Path], first: Run, second: Run, *, uncut: bool) -> Iterator[Difference]:
    """Yield the differences between what reading saved in both runs, for the headline contexts."""
    ours, theirs = (contexts_of([sample for of_task in run.values() for sample in of_task]) for run in (first, second))
    for task, sides in _saved_alike(ours, theirs):
        for pair in HEADLINE:
            stated = [side.keys() >= set(pair) and saving_of(task, pair, side) is not None for side in sides]
            name = f"{task}: {pair[1]} over {pair[0]}"
            difference = _of_saving(runs, name, pair, sides, uncut=uncut) if all(stated) else None
            if difference:
                yield difference


def _saved_alike(
    ours: Mapping[str, Contexts], theirs: Mapping[str, Contexts]
) -> Iterator[tuple[str, tuple[Contexts, Contexts]]]:
    """Yield the tasks that two runs asked, in the same format if both did, else one with a chat template and the other without it."""
    alike = {task: (mine, theirs[task]) for task, mine in ours.items() if task in theirs and _meet(mine, theirs[task])}
    yield from alike.items()
    stated = {_asked(mine) for mine, _ in alike.values()}
    for mine in ours.values():
        for side in theirs.values():
            if _asked(mine) == _asked(side) and _asked(mine) not in stated and _meet(mine, side):
                yield _asked(mine), (mine, side)


def _meet(mine: Contexts, side: Contexts) -> bool:
    """Tell whether both sides have the contexts of a headline saving."""
    return any(set(pair) <= mine.keys() & side.keys() for pair in HEADLINE)


def _asked(contexts: Contexts) -> str:
    """Return what a task is called in either format."""
    [of_context, *_] = contexts.values()
    return next(iter(of_context.values())).row.asked


def _of_saving(
    runs: tuple[Path, Path], name: str, pair: tuple[str, str], sides: tuple[Contexts, Contexts], *, uncut: bool
) -> Difference | None:
    """Return the difference between what two runs saved, over the rows that both have; None without any."""
    first, second = (_saved(side, pair) for side in sides)
    ids = [id_ for id_ in first if id_ in second]
    if uncut:
        ids = [id_ for id_ in ids if not any(side[context][id_].row.tokens_cut for side in sides for context in pair)]
    if not ids:
        return None
    a, b = (fmean(saved[id_] for id_ in ids) for saved in (first, second))
    clusters = [sides[0][pair[1]][id_].cluster for id_ in ids]
    over = intervals.difference([second[id_] - first[id_] for id_ in ids], clusters)
    return Difference(runs, name, "bits saved per byte", a, b, over, (len(first), len(second)))


def _saved(contexts: Contexts, pair: tuple[str, str]) -> dict[str, float]:
    less, more = (contexts[name] for name in pair)
    metric = next(iter(less.values())).row.ranking.name
    return {id_: less[id_].scores[metric] - more[id_].scores[metric] for id_ in less if id_ in more}


def _of_board(
    runs: tuple[Path, Path],
    board: Board,
    pairs: Mapping[str, Sequence[tuple[Sample, Sample]]],
    sizes: Mapping[str, tuple[int, int]],
    rows: Mapping[str, PromptRow],
) -> Difference | None:
    """Return the difference over what a board counts of the tasks that both runs have, between floor, 0, and a perfect score, 1.

    Args:
        sizes: task -> samples of each run, of which some may be in no pair.
        rows: one of each task that is compared by what models are ranked by.
    """
    ranked = {task: row.ranking.name for task, row in rows.items() if row.family.board == board}
    names = counted(list(ranked), board)
    scored_tasks: list[tuple[PlacedTask, PlacedTask]] = []
    for task in names:
        scored = [pair for pair in pairs[task] if all(ranked[task] in sample.scores for sample in pair)]
        both = [_placed_task(task, [pair[side] for pair in scored], ranked[task]) for side in (0, 1)]
        if both[0] and both[1]:
            scored_tasks.append((both[0], both[1]))
    if len(scored_tasks) < 2:
        return None
    first, second = (placed.by_task(pair[side] for pair in scored_tasks) for side in (0, 1))
    over = placed.difference_over(second, first)
    a = fmean(fmean(task.mean() for task in of_task) for of_task in first)
    of_board = (sum(sizes[task][0] for task in names), sum(sizes[task][1] for task in names))
    scores = " and ".join(dict.fromkeys(ranked[pair[0].setting] for pair in scored_tasks))
    name = f"{board.title()} board: {', '.join(pair[0].setting for pair in scored_tasks)}"
    return Difference(runs, name, scores, a, a + over.mean, over, of_board, of_board=True)


def _placed_task(task: str, samples: Sequence[Sample], metric: str) -> PlacedTask | None:
    columns = columns_of(samples)
    return (
        placed.place_task(task, samples[0].row.task, columns.get(metric), zero_of(metric, columns)) if samples else None
    )


def without_difference(
    runs: Collection[Run],
    differences: Sequence[Difference],
    metrics: Sequence[str] | None = None,
    *,
    uncut: bool = False,
) -> Iterator[str]:
    """Yield the scores of tasks that runs have in common and of which there is no difference. Arguments as for `compare`."""
    compared = Counter((difference.task, difference.metric) for difference in differences)
    tasks = Counter(task for run in runs for task in run)
    whole = " and was shown its whole prompt in both" * uncut
    recalled = []
    for task, count in [(task, count) for task, count in tasks.items() if count > 1]:
        row = next(run[task][0].row for run in runs if task in run)
        if row.family.kept and not metrics and row.setting in row.family.kept.sizes:
            recalled.append(row.name)
        usual = () if row.family.kept else (row.ranking.name,)
        for metric in metrics or usual:
            found, pairs = compared[task, metric], math.comb(count, 2)
            if found < pairs:
                which = f" of {pairs - found} of the {pairs} pairs" * (found > 0)
                yield f"left out: {metric} of {task}, which no sample has in both runs{which}{whole}"
    unstated = [name for name in recalled if not compared[name, _SHARE_KEPT]]
    if unstated:
        yield f"left out: the share kept at {', '.join(unstated)}; {_NO_SHARE}"


def left_out(runs: Collection[Run]) -> Iterator[str]:
    """Yield the tasks that only some of the runs have, and the rows in which the revisions of their datasets differ."""
    yield from (f"{task}: {OTHER_FORMAT}" for task in _in_other_formats(runs))
    for task in sorted({task for run in runs for task in run}):
        of_task = [run[task] for run in runs if task in run]
        if len(of_task) == 1:
            yield f"left out: {task}, which only one of the runs has"
        elif len(of_task) < len(runs):
            yield f"{task}: only {len(of_task)} of the {len(runs)} runs have it"
        row = of_task[0][0].row
        if len(of_task) > 1 and _may_be_core(row):
            yield f"{task}: counts on the board of a round that has enough masks, and on none here"
        if len({_is_summed(of_run) for of_run in of_task}) > 1:
            yield f"{task}: one of the runs has lm-eval's own sums, which count the empty line before the text too"
        said = dict.fromkeys(revisions_apart(first, second) for first, second in combinations(of_task, 2))
        yield from (f"{task}: {apart}" for apart in said if apart)


def _may_be_core(row: PromptRow) -> bool:
    """Tell whether a round with enough masks counts a configuration, which its manifest says."""
    return not row.shown and any(entry.masks and entry.configuration == row.name for entry in row.family.core)


def _is_summed(samples: Sequence[Sample]) -> bool:
    """Tell whether of a model's bits for texts no more than lm-eval's sums are known; a program has no tokenizer."""
    of_bits = [sample for sample in samples if is_lower_better(sample.row.ranking.name) and sample.row.tokenizer]
    known = [each for sample in of_bits for each in sample.likelihoods]
    return bool(known) and all(len(each.counts) < 2 for each in known)


def _in_other_formats(runs: Collection[Run]) -> list[str]:
    """Return the tasks whose bits two runs have for the same context, one through a chat template and the other without one."""
    found: set[str] = set()
    for first, second in combinations([_formats_of(run) for run in runs], 2):
        both = first.keys() & second.keys()
        found |= {asked for asked, shown in both if first[asked, shown].isdisjoint(second[asked, shown])}
    return sorted(found)


def _formats_of(run: Run) -> dict[tuple[str, str], set[bool]]:
    """Task by likelihood and context -> whether a run asked for its bits through a chat template."""
    formats: dict[tuple[str, str], set[bool]] = {}
    for row in (of_task[0].row for of_task in run.values()):
        if row.way == LIKELIHOOD and row.chat is not None and is_lower_better(row.ranking.name):
            formats.setdefault((row.asked, row.shown), set()).add(row.chat)
    return formats


def table(differences: Sequence[Difference], names: Mapping[Path, str]) -> Table:
    """Return the differences of two runs, a row for each, with what each run is called."""
    first, second = (names[run] for run in differences[0].runs)
    beside = ("First authors", "p", "Detectable")
    columns = [
        f"{name} (run)" if name in ("Task", "Score", "n", "p (Holm)", *beside) else name for name in (first, second)
    ]
    main = ("Task", "Score", "n", *columns, f"{second} - {first} [95%]", "p (Holm)")
    return Table((*main, *beside), "llrrrrrrrr", [_row(row) for row in differences], main=main)


def names_of(runs: Sequence[Path]) -> dict[Path, str]:
    """Run -> what tells it from the others: its file or folder, or the nearest folder around it whose name is its own; else its path."""
    # A folder called by the time of its run says nothing, and is not there in each.
    told = [[part for part in reversed(run.resolve().parts) if not is_time(part)] for run in runs]
    levels = [*zip(*told, strict=False), *zip(*(reversed(run.resolve().parts) for run in runs), strict=False)]
    own = [names for names in levels if len(set(names)) == len(runs)]
    return dict(zip(runs, own[0] if own else map(str, runs), strict=True))


def _row(difference: Difference) -> tuple[object, ...]:
    interval, (ours, theirs) = difference.difference, difference.sizes
    n = interval.samples
    return (
        difference.task,
        f"{difference.metric}{LOWER * is_lower_better(difference.metric)}",
        # And of how many of each run, if some are not compared.
        str(n) if ours == theirs == n else f"{n} of {ours} and {theirs}",
        f"{difference.a:.4f}",
        f"{difference.b:.4f}",
        with_bounds(interval.mean, interval.low, interval.high, "+.4f"),
        _p(difference.corrected_p),
        interval.clusters,
        _p(interval.p),
        _p(difference.detectable),
    )


def _p(value: float | None) -> str:
    if value is None:
        return "-"
    return "<0.0001" if 0 <= value < 0.0001 else f"{value:.4f}"


# --- two runs of one model, stage by stage: an installation checked against another one


def answered_as(runs: Sequence[Path]) -> list[str]:
    """Return a sentence for each run whose server answered as several models."""
    blocks = {run: only_result(run).block for run in runs if len(newest_results(run)) == 1}
    served = {run: block.usage.served for run, block in blocks.items() if block and len(block.usage.served) > 1}
    return [f"{run} was answered by several models: {', '.join(sorted(names))}" for run, names in served.items()]


def other_splits(runs: Sequence[Path]) -> Iterator[str]:
    """Yield a sentence for each run over another split than the test papers."""
    for run in runs:
        for file in newest_results(run):
            split = read_results(file).split
            if split != TEST:
                yield f"{run} is over the split {split!r}, not over the test papers"


def agreement(runs: Mapping[Path, Run]) -> Iterator[str]:
    """Count, for two runs of one model, how many rows of each task agree at each stage, so that the first that differs is seen;
    else nothing.
    """
    if len(runs) != 2 or not all(len(newest_results(run)) == 1 for run in runs):
        return
    first, second = map(only_result, runs)
    if first.model != second.model:
        return
    yield f"Both runs are of {first.model}{_made_otherwise(first, second)}."
    mine, theirs = runs.values()
    for task in [task for task in mine if task in theirs]:
        pairs = paired(task, mine[task], theirs[task])
        equal = (f"{name} {_equal(of, pairs)}" for name, of in _STAGES.items())
        yield f"{task}: of {len(pairs)} rows, equal are {', '.join(equal)}"


def _equal(of: Callable[[Sample], object], pairs: Sequence[tuple[Sample, Sample]]) -> str:
    """Return how many pairs agree at a stage; "-" if a run does not know it."""
    stages = [(of(x), of(y)) for x, y in pairs]
    is_known = all(any(side) for side in zip(*stages, strict=True))
    return str(sum(x == y for x, y in stages)) if is_known else "-"


def _made_otherwise(first: Results, second: Results) -> str:
    """Say what made their answers and is not the same."""
    blocks = [each.block for each in (first, second) if each.block and each.block.made_with.versions]
    if len(blocks) < 2:
        return ""
    made = [
        {"weights": dict(block.run.weights), "chat template": block.made_with.chat_template, **block.made_with.versions}
        for block in blocks
    ]
    names = [name for name in made[0].keys() | made[1].keys() if made[0].get(name) != made[1].get(name)]
    return f", but what made the answers differs: {', '.join(sorted(names))}" if names else ""
