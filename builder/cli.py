"""The command `academiceval`: parse, call one function, print what came of it. Exit 0 done, 1 a named error, 2 wrong usage."""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from builder.arguments import Command, parser
from builder.errors import BuildError
from lm_eval_tasks.errors import EvalError

if TYPE_CHECKING:
    from builder.collect.graph import CoAuthorGraph
    from builder.pipeline import Outcome
    from builder.report import StageReport
    from builder.round.model import Round

# Distribution that is imported -> extra of academiceval that brings it.
_EXTRAS = {
    "arxiv": "builder",
    "datasketch": "builder",
    "requests": "builder",
    "filelock": "builder",
    "pymupdf": "builder",
    "networkx": "builder",
    "zstandard": "builder",
    "pydantic": "builder",
    "lxml": "builder",
    "langchain_text_splitters": "ralm",
    "bm25s": "ralm",
    "sentence_transformers": "ralm",
    "openai": "judge",
    "jinja2": "report",
    "matplotlib": "report",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = _parser().parse_args(argv)
    command: Command = arguments.command
    if not sys.stderr.isatty():
        # The libraries' bars, like ours, are for people who watch.
        os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")
        if command is not _eval:  # vLLM divides by what its bar has counted
            os.environ.setdefault("TQDM_DISABLE", "1")
    try:
        command(arguments)
    except (BuildError, EvalError) as err:
        print(f"error: {err}", file=sys.stderr)
        return 1
    except ModuleNotFoundError as err:
        extra = _EXTRAS.get((err.name or "").partition(".")[0])
        if extra is None:
            raise
        print(f'error: this command needs {err.name}: pip install "academiceval[{extra}]"', file=sys.stderr)
        return 1
    except sqlite3.Error as err:
        from builder.store import ROOM

        print(f"error: the workspace's store cannot be used: {err}; {ROOM}", file=sys.stderr)
        return 1
    except OSError as err:
        print(f"error: {err.filename or 'the operating system'}: {err.strerror or err}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    return parser(
        {
            "run": _run, "crawl": _crawl, "update": _update, "link": _link, "build": _build, "status": _status,
            "audit": _audit, "publishable": _publishable, "fill": _fill, "import": _import, "extract": _extract,
            "demo": _demo, "eval": _eval, "compare": _compare, "judge": _judge, "report": _on_hub("report"),
            "push": _on_hub("push"), "verify": _on_hub("verify"), "yank": _on_hub("yank"),
            "push-results": _on_hub("push_results"), "tasks-path": _tasks_path, "link-tasks": _link_tasks,
        }
    )  # fmt: skip


def _load_round(arguments: argparse.Namespace) -> Round:
    from builder.round.model import load_round

    round_ = load_round(arguments.file, **({"round": arguments.round} if arguments.round else {}))
    given = {name: getattr(arguments, name, None) for name in ("workspace", "output")}
    return round_.model_copy(update={k: v.resolve() for k, v in given.items() if v})


def _run(arguments: argparse.Namespace) -> None:
    from builder.pipeline import run

    _show(run(_load_round(arguments), arguments.jobs, replace=arguments.replace))


def _crawl(arguments: argparse.Namespace) -> None:
    from builder.pipeline import crawl_only

    _show_graph(*crawl_only(_load_round(arguments)))


def _update(arguments: argparse.Namespace) -> None:
    from builder.pipeline import update_only

    round_ = _load_round(arguments)
    if arguments.by:
        round_ = round_.model_copy(update={"update": round_.update.model_copy(update={"by": arguments.by})})
    _show_graph(*update_only(round_))


def _show_graph(graph: CoAuthorGraph, reports: Sequence[StageReport]) -> None:
    for report in reports:
        print(report.line())
    nodes, edges = graph.graph.number_of_nodes(), graph.graph.number_of_edges()
    print(
        f"co-author graph: {graph.authors} authors, {graph.first_authors} first authors, kept {nodes} nodes, {edges} edges"
    )


def _link(arguments: argparse.Namespace) -> None:
    from builder.dataset.card import links_table
    from builder.pipeline import link_only

    reports, ways, examples = link_only(_load_round(arguments), arguments.jobs)
    for line in (*(report.line() for report in reports), "", *links_table(ways), "", *examples):
        print(line)


def _build(arguments: argparse.Namespace) -> None:
    from builder.pipeline import build

    _show(build(_load_round(arguments), replace=arguments.replace))


def _publishable(arguments: argparse.Namespace) -> None:
    from builder.dataset.publishable import publishable

    report = publishable(arguments.folder, arguments.output, arguments.licenses)
    print(f"{report.line()}\nwritten: {arguments.output}")


def _fill(arguments: argparse.Namespace) -> None:
    from builder.pipeline import fill_only
    from builder.round.model import load_round

    round_ = load_round(arguments.file)
    if arguments.work:
        round_ = round_.model_copy(update={"workspace": arguments.work.resolve()})
    output = arguments.output or arguments.folder.with_name(f"{arguments.folder.name}-filled")
    print(f"{fill_only(round_, arguments.folder, output, arguments.jobs).line()}\nwritten: {output}")


def _import(arguments: argparse.Namespace) -> None:
    from builder.dataset.importers.academiceval import import_academiceval
    from builder.dataset.importers.scalar import import_papers, import_questions

    output = arguments.output or Path(f"{arguments.kind}-original")
    if arguments.kind == "academiceval":
        reports = import_academiceval(arguments.source, output)
    elif arguments.kind == "scalar":
        reports = import_questions(arguments.source, output)
    else:
        reports = import_papers(arguments.source, output, arguments.seed)
    for report in reports:
        print(report.line())
    print(f"written: {output}")


def _audit(arguments: argparse.Namespace) -> None:
    from builder.dataset.audit import audit, audit_table, check
    from builder.dataset.folder import read_manifest
    from builder.round.tables import AuditTable

    manifest = read_manifest(arguments.folder)
    found = audit(arguments.folder, manifest["files"])
    table = AuditTable.model_validate(manifest.get("config", {}).get("audit", {}))
    print("\n".join(audit_table(found, table)))
    check(found, table)


def _show(outcome: Outcome) -> None:
    from builder.dataset.card import links_table, reading_table, statistics_table

    for report in outcome.reports:
        print(report.line())
    for table in (statistics_table(outcome.built), reading_table(outcome.reading), links_table(outcome.links)):
        print("", *table, sep="\n")
    print(f"\nwritten: {outcome.output}")


def _status(arguments: argparse.Namespace) -> None:
    from builder.collect.status import status
    from builder.pipeline import STORE
    from builder.store import Store

    round_ = _load_round(arguments)
    path = round_.workspace / STORE
    if not path.is_file():
        print(f"{round_.workspace}: nothing yet; `academiceval run {arguments.file}` begins")
        return
    with Store.open(path) as store:
        print("\n".join(status(round_, store)))


def _extract(arguments: argparse.Namespace) -> None:
    if len(arguments.files) == 1 and arguments.files[0].suffix == ".toml":
        from builder.pipeline import prepare
        from builder.round.model import load_round

        for report in prepare(load_round(arguments.files[0]), arguments.jobs):
            print(report.line())
        return
    from builder.extract.files import extract_to_jsonl

    if arguments.output is None:
        raise BuildError("extract needs `--output out.jsonl` when it is given files")
    done, failed = extract_to_jsonl(
        arguments.files, arguments.output, arguments.jobs, arguments.time_limit, arguments.memory_limit
    )
    print(f"{done} extracted, {failed} failed: {arguments.output}")
    if not done:
        raise BuildError(f"not one of {failed} files gave a document; {arguments.output} holds the reasons")


def _demo(arguments: argparse.Namespace) -> None:
    from builder.demo import demo

    _follow(demo(arguments.folder, arguments.jobs))


def _eval(arguments: argparse.Namespace) -> None:
    from lm_eval_tasks.runs.evaluate import evaluate, task_names
    from lm_eval_tasks.runs.models import Generation
    from lm_eval_tasks.runs.score_table import score_table

    if arguments.tasks == "list":
        print("\n".join(task_names()))
        return
    try:
        metadata = json.loads(arguments.metadata)
    except ValueError as err:
        raise EvalError(f"--metadata is not JSON ({err})") from err
    if not isinstance(metadata, dict):
        raise EvalError("--metadata must be a JSON object")
    generation = Generation(
        arguments.batch_size, arguments.device, arguments.apply_chat_template, arguments.system_instruction,
        arguments.gen_kwargs,
    )  # fmt: skip
    scores = evaluate(
        arguments.model, arguments.model_args, arguments.tasks.split(","), metadata, arguments.limit, arguments.output,
        generation,
    )  # fmt: skip
    print("\n".join(score_table(scores)))
    print(f"\nwritten: {arguments.output}")


def _compare(arguments: argparse.Namespace) -> None:
    from lm_eval_tasks.runs.compare import compare, table

    print("\n".join(table(compare(arguments.a, arguments.b, arguments.metrics.split(",")))))


def _judge(arguments: argparse.Namespace) -> None:
    from lm_eval_tasks.judge import run

    models = arguments.model or [run.DEFAULT_JUDGE]
    samples = run.load(arguments.samples)
    expected = run.estimate(samples, len(models))
    cost = (
        f", {expected.cost(arguments.price_in, arguments.price_out):.2f} at the given prices"
        if arguments.price_in
        else ""
    )
    print(
        f"{len(samples)} samples, {expected.requests} requests, some {expected.prompt_tokens} prompt tokens and "
        f"{expected.answer_tokens} answer tokens{cost}",
        flush=True,
    )
    if arguments.dry_run:
        return
    name = (
        arguments.name
        or (arguments.samples[0] if arguments.samples[0].is_dir() else arguments.samples[0].parent).resolve().name
    )
    results = run.judge(samples, models, arguments.base_url, arguments.concurrency, arguments.output, name)
    print("\n".join(run.table(results)))
    print(f"\nwritten: {arguments.output}")


def _on_hub(name: str) -> Command:
    """A command of `hub_scripts.commands`, whose packages are loaded only when it is called."""

    def call(arguments: argparse.Namespace) -> None:
        from hub_scripts import commands

        _follow(getattr(commands, name)(arguments))

    return call


def _follow(lines: Iterable[str]) -> None:
    """Print what long work says, while it goes on."""
    for line in lines:
        print(line, flush=True)


def _tasks_path(arguments: argparse.Namespace) -> None:
    from lm_eval_tasks.task_folder import tasks_path

    print(tasks_path())


def _link_tasks(arguments: argparse.Namespace) -> None:
    from lm_eval_tasks.task_folder import link, unlink

    for place in unlink() if arguments.unlink else link():
        print(f"{'removed' if arguments.unlink else 'linked'}: {place}")


if __name__ == "__main__":
    sys.exit(main())
