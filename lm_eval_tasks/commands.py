"""The commands that evaluate models: arguments, one call, lines to show.

What a command needs is imported when it is called.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lm_eval_tasks.command import add_engine, json_object, positive, seconds
from lm_eval_tasks.errors import EvalError

if TYPE_CHECKING:
    from lm_eval_tasks.command import Commands


def register(commands: Commands) -> None:
    """Add the commands."""
    help_ = "evaluate a baseline (lead, copy-demo, random-sentence) or an lm-eval model"
    _add_evaluation(commands.add("eval", help_, evaluate))
    sub = commands.add("compare", "paired differences between two runs of the same round", compare)
    sub.add_argument("a", type=Path, metavar="A", help="samples_*.jsonl of a run, or a folder of them")
    sub.add_argument("b", type=Path, metavar="B")
    sub.add_argument("--metrics", help="comma-separated scores (default: the headline ones)")
    help_ = "let a language model compare generated texts with their references, in both orders"
    _add_judging(commands.add("judge", help_, judge))
    commands.add("tasks-path", "print the folder for lm_eval --include_path", tasks_path)
    help_ = "let the bare `lm_eval --tasks academiceval_abs` find the tasks"
    commands.add("link-tasks", help_, link_tasks).add_argument("--unlink", action="store_true", help="undo it")


def _add_evaluation(sub: ArgumentParser) -> None:
    sub.add_argument("--model", default="", help="a baseline, or a model type of lm-eval such as hf or vllm")
    sub.add_argument("--model_args", default="", help="lm-eval's key=value,...")
    sub.add_argument("--tasks", required=True, help="comma-separated task or group names; `list` prints them")
    sub.add_argument(
        "--metadata", default="{}", help='JSON, e.g. \'{"dataset": "academiceval", "bertscore_model": "none"}\''
    )
    sub.add_argument("--limit", type=positive, help="only so many samples a task")
    sub.add_argument(
        "--output", type=Path, default=Path("results"), help="folder for results, samples and the journal of answers, with "
        "which the same command goes on after a kill (default: ./results)",
    )  # fmt: skip
    sub.add_argument("--batch_size", default="1", help="lm-eval's (default: 1)")
    sub.add_argument("--device", help="lm-eval's, e.g. cuda:0 or cpu")
    sub.add_argument("--apply_chat_template", action="store_true", help="as lm-eval's")
    sub.add_argument("--system_instruction", help="a system prompt")
    sub.add_argument("--gen_kwargs", default="", help="lm-eval's key=value,... in place of the tasks'")
    add_engine(sub, "what BERTScore and retrieval are computed with: ")


def _add_judging(sub: ArgumentParser) -> None:
    sub.add_argument(
        "samples", type=Path, nargs="+", metavar="SAMPLES", help="samples_*.jsonl of one run, or folders of them"
    )
    sub.add_argument("--model", nargs="+", help="judges (default: the paper's, Mixtral-8x22B)")
    sub.add_argument("--base-url", help="an OpenAI-compatible server (default: the OpenAI API)")
    sub.add_argument("--name", help="of the model that generated (default: the folder's name)")
    sub.add_argument("--concurrency", type=positive, default=16, help="requests at a time (default: 16)")
    sub.add_argument(
        "--timeout", type=seconds, default=600.0, help="seconds that one request may take in all (default: 600)"
    )
    sub.add_argument("--output", type=Path, default=Path("judged"), help="folder for verdicts and win rates")
    sub.add_argument("--price-in", type=float, default=0.0, help="of a million prompt tokens, for the estimate")
    sub.add_argument("--price-out", type=float, default=0.0, help="of a million answer tokens")
    sub.add_argument("--dry-run", action="store_true", help="say what would be asked, ask nothing")


# --- what the commands do


def evaluate(arguments: Namespace) -> Iterator[str]:
    from lm_eval_tasks.engines.registry import open_engine, working_with
    from lm_eval_tasks.runs.evaluate import evaluate, task_names
    from lm_eval_tasks.runs.models import Generation
    from lm_eval_tasks.runs.score_table import score_table

    if arguments.tasks == "list":
        yield from task_names()
        return
    if not arguments.model:
        raise EvalError("name what to evaluate with --model: a baseline, or a model type of lm-eval such as hf or vllm")
    generation = Generation(
        arguments.batch_size, arguments.device, arguments.apply_chat_template, arguments.system_instruction,
        arguments.gen_kwargs,
    )  # fmt: skip
    with open_engine(arguments.engine) as engine, working_with(engine):
        scores = evaluate(
            arguments.model, arguments.model_args, arguments.tasks.split(","), json_object("--metadata", arguments.metadata),
            arguments.limit, arguments.output, generation,
        )  # fmt: skip
    yield from score_table(scores)
    yield f"\nwritten: {arguments.output}"


def compare(arguments: Namespace) -> Iterator[str]:
    from lm_eval_tasks.runs.compare import compare, table
    from lm_eval_tasks.runs.intervals import FEWEST
    from lm_eval_tasks.tables import markdown

    metrics = arguments.metrics.split(",") if arguments.metrics else None
    differences = compare(arguments.a, arguments.b, metrics)
    yield from markdown(table(differences, arguments.a, arguments.b))
    if any(one.difference.bounds is None for one in differences):
        yield from ("", f"Where interval and p are missing, the papers have fewer than {FEWEST} first authors.")


def judge(arguments: Namespace) -> Iterator[str]:
    from lm_eval_tasks.judge import run
    from lm_eval_tasks.tables import markdown

    models = arguments.model or [run.DEFAULT_JUDGE]
    samples = run.load(arguments.samples)
    expected = run.estimate(samples, len(models))
    cost = expected.cost(arguments.price_in, arguments.price_out)
    yield (
        f"{len(samples)} samples, {expected.requests} requests, some {expected.prompt_tokens} prompt tokens and "
        f"{expected.answer_tokens} answer tokens{f', {cost:.2f} at the given prices' if arguments.price_in else ''}"
    )
    if arguments.dry_run:
        return
    first = arguments.samples[0]
    name = arguments.name or (first if first.is_dir() else first.parent).resolve().name
    results = run.judge(
        samples, models, arguments.base_url, arguments.concurrency, arguments.output, name, arguments.timeout
    )
    yield from markdown(run.table(results))
    yield f"\nwritten: {arguments.output}"


def tasks_path(arguments: Namespace) -> Iterator[str]:
    from lm_eval_tasks.task_folder import tasks_path

    yield str(tasks_path())


def link_tasks(arguments: Namespace) -> Iterator[str]:
    from lm_eval_tasks.task_folder import link, unlink

    for place in unlink() if arguments.unlink else link():
        yield f"{'removed' if arguments.unlink else 'linked'}: {place}"
