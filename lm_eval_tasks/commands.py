"""The commands that evaluate models: arguments, one call, lines to show.

What a command needs is imported when it is called.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_tasks.core.command_line import (
    EVALUATE,
    READ,
    add_engine,
    amount,
    check_there,
    json_object,
    part,
    positive,
    seconds,
)
from lm_eval_tasks.core.errors import EvalError

if TYPE_CHECKING:
    from lm_eval_tasks.core.command_line import Commands
    from lm_eval_tasks.core.tables import Json, Table
    from lm_eval_tasks.llm.budget import Means
    from lm_eval_tasks.study.eyesight import ReportCard
    from lm_eval_tasks.study.report_card import Candidate

_WRITING = {"title": "title", "abs": "abstract", "intro": "introduction", "related": "related work"}
EXPORTS = ("prompts", "openai-batch", "inspect")
_PRICES = "TOML: for each model `input` and `output`, the prices per million tokens"


def register(commands: Commands) -> None:
    """Add the commands."""
    help_ = "evaluate a baseline (lead, copy-demo, random-sentence) or an lm-eval model"
    sub = commands.add(EVALUATE, "eval", help_, evaluate)
    _add_evaluation(sub)
    sub = commands.add(EVALUATE, "plan", "what an evaluation will take: samples, tokens, memory, hours, money", plan)
    _add_asked(sub)
    sub.add_argument("--prices", type=Path, metavar="FILE", help=_PRICES)
    sub.add_argument("--limit", type=part, help="as for eval")
    sub.add_argument("--repeats", type=positive, default=1, help="as for eval")
    sub.add_argument(
        "--detect",
        type=amount,
        metavar="POINTS",
        help="say how many papers it takes to show a difference of this many points (of 100)",
    )
    help_ = "runs of two models that show how much their differences vary from paper to paper, for --detect"
    sub.add_argument("--like", type=Path, nargs=2, metavar=("A", "B"), help=help_)
    sub.add_argument(
        "--tokens-per-second", type=seconds, help="of prompts and answers together, to estimate how long it takes"
    )
    sub = commands.add(EVALUATE, "merge", "merge the shards of a run (eval --shard) into one run", merge)
    sub.add_argument("shards", type=Path, nargs="+", metavar="SHARD", help="output folders of all shards")
    sub.add_argument("--output", type=Path, required=True, help="folder for the whole run")
    _add_export(commands)
    sub = commands.add(EVALUATE, "compare", "paired differences between two runs of the same round", compare)
    sub.add_argument("a", type=Path, metavar="A", help="samples_*.jsonl of a run, or a folder of them")
    sub.add_argument("b", type=Path, metavar="B")
    sub.add_argument("--metrics", help="comma-separated scores (default: the headline ones)")
    help_ = "do models score higher on papers that they may have seen in training?"
    sub = commands.add(READ, "contamination", help_, contamination)
    sub.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="output folders of runs of several models")
    help_ = "up to which month a model was trained; may be repeated (default: from the run, the registry or its card)"
    sub.add_argument("--cutoff", action="append", default=[], metavar="MODEL=YYYY-MM", help=help_)
    sub.add_argument("--metric", default="rouge_l", help="default: rouge_l")
    sub = commands.add(READ, "link-rounds", "scores of later rounds on the scale of the first", link_rounds)
    help_ = "for each round, the oldest first, the folder that contains its runs"
    sub.add_argument("rounds", type=Path, nargs="+", metavar="ROUND_RUNS", help=help_)
    help_ = "comma-separated models that were run on every round (default: five small open models)"
    sub.add_argument("--anchors", help=help_)
    sub.add_argument("--metric", default="", help="default: the first headline metric of each task")
    help_ = "show what metrics notice: their report card over texts that are damaged on purpose"
    sub = commands.add(READ, "metrics", help_, metrics)
    sub.add_argument("source", type=Path, metavar="FOLDER", help="a dataset folder, or the output folder of a run")
    sub.add_argument(
        "--task", choices=("abs", "title", "intro"), default="abs", help="of a dataset: what is written (default: abs)"
    )
    sub.add_argument("--metrics", help="comma-separated (default: all)")
    sub.add_argument("--bertscore_model", default="minilm", help="default: minilm; none leaves BERTScore out")
    help_ = "of a dataset: damage the authors' own first versions, in place of other human texts"
    sub.add_argument("--revisions", action="store_true", help=help_)
    sub.add_argument("--limit", type=positive, help="at most this many texts")
    sub.add_argument("--judge", metavar="MODEL", help="measure this judge too: original against damaged text")
    sub.add_argument("--base-url", help="the judge's OpenAI-compatible server (default: the OpenAI API)")
    sub.add_argument("--evidence", type=positive, metavar="K", help="as of judge")
    sub.add_argument("--concurrency", type=positive, default=16, help="requests at a time (default: 16)")
    sub.add_argument("--verdicts", type=Path, default=Path("judged"), help="folder for the judge's verdicts")
    sub.add_argument(
        "--output", type=Path, metavar="FILE", help="write the report card as JSON too; `academiceval report` shows it"
    )
    help_ = "let a language model compare generated texts with their references, in both orders"
    _add_judging(commands.add(EVALUATE, "judge", help_, judge))
    commands.add(EVALUATE, "tasks-path", "print the folder for lm_eval --include_path", tasks_path)
    help_ = "let the bare `lm_eval --tasks academiceval_abs` find the tasks"
    commands.add(EVALUATE, "link-tasks", help_, link_tasks).add_argument(
        "--unlink", action="store_true", help="undo it"
    )


def _add_asked(sub: ArgumentParser) -> None:
    """The options that `eval` and `plan` have in common."""
    sub.add_argument("--model_args", default="", help="lm-eval's key=value,...")
    help_ = "comma-separated task or group names; `eval --tasks list` prints them"
    sub.add_argument("--tasks", default="", help=help_).completer = _tasks_so_far  # type: ignore[attr-defined]
    sub.add_argument(
        "--metadata", default="{}", help='JSON, e.g. \'{"dataset": "academiceval", "bertscore_model": "none"}\''
    )


def _usual_models(**_: object) -> tuple[str, ...]:
    """What the shell may complete a model to."""
    from lm_eval_tasks.evaluate.generation import MODELS

    return MODELS


def _tasks_so_far(prefix: str, **_: object) -> list[str]:
    """What the shell may complete a list of tasks to."""
    from lm_eval_tasks.task_folder import task_names

    before = prefix.rpartition(",")[0]
    return [f"{before},{name}" if before else name for name in task_names()]


def _add_evaluation(sub: ArgumentParser) -> None:
    sub.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="YAML with these options, as lm-eval's; options given here override it",
    )
    help_ = "a baseline, or a model type of lm-eval such as hf or vllm"
    sub.add_argument("--model", default="", help=help_).completer = _usual_models  # type: ignore[attr-defined]
    _add_asked(sub)
    sub.add_argument("--limit", type=part, help="at most this many samples of each task, or below 1 that share of them")
    sub.add_argument("--samples", help="JSON: task -> places of its samples, e.g. '{\"academiceval_abs_9k\": [0, 1]}'")
    sub.add_argument(
        "--shard", metavar="I/N", help="only this part of the samples; `academiceval merge` combines the parts"
    )
    sub.add_argument(
        "--repeats", type=positive, default=1, help="answers for each prompt, for a model that samples (default: 1)"
    )
    sub.add_argument(
        "--output", type=Path, default=Path("results"), help="folder for results, samples and the journal of answers, from which "
        "the same command resumes after a kill (default: ./results)",
    )  # fmt: skip
    sub.add_argument("--batch_size", default="1", help="lm-eval's (default: 1)")
    sub.add_argument("--device", help="lm-eval's, e.g. cuda:0 or cpu")
    sub.add_argument("--apply_chat_template", action="store_true", help="as lm-eval's")
    sub.add_argument("--system_instruction", help="a system prompt")
    sub.add_argument("--gen_kwargs", default="", help="lm-eval's key=value,... instead of the tasks'")
    sub.add_argument("--seed", default="", help="lm-eval's: one number, or four separated by commas")
    _add_means(sub)
    add_engine(sub, "where BERTScore and retrieval are computed: ")


def _add_means(sub: ArgumentParser) -> None:
    sub.add_argument("--prices", type=Path, metavar="FILE", help=_PRICES)
    sub.add_argument(
        "--max-cost",
        type=amount,
        help="stop before the answers in the output folder could cost more than this in total",
    )
    sub.add_argument(
        "--batch", action="store_true", help="ask the server through its batch API, usually for half the price"
    )


def _add_export(commands: Commands) -> None:
    sub = commands.add(
        EVALUATE,
        "export",
        "write a setting's prompts as JSON lines, cut to a model, for other tools",
        export,
        shows_tables=False,
    )
    sub.add_argument("dataset", metavar="DATASET", help="folder or Hub id")
    sub.add_argument("--setting", required=True, help="a configuration of the dataset, such as Abs-9K")
    sub.add_argument("--format", choices=EXPORTS, default=EXPORTS[0], help=f"default: {EXPORTS[0]}")
    sub.add_argument(
        "--model_args", default="", help="lm-eval's; tokenizer=...,max_length=... determines how prompts are cut"
    )
    sub.add_argument("--metadata", default="{}", help="JSON, as for `academiceval eval`")
    sub.add_argument("--output", type=Path, help="default: ./SETTING.FORMAT.jsonl")


def _add_judging(sub: ArgumentParser) -> None:
    help_ = "samples_*.jsonl of one run, or its folder; two folders: one model against the other"
    sub.add_argument("samples", type=Path, nargs="+", metavar="SAMPLES", help=help_)
    sub.add_argument(
        "--model", nargs="+", help="judges, e.g. gpt-4o-mini (default with --base-url: the paper's, Mixtral-8x22B)"
    )
    sub.add_argument("--base-url", help="an OpenAI-compatible server (default: the OpenAI API)")
    sub.add_argument("--name", help="name of the model that generated the texts (default: the folder's name)")
    sub.add_argument("--concurrency", type=positive, default=16, help="requests at a time (default: 16)")
    sub.add_argument(
        "--timeout", type=seconds, default=600.0, help="seconds that one request may take in total (default: 600)"
    )
    help_ = "show the judge, for each sentence, K passages of the paper's body, and have claims checked against them"
    sub.add_argument("--evidence", type=positive, metavar="K", help=help_)
    sub.add_argument("--output", type=Path, default=Path("judged"), help="folder for verdicts and win rates")
    _add_means(sub)
    sub.add_argument("--dry-run", action="store_true", help="show what would be asked, without asking")


# --- what the commands do


def evaluate(arguments: Namespace) -> Iterator[str | Table]:
    from lm_eval_tasks.task_folder import task_names

    if arguments.tasks == "list":
        yield from task_names()
        return
    given = _with_file(arguments)
    metadata, samples = _metadata(given), json_object("--samples", given.samples) if given.samples is not None else None
    _check_asked(given.tasks.split(","), metadata, samples or ())
    from lm_eval_tasks.evaluate.generation import Generation, check_model

    check_model(given.model)
    check_there(given.prices)
    generation = Generation(
        given.batch_size, given.device, given.apply_chat_template, given.system_instruction, given.gen_kwargs, given.seed, given.repeats,
    )  # fmt: skip
    from lm_eval_tasks.engines.registry import open_engine, working_with
    from lm_eval_tasks.evaluate import run as running
    from lm_eval_tasks.evaluate.models import label_of
    from lm_eval_tasks.stats.score_table import score_table

    means = _means(given, label_of(given.model, _parsed(given.model_args), whole=True))
    with open_engine(given.engine) as engine, working_with(engine):
        scores = running.evaluate(
            given.model, given.model_args, given.tasks.split(","), metadata, running.Part(given.limit, samples), given.output,
            generation, means,
        )  # fmt: skip
    yield from score_table(scores)
    yield f"\nwritten: {given.output}"


def _metadata(given: Namespace) -> dict[str, Any]:
    """What the tasks receive."""
    return json_object("--metadata", given.metadata) | ({"shard": given.shard} if given.shard else {})


def plan(arguments: Namespace) -> Iterator[str | Table]:
    if arguments.detect:
        yield from _detect(arguments)
        if not arguments.tasks:
            return
    metadata = json_object("--metadata", arguments.metadata)
    _check_asked(arguments.tasks.split(","), metadata)
    from lm_eval_tasks.evaluate import plan as planning
    from lm_eval_tasks.evaluate.models import label_of

    price = _means(arguments, label_of("", _parsed(arguments.model_args), whole=True)).price
    planned = planning.plan(
        arguments.model_args, arguments.tasks.split(","), metadata, arguments.limit, arguments.repeats
    )
    yield planning.table(planned)
    yield ""
    yield from planning.sentences(planned, arguments.model_args, price, arguments.tokens_per_second)


def _detect(arguments: Namespace) -> Iterator[str]:
    """How many papers it takes to see a difference."""
    from lm_eval_tasks.core.power import SPREADS
    from lm_eval_tasks.evaluate.plan import papers_to_detect
    from lm_eval_tasks.stats.compare import spreads

    if not arguments.like:
        needed = ", ".join(
            f"{papers_to_detect(arguments.detect, SPREADS[task])} papers ({label})" for task, label in _WRITING.items()
        )
        yield (
            f"A difference of {arguments.detect:g} points of ROUGE-L takes {needed} to show, if two models' differences vary "
            "from paper to paper as they do on real ones; --like A B uses the differences of two runs"
        )
        return
    for (task, metric), spread in spreads(*arguments.like).items():
        papers = papers_to_detect(arguments.detect, spread)
        yield (
            f"{task}, {metric}: a difference of {arguments.detect:g} points takes {papers} papers to show (differences vary "
            f"by {spread:.4f})"
        )


def merge(arguments: Namespace) -> Iterator[str | Table]:
    check_there(*arguments.shards)
    from lm_eval_tasks.evaluate.merge import merge
    from lm_eval_tasks.stats.score_table import score_table

    yield from score_table(merge(arguments.shards, arguments.output))
    yield f"\nwritten: {arguments.output}"


def export(arguments: Namespace) -> Iterator[str | Table]:
    from lm_eval_tasks.core.metadata import check, check_dataset

    metadata = {"dataset": arguments.dataset, **json_object("--metadata", arguments.metadata)}
    check(metadata)
    check_dataset(str(metadata["dataset"]), arguments.setting)
    from lm_eval_tasks.evaluate.export import export

    output = arguments.output or Path(f"{arguments.setting}.{arguments.format}.jsonl")
    count = export(arguments.setting, arguments.format, arguments.model_args, metadata, output)
    yield f"{count} prompts written to {output}"


def _with_file(arguments: Namespace) -> Namespace:
    from lm_eval_tasks.evaluate.config_file import completed

    return completed(arguments, arguments.parser) if arguments.config else arguments


def _check_asked(tasks: Sequence[str], metadata: Mapping[str, Any], samples: Iterable[str] = ()) -> None:
    """Raise an EvalError for a typing mistake, before anything large is imported.

    Args:
        samples: the tasks of which only some samples are asked for.
    """
    from lm_eval_tasks.core.metadata import check, check_dataset, dataset_of
    from lm_eval_tasks.task_folder import check_tasks

    if not any(tasks):
        raise EvalError("name the tasks with --tasks; `academiceval eval --tasks list` prints them")
    check_tasks(tasks)
    check_tasks(samples, "--samples")
    check(metadata)
    check_dataset(dataset_of(metadata), metadata.get("config"))


def _check_metrics(names: str | None) -> None:
    """Raise a MetricError for a metric that does not exist; likewise."""
    from lm_eval_tasks.metrics.registry import check_names

    check_names(names.split(",") if names else ())


def _parsed(model_args: str) -> dict[str, Any]:
    from lm_eval_tasks.compat.lm_eval import parse_args

    return parse_args(model_args)


def _means(arguments: Namespace, model: str) -> Means:
    """What a run may use, by its options.

    Args:
        model: its name in the price table.
    """
    from lm_eval_tasks.llm.budget import Means
    from lm_eval_tasks.llm.usage import read_price

    price = read_price(arguments.prices, model) if arguments.prices else None
    return Means(price, getattr(arguments, "max_cost", None), getattr(arguments, "batch", False))


def compare(arguments: Namespace) -> Iterator[str | Table]:
    check_there(arguments.a, arguments.b)
    _check_metrics(arguments.metrics)
    from lm_eval_tasks.core.power import FEWEST
    from lm_eval_tasks.stats.compare import compare, table, tasks_apart

    metrics = arguments.metrics.split(",") if arguments.metrics else None
    differences = compare(arguments.a, arguments.b, metrics)
    yield table(differences, arguments.a, arguments.b)
    yield from (f"left out: {task}, which only one of the runs has" for task in tasks_apart(arguments.a, arguments.b))
    if any(one.difference.bounds is None for one in differences):
        yield from ("", f"If interval and p are missing, the papers have fewer than {FEWEST} first authors.")


def contamination(arguments: Namespace) -> Iterator[str | Table]:
    check_there(*arguments.runs)
    _check_metrics(arguments.metric)
    from lm_eval_tasks.study import contamination as estimating
    from lm_eval_tasks.study.models_of_runs import read_runs

    runs, cutoffs = read_runs(arguments.runs, arguments.cutoff)
    given = estimating.observations(runs, cutoffs, arguments.metric)
    found = estimating.effects(given)
    yield estimating.table(found)
    yield from ("", *(f"{one.what}: not known, because {one.why}" for one in found if one.why))
    if any(one.value is not None and one.papers < 50 for one in found):
        yield "Fewer than 50 papers are informative: read these estimates with care."
    yield "Mean scores by months since the model's cut-off, with the papers' difficulty removed (number of samples):"
    yield ""
    yield estimating.age_table(given)


def link_rounds(arguments: Namespace) -> Iterator[str | Table]:
    check_there(*arguments.rounds)
    _check_metrics(arguments.metric)
    from lm_eval_tasks.study import linking
    from lm_eval_tasks.study.models_of_runs import read_rounds

    anchors = linking.anchors_of(arguments.anchors)
    linked, links = linking.link(read_rounds(arguments.rounds), anchors, arguments.metric)
    yield linking.table(linked)
    yield ""
    for one in links:
        way = "higher" if one.shift >= 0 else "lower"
        yield f"{one.round}, {one.task}: {one.anchors} anchors score {abs(one.shift):.4f} {way} than in the first round"
        yield from (
            f"  {model} moved differently from the other anchors: leave it out with --anchors" for model in one.changed
        )


def metrics(arguments: Namespace) -> Iterator[str | Table | Json]:
    check_there(arguments.source)
    from lm_eval_tasks.core.metadata import check
    from lm_eval_tasks.metrics import registry

    every = {one.name: one for one in registry.of_texts()}
    names = arguments.metrics.split(",") if arguments.metrics else list(every)
    registry.check_names(names, list(every.values()))
    check({"bertscore_model": arguments.bertscore_model})
    import json

    from lm_eval_tasks.core.files import write_whole
    from lm_eval_tasks.core.row_format import MANIFEST
    from lm_eval_tasks.core.tables import Json
    from lm_eval_tasks.study import candidates, eyesight, report_card

    if arguments.judge in every:
        raise EvalError(f"a judge cannot be called {arguments.judge!r}, which is a metric")
    is_run = not (arguments.source / MANIFEST).is_file()
    if is_run:
        found = candidates.answers_of(arguments.source, arguments.bertscore_model)
    else:
        texts = candidates.first_versions if arguments.revisions else candidates.human_texts
        found = texts(str(arguments.source), arguments.task, arguments.bertscore_model, {})
    found = found[: arguments.limit]
    # The judge first: a server that does not answer is noticed before the metrics take their minutes.
    judges = (_judges_card(arguments, found),) if arguments.judge else ()
    card = eyesight.ReportCard.together((report_card.measure(found, [every[name] for name in names]), *judges))
    if arguments.output:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        write_whole(arguments.output, json.dumps(card.to_json(), indent=1))
    if arguments.show == "json":
        yield Json(card.to_json())
        return
    yield eyesight.table(card)
    if is_run:
        yield from _agreement(arguments.source, names)
    yield (
        f"\nShare of {len(found)} texts in which the damaged one scores worse; 0.5 is chance, and below {eyesight.BLIND} a "
        "headline metric is called blind."
    )


def _agreement(run: Path, names: list[str]) -> Iterator[str | Table]:
    """How far metrics agree over a run's answers, as far as they vary."""
    from lm_eval_tasks.samples import logged
    from lm_eval_tasks.stats import correlations

    if agreement := correlations.correlations(logged.read([run]), names):
        yield from ("", "How far the metrics agree, over the run's answers:", "", correlations.table(agreement))


def _judges_card(arguments: Namespace, found: list[Candidate]) -> ReportCard:
    """The report card of a judge; its verdicts are kept, so that the same command resumes."""
    from lm_eval_tasks.core.journal import Journal
    from lm_eval_tasks.core.locks import held
    from lm_eval_tasks.judge.ask import Judge
    from lm_eval_tasks.judge.run import slug
    from lm_eval_tasks.llm.budget import Means
    from lm_eval_tasks.llm.chat import Server
    from lm_eval_tasks.study import judge_card as report_card

    judge = Judge(Server(arguments.judge, arguments.base_url), arguments.concurrency, Means())
    place = arguments.verdicts / f"verdicts_{slug(arguments.judge)}.jsonl"
    with held(place):
        return report_card.measure(found, report_card.cases_of(found, arguments.evidence), judge, Journal(place))


def judge(arguments: Namespace) -> Iterator[str | Table]:
    check_there(*arguments.samples, arguments.prices)
    if not arguments.model and not arguments.base_url and not arguments.dry_run:
        raise EvalError(
            "name a judge: --model gpt-4o-mini for the OpenAI API, or --base-url of a server that has the paper's, Mixtral-8x22B"
        )
    from lm_eval_tasks.judge import run
    from lm_eval_tasks.judge.results import table

    models = arguments.model or [run.DEFAULT_JUDGE]
    # Two folders are two runs, of which each is to be compared with the other.
    runs = len(arguments.samples) == 2 and all(map(Path.is_dir, arguments.samples))
    own, other = (arguments.samples[:1], arguments.samples[1]) if runs else (arguments.samples, None)
    samples = run.load(own)
    if other:
        from lm_eval_tasks.judge.pairs import against

        held = len(samples)
        samples = against(samples, run.load([other]))
        yield f"{own[0]} against {other}: {len(samples)} samples in both, {held - len(samples)} in the first alone"
    each = {model: _means(arguments, model) for model in models}
    shown = None
    if arguments.evidence:
        from lm_eval_tasks.judge.evidence import bodies

        shown = bodies(own, samples, arguments.evidence)
    expected = run.estimate(samples, shown)
    costs = [cost for means in each.values() if (cost := expected.cost(means)) is not None]
    yield (
        f"{len(samples)} samples, {len(models) * expected.requests} requests, about {len(models) * expected.prompt_tokens} prompt "
        f"tokens and {len(models) * expected.answer_tokens} answer tokens{f', {sum(costs):.2f} at the given prices' if costs else ''}"
    )
    if arguments.dry_run:
        return
    name = arguments.name or _name_of(own[0] if own[0].is_dir() else own[0].parent, other)
    results = run.judge(
        samples, each, arguments.base_url, arguments.concurrency, arguments.output, name, arguments.timeout, shown,
        _name_of(other, own[0]) if other else "",
    )  # fmt: skip
    yield table(results)
    yield f"\nwritten: {arguments.output}"


def _name_of(run: Path, other: Path | None = None) -> str:
    """What a run is called: its folder, with the one above it if another run's folder has the same name."""
    place = run.resolve()
    is_unique = other is None or other.resolve().name != place.name
    return place.name if is_unique else f"{place.parent.name}-{place.name}"


def tasks_path(arguments: Namespace) -> Iterator[str | Table]:
    from lm_eval_tasks.task_folder import tasks_path

    yield str(tasks_path())


def link_tasks(arguments: Namespace) -> Iterator[str | Table]:
    from lm_eval_tasks.task_folder import link, unlink

    for place in unlink() if arguments.unlink else link():
        yield f"{'removed' if arguments.unlink else 'linked'}: {place}"
