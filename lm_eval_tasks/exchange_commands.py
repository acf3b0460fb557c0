"""The commands that exchange prompts and answers with other tools: export, score, link-tasks. Arguments, one call, lines to show; what a
command needs is imported when it is called.
"""

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from lm_eval_tasks.base.command_line import (
    EVALUATE,
    EVALUATING,
    Commands,
    add_short,
    check_there,
    metadata_of,
    options_metadata,
    samples_or_share,
)
from lm_eval_tasks.base.tables import Table


def register(commands: Commands) -> None:
    """Add the commands."""
    sub = commands.add(
        EVALUATING,
        "export",
        "write a setting's prompts as JSON lines, cut to a model, for other tools",
        export,
        shows_tables=False,
    )
    sub.add_argument("dataset", metavar="DATASET", help="folder or Hub id")
    sub.add_argument("--setting", required=True, help="a configuration of the dataset, such as Abs-9K")
    sub.add_argument(
        "--model_args", default="", help="lm-eval's; tokenizer=...,max_length=... determines how prompts are cut"
    )
    sub.add_argument("--metadata", default="{}", help="JSON, as for `academiceval eval`")
    sub.add_argument("--output", type=Path, help="default: ./SETTING.prompts.jsonl")
    sub = commands.add(EVALUATING, "score", "score answers that were made elsewhere to exported prompts", score)
    sub.add_argument("answers", type=Path, metavar="ANSWERS", help="exported lines, each with `answer`")
    sub.add_argument("--name", help="of the model that made them (default: the file's name)")
    add_short(sub, "--dataset", "--bertscore")
    sub.add_argument("--metadata", default="{}", help="JSON, as for `academiceval eval`")
    sub.add_argument("--limit", type=samples_or_share, help="as for eval")
    sub.add_argument("--output", type=Path, help="as for eval")
    how = commands.add(
        EVALUATE, "link-tasks", "let the bare `lm_eval --tasks academiceval_abs` find the tasks", link_tasks
    ).add_mutually_exclusive_group()
    how.add_argument("--unlink", action="store_true", help="undo it")
    how.add_argument("--print", action="store_true", help="only print the folder for lm_eval --include_path")


def export(arguments: Namespace) -> Iterator[str | Table]:
    from lm_eval_tasks.base.metadata import check, dataset_of, with_switches
    from lm_eval_tasks.data.round_folder import check_dataset

    metadata = with_switches({"dataset": arguments.dataset, **metadata_of(arguments.metadata)})
    check(metadata)
    check_dataset(dataset_of(metadata), arguments.setting)
    from lm_eval_tasks.evaluate.exported import export

    output = arguments.output or Path(f"{arguments.setting}.prompts.jsonl")
    yield f"{export(arguments.setting, arguments.model_args, metadata, output)} prompts written to {output}"


def score(arguments: Namespace) -> Iterator[str | Table]:
    check_there(arguments.answers)
    from lm_eval_tasks.base.metadata import dataset_of
    from lm_eval_tasks.data.round_folder import check_dataset
    from lm_eval_tasks.evaluate.exported import scoring_plan, unused_answers
    from lm_eval_tasks.evaluate.run import evaluate
    from lm_eval_tasks.evaluate.run_plan import SampleSelection
    from lm_eval_tasks.samples.run_folder import only_result, run_folder
    from lm_eval_tasks.samples.sample import read
    from lm_eval_tasks.stats.opened import shown_run

    name = arguments.name or arguments.answers.stem
    metadata = options_metadata(arguments)
    check_dataset(dataset_of(metadata))
    with run_folder(arguments.output, name, [str(arguments.answers.resolve()), metadata]) as output:
        evaluate(scoring_plan(arguments.answers, name, metadata, SampleSelection(arguments.limit), output))
    yield from shown_run(only_result(output))
    unused = unused_answers(arguments.answers, read([output]))
    if unused:
        yield f"\n{len(unused)} answers are to rows that were not asked, first {unused[0].setting} {unused[0].id}"
    yield f"\nwritten: {output}"


def link_tasks(arguments: Namespace) -> Iterator[str | Table]:
    from lm_eval_tasks.tasks.catalogue import is_linked, link, tasks_path, unlink, without_tasks

    if arguments.print:
        # lm-eval would warn of every task that it finds twice.
        yield str(without_tasks() if is_linked() else tasks_path())
        return
    if not arguments.unlink:
        yield f"linked: {link()}"
        return
    removed = unlink()
    if removed:
        yield f"removed: {removed}"
