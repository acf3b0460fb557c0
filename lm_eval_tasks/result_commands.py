"""The commands that read results: show, compare, judge. Arguments, one call, lines to show; what a command needs is imported when it is
called.
"""

from argparse import Namespace
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from lm_eval_tasks.base.command_line import READ, Commands, above_zero, check_there, positive
from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.base.tables import Table
from lm_eval_tasks.evaluation_commands import add_means, means_of


def register(commands: Commands) -> None:
    """Add the commands."""
    sub = commands.add(READ, "show", "the scores of a run again, with what it was and what it cost", show)
    sub.add_argument(
        "runs", type=Path, nargs="+", metavar="RUN", help="output folders of runs, or their files of results"
    )
    sub = commands.add(READ, "compare", "paired differences between runs over the same rows", compare)
    sub.add_argument(
        "runs",
        type=Path,
        nargs="+",
        metavar="RUN",
        help="samples_*.jsonl of a run, or a folder of them; two or more runs",
    )
    sub.add_argument("--metrics", help="comma-separated scores (default: the headline ones)")
    sub.add_argument("--uncut", action="store_true", help="only over samples whose prompts no run had to cut")
    sub = commands.add(
        READ, "judge", "let a language model compare generated texts with their references, in both orders", judge
    )
    sub.add_argument(
        "samples",
        type=Path,
        nargs="+",
        metavar="SAMPLES",
        help="samples_*.jsonl of one run, or its folder; two folders: one model against the other",
    )
    sub.add_argument(
        "--model", help="the judge, e.g. gpt-4o-mini (default with --base-url: the paper's, Mixtral-8x22B)"
    )
    sub.add_argument("--base-url", help="an OpenAI-compatible server (default: the OpenAI API)")
    sub.add_argument("--name", help="name of the model that generated the texts (default: the folder's name)")
    sub.add_argument("--concurrency", type=positive, default=16, help="requests at a time (default: 16)")
    sub.add_argument(
        "--timeout", type=above_zero, default=600.0, help="seconds that one request may take in total (default: 600)"
    )
    sub.add_argument(
        "--evidence",
        type=positive,
        metavar="K",
        help="show the judge, for each sentence, K passages of the paper's body",
    )
    sub.add_argument("--limit", type=positive, metavar="N", help="judge only the first N samples of each task")
    sub.add_argument("--output", type=Path, default=Path("judged"), help="folder for verdicts and win rates")
    add_means(sub)
    sub.add_argument("--dry-run", action="store_true", help="show what would be asked, without asking")


# --- what the commands do


def show(arguments: Namespace) -> Iterator[str | Table]:
    check_there(*arguments.runs)
    from lm_eval_tasks.samples.results import read_results
    from lm_eval_tasks.samples.run_folder import only_result
    from lm_eval_tasks.stats.facts import facts_table
    from lm_eval_tasks.stats.opened import shown_run

    for i, run in enumerate(arguments.runs):
        results = read_results(run) if run.is_file() else only_result(run)
        if i:
            yield ""
        scores = list(shown_run(results))
        yield facts_table(results)
        yield from ("", *scores)


def compare(arguments: Namespace) -> Iterator[str | Table]:
    check_there(*arguments.runs)
    if len(arguments.runs) < 2:
        raise EvalError(f"{arguments.runs[0]} has nothing to be compared with: give the runs of two models or more")
    from lm_eval_tasks.families.registry import check_names

    check_names(arguments.metrics.split(",") if arguments.metrics else ())
    from lm_eval_tasks.base.intervals import NO_INTERVAL
    from lm_eval_tasks.stats.compare import (
        agreement,
        answered_as,
        compare,
        left_out,
        names_of,
        other_splits,
        runs_of,
        table,
        without_difference,
    )

    metrics = arguments.metrics.split(",") if arguments.metrics else None
    runs = runs_of(arguments.runs)
    differences = compare(runs, metrics, uncut=arguments.uncut)
    names = names_of(arguments.runs)
    for _, pair in groupby(differences, key=lambda difference: difference.runs):
        yield table(list(pair), names)
    yield from left_out(runs.values())
    yield from without_difference(runs.values(), differences, metrics, uncut=arguments.uncut)
    if any(difference.of_board for difference in differences):
        yield from ("", "Boards: 1 is a perfect score, 0 the floor.")
    if any(difference.difference.bounds is None for difference in differences):
        yield from ("", NO_INTERVAL)
    yield from answered_as(arguments.runs)
    yield from other_splits(arguments.runs)
    same = list(agreement(runs))
    if same:
        yield from ("", *same)


def judge(arguments: Namespace) -> Iterator[str | Table]:
    check_there(*arguments.samples, arguments.prices)
    if not arguments.model and not arguments.base_url and not arguments.dry_run:
        raise EvalError(
            "name a judge: --model gpt-4o-mini for the OpenAI API, or --base-url of a server that has the paper's, Mixtral-8x22B"
        )
    from lm_eval_tasks.judge import run
    from lm_eval_tasks.judge.win_rates import table
    from lm_eval_tasks.llm.chat import Server
    from lm_eval_tasks.samples.sample import by_task
    from lm_eval_tasks.stats.compare import names_of

    model = arguments.model or run.DEFAULT_JUDGE
    # Two folders are two runs, of which each is to be compared with the other.
    runs = len(arguments.samples) == 2 and all(map(Path.is_dir, arguments.samples))
    paths, other = (arguments.samples[:1], arguments.samples[1]) if runs else (arguments.samples, None)
    samples = run.load(paths)
    named = names_of(arguments.samples) if other else {}
    if other:
        count, theirs = len(samples), run.load([other])
        samples = run.against(samples, theirs)
        yield f"{paths[0]} against {other}: {len(samples)} samples in both, of {count} and {len(theirs)}"
    samples = [sample for of_task in by_task(samples).values() for sample in of_task[: arguments.limit]]
    passages = {}
    if arguments.evidence:
        from lm_eval_tasks.judge.evidence import passages_for

        passages = passages_for(paths, samples, arguments.evidence)
    judging = run.Judging(
        samples=samples,
        server=Server(model, arguments.base_url, arguments.timeout),
        means=means_of(arguments, model),
        name=arguments.name or named.get(paths[0]) or _folder_of(paths[0]).resolve().name,
        output=arguments.output,
        concurrency=arguments.concurrency,
        evidence=arguments.evidence,
        passages=passages,
        against=named[other] if other else "",
    )
    requests, expected = run.estimate(judging)
    cost = judging.means.cost([expected])
    price = "" if cost is None else f", {cost:.2f} at the given prices"
    yield (
        f"{len(samples)} samples, {requests} requests that have no verdict yet, about {expected.tokens_in} prompt "
        f"tokens and {expected.tokens_out} answer tokens{price}"
    )
    if arguments.dry_run:
        return
    yield table(run.judge(judging))
    yield f"\nwritten: {arguments.output}"


def _folder_of(path: Path) -> Path:
    return path if path.is_dir() else path.parent
