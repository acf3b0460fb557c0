"""The commands that evaluate models: eval, plan, merge. Arguments, one call, lines to show.

What a command needs is imported when it is called.
"""

from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_tasks.base.command_line import (
    EVALUATE,
    EVALUATING,
    Commands,
    above_zero,
    add_engine,
    add_short,
    amount,
    check_there,
    json_object,
    options_metadata,
    positive,
    samples_or_share,
)
from lm_eval_tasks.base.errors import EvalError, NoScoreError, OptionError
from lm_eval_tasks.base.tables import Table

if TYPE_CHECKING:
    from lm_eval_tasks.llm.usage import Means

# In place of a model: all baselines.
_PROGRAMS = "programs"
_PRICES = "TOML: for each model `input` and `output`, the prices per million tokens"


def register(commands: Commands) -> None:
    """Add the commands."""
    sub = commands.add(
        EVALUATE,
        "eval",
        "evaluate a baseline (lead, copy-demo, random-sentence, function-words) or an lm-eval model",
        eval_,
    )
    _add_evaluation(sub)
    sub = commands.add(EVALUATE, "plan", "what an evaluation will take: samples, tokens, money", plan)
    _add_task_options(sub)
    sub.add_argument("--prices", type=Path, metavar="FILE", help=_PRICES)
    sub.add_argument("--limit", type=samples_or_share, help="as for eval")
    sub.add_argument("--repeats", type=positive, default=1, help="as for eval")
    sub.add_argument(
        "--like",
        type=Path,
        nargs=2,
        metavar=("A", "B"),
        help="runs of two models, whose differences from paper to paper say what is detectable",
    )
    sub.add_argument(
        "--tokens-per-second",
        type=above_zero,
        nargs=2,
        metavar=("READ", "WRITTEN"),
        help="rates that were measured, of prompts and of answers: says how many hours it takes",
    )
    sub = commands.add(EVALUATING, "merge", "merge the shards of a run (eval --shard) into one run", merge)
    sub.add_argument("shards", type=Path, nargs="+", metavar="SHARD", help="output folders of all shards")
    sub.add_argument("--output", type=Path, required=True, help="folder for the whole run")


def _add_task_options(sub: ArgumentParser) -> None:
    sub.add_argument("--model_args", default="", help="lm-eval's key=value,...")
    sub.add_argument("--tasks", default="", help="comma-separated task or group names; `eval --tasks list` prints them")
    add_short(sub, "--dataset", "--bertscore")
    sub.add_argument(
        "--metadata",
        default="{}",
        help='options of the tasks: JSON, e.g. \'{"split": "all", "published_after": "2026-06-01"}\', or key=value,...',
    )
    sub.add_argument(
        "--contexts",
        default="",
        metavar="LIST",
        help="ask each task in these contexts, in one run: none,other,500w,1500w,3000w,6000w,12000w,local,retrieved,full, as far as it has "
        "them",
    )


def _add_evaluation(sub: ArgumentParser) -> None:
    sub.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="YAML with these options, as lm-eval's; options given here override it",
    )
    sub.add_argument(
        "--model",
        default="",
        help="a baseline, programs for all of them, or a model type of lm-eval such as hf or vllm",
    )
    _add_task_options(sub)
    add_short(sub, "--fits-only", "--shard")
    sub.add_argument(
        "--limit", type=samples_or_share, help="at most this many samples of each task, or below 1 that share of them"
    )
    sub.add_argument("--samples", help="JSON: task -> places of its samples, e.g. '{\"academiceval_abs_9k\": [0, 1]}'")
    sub.add_argument(
        "--repeats", type=positive, default=1, help="answers for each prompt, for a model that samples (default: 1)"
    )
    sub.add_argument(
        "--output",
        type=Path,
        help="folder for results, samples and the journal of answers, from which "
        "the same command resumes after a kill (default: results/MODEL/TIME)",
    )
    sub.add_argument("--batch_size", help="lm-eval's (default: auto for vllm, else 1)")
    sub.add_argument("--device", help="lm-eval's, e.g. cuda:0 or cpu")
    sub.add_argument("--apply_chat_template", action=BooleanOptionalAction, default=False, help="as lm-eval's")
    sub.add_argument("--system_instruction", help="a system prompt")
    sub.add_argument("--gen_kwargs", default="", help="lm-eval's key=value,... instead of the tasks'")
    sub.add_argument("--seed", default="", help="lm-eval's: one number, or four separated by commas")
    add_means(sub)
    add_engine(sub, "where BERTScore and retrieval are computed: ")


def add_means(sub: ArgumentParser) -> None:
    """Add the options that say what asking a model may cost."""
    sub.add_argument("--prices", type=Path, metavar="FILE", help=_PRICES)
    sub.add_argument(
        "--max-cost",
        type=amount,
        help="stop before the answers in the output folder could cost more than this in total",
    )


# --- what the commands do


def eval_(arguments: Namespace) -> Iterator[str | Table]:
    from lm_eval_tasks.tasks.catalogue import task_names

    if arguments.tasks == "list":
        yield from task_names()
        return
    options = arguments
    if arguments.config:
        from lm_eval_tasks.evaluate.config_file import with_config

        options = with_config(arguments)
    metadata = options_metadata(options)
    samples: Any = json_object("--samples", options.samples) if options.samples is not None else None
    _check_request(options.tasks.split(","), metadata, samples or ())
    if options.model == _PROGRAMS:
        yield from _evaluate_programs(options, metadata)
        return
    from lm_eval_tasks.evaluate.generation import Generation, check_model

    check_model(options.model)
    check_there(options.prices)
    generation = Generation(
        options.batch_size or ("auto" if options.model.startswith("vllm") else "1"),
        options.device,
        options.apply_chat_template,
        options.system_instruction,
        options.gen_kwargs,
        options.seed,
        options.repeats,
    )
    from lm_eval_tasks.compat.lm_eval import parse_args
    from lm_eval_tasks.engines.registry import open_engine, working_with
    from lm_eval_tasks.evaluate.identity import distinguishing, label_of
    from lm_eval_tasks.evaluate.model_requests import NAMES_OF_CAP
    from lm_eval_tasks.evaluate.run import evaluate
    from lm_eval_tasks.evaluate.run_plan import RunPlan, SampleSelection
    from lm_eval_tasks.evaluate.shorter import contexts_of
    from lm_eval_tasks.samples.run_folder import only_result, run_folder
    from lm_eval_tasks.stats.opened import shown_run

    gen_kwargs = parse_args(options.gen_kwargs)
    for name in NAMES_OF_CAP[1:]:
        # Engines differ in which they know, and prompts leave room for the first alone.
        if name in gen_kwargs:
            raise OptionError(f"--gen_kwargs {name}: write {NAMES_OF_CAP[0]}, which every engine knows")
    arguments_of_model = parse_args(options.model_args)
    label = label_of(options.model, arguments_of_model)
    asked = [options.model, distinguishing(arguments_of_model), options.tasks, options.contexts]
    with run_folder(options.output, label, asked) as output:
        run = RunPlan.of(
            model=options.model,
            model_args=options.model_args,
            tasks=tuple(options.tasks.split(",")),
            metadata=metadata,
            contexts=contexts_of(options.contexts) if options.contexts else (),
            selection=SampleSelection(options.limit, samples),
            generation=generation,
            means=means_of(options, label_of(options.model, arguments_of_model, full=True)),
            output=output,
        )
        with open_engine(options.engine) as engine, working_with(engine):
            evaluate(run)
    yield from (*shown_run(only_result(output)), f"\nwritten: {output}")


def _evaluate_programs(options: Namespace, metadata: Mapping[str, object]) -> Iterator[str | Table]:
    """Yield a run of each baseline over the tasks that it answers, in a folder of its own."""
    from lm_eval_tasks.evaluate.shorter import programs_of
    from lm_eval_tasks.samples.run_folder import removed_if_empty

    if options.samples or options.contexts:
        raise EvalError(f"--model {_PROGRAMS} asks whole prompts of whole tasks: leave --samples and --contexts out")
    with removed_if_empty(options.output or Path()):
        for program, tasks in programs_of(options.tasks.split(","), metadata).items():
            output = options.output / program if options.output else None
            own = {"model": program, "tasks": ",".join(tasks), "output": output, "config": None}
            try:
                yield from eval_(Namespace(**{**vars(options), **own}))
            except NoScoreError as err:
                yield f"left out: {err}"
            yield ""


def plan(arguments: Namespace) -> Iterator[str | Table]:
    metadata = options_metadata(arguments)
    _check_request(arguments.tasks.split(","), metadata)
    from lm_eval_tasks.compat.lm_eval import parse_args
    from lm_eval_tasks.evaluate import plan as planning
    from lm_eval_tasks.evaluate.identity import label_of
    from lm_eval_tasks.evaluate.shorter import contexts_of
    from lm_eval_tasks.stats.compare import compare, runs_of

    price = means_of(arguments, label_of("", parse_args(arguments.model_args), full=True)).price
    like = {row.task: row.difference for row in compare(runs_of(arguments.like or ())) if not row.of_board}
    planned = planning.plan(
        planning.PlannedRun(
            model_args=arguments.model_args,
            tasks=arguments.tasks.split(","),
            metadata=metadata,
            limit=arguments.limit,
            repeats=arguments.repeats,
            contexts=contexts_of(arguments.contexts) if arguments.contexts else (),
            like=like,
        )
    )
    yield planning.table(planned)
    yield from ("", *planning.sentences(planned, price, arguments.tokens_per_second))


def merge(arguments: Namespace) -> Iterator[str | Table]:
    check_there(*arguments.shards)
    from lm_eval_tasks.evaluate.merge import merge
    from lm_eval_tasks.samples.run_folder import only_result
    from lm_eval_tasks.stats.opened import shown_run

    merge(arguments.shards, arguments.output)
    yield from (*shown_run(only_result(arguments.output)), f"\nwritten: {arguments.output}")


def _check_request(tasks: Sequence[str], metadata: Mapping[str, object], samples: Iterable[str] = ()) -> None:
    """Raise an EvalError for a typing mistake, also in the tasks named by --samples, before anything large is imported."""
    from lm_eval_tasks.base.metadata import check, dataset_of, text_or_none
    from lm_eval_tasks.data.round_folder import check_dataset
    from lm_eval_tasks.tasks.catalogue import check_tasks

    if not any(tasks):
        raise EvalError("name the tasks with --tasks; `academiceval eval --tasks list` prints them")
    check_tasks(tasks)
    check_tasks(samples, "--samples")
    check(metadata)
    check_dataset(dataset_of(metadata), text_or_none(metadata.get("config")))


def means_of(arguments: Namespace, model: str) -> "Means":
    """Return what a run may use, by its options and the model's name in the price table."""
    from lm_eval_tasks.llm.usage import Means, read_price

    return Means(
        read_price(arguments.prices, model) if arguments.prices else None, getattr(arguments, "max_cost", None)
    )
