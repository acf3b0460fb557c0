"""The commands that build rounds and work on dataset folders: arguments, one call, lines to show.

What a command needs is imported when it is called, so that `academiceval eval` runs without the builder's packages.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builder.errors import FolderError, RoundError
from builder.round.starter import NEEDED, STARTS, write_start
from builder.stage_report import STAGES, StageReport
from lm_eval_tasks.base.command_line import MAKE, PUBLISHING, Commands, add_engine, add_jobs, check_dataset, month

_STAGES = (*STAGES, "build", "audit")
# Of the store: the round that was built last, and what of.
_BUILT = "built"
# Sources that need nothing but a folder or an address of their user.
_FILLING = ("arxiv", "europepmc", "jats", "mirror", "pdfs")
_QUESTIONS = {
    "contact": "Your email or web address, which is sent with every request:",
    "field": "Words to search for, such as neuroscience:",
    "path": "The folder with the papers:",
}

if TYPE_CHECKING:
    from builder.collect.graph import CoAuthorGraph
    from builder.round.model import Round
    from builder.workspace import Workspace
    from lm_eval_tasks.base.manifest import Manifest
    from lm_eval_tasks.base.tables import Table
    from lm_eval_tasks.engines.registry import Engine


def register(commands: Commands) -> None:
    """Add the commands."""
    sub = commands.add(MAKE, "init", "write a commented round.toml to start from", init)
    sub.add_argument(
        "file",
        nargs="?",
        default="round.toml",
        metavar="FILE",
        help="default: round.toml; jats, mirror, pdfs: or the folder with the papers",
    )
    sub.add_argument(
        "--source", choices=STARTS, help="where papers come from (default: asked on a terminal, else sample)"
    )
    sub.add_argument("--path", default="", help="jats, mirror, pdfs: the folder")
    sub.add_argument(
        "--contact",
        default="",
        help="arxiv, europepmc: your email or web address; pdfs: arXiv is asked for papers that print its id",
    )
    sub.add_argument("--field", default="", help="europepmc: words to search for, such as neuroscience")
    sub.add_argument(
        "--seed", default="", help="arxiv: an author to start from (default: all papers of the categories)"
    )
    add_jobs(sub)
    sub = commands.add(
        MAKE,
        "run",
        "build a round, or go on with it: crawl or update, extract, link, samples, dataset folder, audit",
        run,
    )
    _add_round(sub)
    stage = sub.add_mutually_exclusive_group()
    stage.add_argument("--until", choices=_STAGES[:-1], help="stop after this stage")
    stage.add_argument("--only", choices=_STAGES, help="do this stage alone, with what the workspace or folder has")
    sub.add_argument("--replace", action="store_true", help="replace a folder of the same round")
    _add_work(sub)
    _add_round(commands.add(MAKE, "status", "show what the workspace contains", status))
    sub = commands.add(PUBLISHING, "fill", "complete the id-only rows of a publishable copy on this machine", fill)
    sub.add_argument("folder", type=Path, metavar="FOLDER")
    _add_round_file(sub)
    sub.add_argument("--source", choices=_FILLING, help="where the papers come from, in place of a round.toml")
    sub.add_argument("--path", default="", help="jats, mirror, pdfs: the folder")
    sub.add_argument("--contact", default="", help="arxiv, europepmc: your email or web address")
    sub.add_argument("--work", type=Path, metavar="W", help="use this workspace instead of the round's")
    sub.add_argument("-o", "--output", type=Path, metavar="OUT", help="default: FOLDER-filled")
    _add_work(sub)


def _add_round_file(sub: ArgumentParser) -> None:
    sub.add_argument("file", type=Path, nargs="?", default=Path("round.toml"), metavar="round.toml")


def _add_round(sub: ArgumentParser) -> None:
    _add_round_file(sub)
    sub.add_argument("--round", type=month, metavar="YYYY.MM", help="build this revision instead of the file's")
    sub.add_argument("--workspace", type=Path, help="use this workspace instead of the round's")
    sub.add_argument("--output", type=Path, help="write this dataset folder instead of the round's")


def _add_work(sub: ArgumentParser) -> None:
    add_jobs(sub)
    add_engine(sub)


# --- what the commands do


def run(arguments: Namespace) -> Iterator[str | Table]:
    round_ = _load_round(arguments)
    wanted = [arguments.only] if arguments.only else _STAGES[: _STAGES.index(arguments.until or "build") + 1]
    from builder import pipeline
    from builder.collect.coverage import added
    from builder.round.model import check_inputs
    from builder.workspace import Workspace

    if "crawl" in wanted:
        check_inputs(round_)
    with _engine(arguments) as engine:
        if "audit" in wanted:
            yield from _audit(round_, engine)
            return
        with Workspace.open(round_) as workspace:
            before = [stage for stage in STAGES if stage in wanted]
            for report in pipeline.stages(workspace, engine, before) if before else ():
                yield report.line()
            if "crawl" in wanted and (news := added(round_, workspace.store)):
                earlier, count = news
                yield f"{count or 'no'} paper{'s' * (count != 1)} {'is' if count == 1 else 'are'} new since round {earlier}"
                if not count and round_.papers.published_to:
                    yield f"papers.published_to leaves out all after {round_.papers.published_to}"
                if (
                    not count
                    and "build" in wanted
                    and not arguments.replace
                    and pipeline.is_as_built(workspace, earlier)
                    and workspace.store.note(_BUILT) == [earlier, workspace.contents()]
                ):
                    yield f"{round_.output} stays as it is"
                    return
            if "build" in wanted:
                manifest, reports = pipeline.build(workspace, engine, replace=arguments.replace)
                workspace.store.set_note(_BUILT, [round_.round, workspace.contents()])
                yield from (report.line() for report in reports)
                yield from _built(manifest)
                yield from _to_correct(workspace, reports)
                yield f"written: {round_.output}"
            elif "link" in wanted:
                yield from _links(workspace)
            elif "crawl" in wanted:
                yield from _graph(workspace.graph)


def _built(manifest: Manifest) -> Iterator[str | Table]:
    from builder.dataset import tables

    for table in tables.build_tables(manifest):
        yield from ("", table)
    yield from ("", *(f"warning: {line}" for line in tables.short_of_name(manifest)))


def _to_correct(workspace: Workspace, reports: Sequence[StageReport]) -> Iterator[str]:
    """Yield what a maintainer may have to correct: papers without authors, and exclusions of what is not there."""
    from builder.round.configurations import shrunk
    from builder.sources.metadata_file import has_unknown_authors

    papers = workspace.papers
    if unknown := sum(map(has_unknown_authors, papers)):
        yield f"authors unknown: {unknown} of {len(papers)} papers; each stands for itself and has no co-author settings"
    for id_ in sorted(
        workspace.round_.excluded.difference(*(report.examples.get("excluded", ()) for report in reports))
    ):
        yield f"warning: exclude names {id_}, which is the id of no row"
    for id_ in sorted(workspace.round_.taken_down):
        if workspace.store.resolve(id_) is None:
            yield f"warning: {workspace.round_.takedowns} names {id_}, which is the id of no paper here"
    yield from shrunk(workspace.round_.chosen, reports)


def _links(workspace: Workspace) -> Iterator[str | Table]:
    from builder.citations.link import link_ways, unresolved_examples
    from builder.dataset.tables import links

    yield from ("", links(link_ways(workspace.store, workspace.papers)), "")
    yield from unresolved_examples(workspace.store, workspace.papers, workspace.documents)


def _graph(graph: CoAuthorGraph) -> Iterator[str]:
    yield (
        f"co-author graph: {graph.authors} authors, {graph.first_authors} first authors, kept "
        f"{len(graph.nodes)} nodes, {graph.edges} edges"
    )
    if graph.orcids:
        yield f"authors known by ORCID: {graph.orcids}; names that several of them have: {graph.shared_names}"


def init(arguments: Namespace) -> Iterator[str | Table]:
    from datetime import UTC, datetime

    values = {name: getattr(arguments, name) for name in ("path", "contact", "seed", "field")}
    source: Any = arguments.source or _ask(f"Where do papers come from ({', '.join(STARTS)})? ", "sample")
    file = Path(arguments.file)
    if not values["path"] and file.suffix != ".toml" and "path" in NEEDED.get(source, ()):
        values["path"], file = arguments.file, Path("round.toml")
    for name in NEEDED.get(source, ()):
        values[name] = values[name] or _ask(f"{_QUESTIONS[name]} ", "")
    folder = Path(values["path"])
    if values["path"] and folder.exists():
        # As round.toml gives it.
        values["path"] = str(folder) if folder.is_absolute() else os.path.relpath(folder, file.parent)
    files, count = [], None
    if source == "jats" and values["path"]:
        from builder.sources.jats.source import count_articles

        count = count_articles(folder)
    if source == "mirror" and values["path"]:
        from builder.sources.mirror import count_papers

        count = count_papers(folder)
    if source == "pdfs" and values["path"]:
        from builder.extract.pdf_table import pdf_files, write_table
        from builder.round.source import PDF_TABLE
        from lm_eval_tasks.engines.registry import LocalEngine

        files = pdf_files(folder)
        count = len(files)
    if files and file.exists():
        yield f"{file} stays as it is"
    else:
        write_start(file, source, datetime.now(UTC).date(), values, count)
        yield f"written: {file}; read it, change it, then: academiceval run {file}"
    if files:
        table = file.with_name(PDF_TABLE)
        papers, dated, authored = write_table(folder, files, table, LocalEngine(arguments.jobs), arguments.contact)
        yield (
            f"written: {table}: {papers} papers, {dated} with title and day, {authored} of these with authors; "
            "correct it before you run the round"
        )


def _ask(question: str, usual: str) -> str:
    """Return what a user answers on a terminal; the usual answer if there is no terminal or the answer is empty."""
    try:
        return (input(question).strip() if sys.stdin.isatty() else "") or usual
    except EOFError:
        return usual


def status(arguments: Namespace) -> Iterator[str | Table | Mapping[str, object]]:
    round_ = _load_round(arguments)
    from builder.citations.link import search_status
    from builder.collect.coverage import status
    from builder.store import STORE, Store

    path = round_.workspace / STORE
    if not path.is_file():
        yield f"{round_.workspace}: nothing yet; start with `academiceval run {arguments.file}`"
        return
    with Store.open(path) as store:
        lines = [*status(round_, store), *search_status(round_, store)]
    if arguments.show == "json":
        yield {what: value for what, _, value in (line.partition(": ") for line in lines)}
    else:
        yield from lines


def fill(arguments: Namespace) -> Iterator[str | Table]:
    check_dataset(arguments.folder)
    from builder.dataset.fill import fill, round_from, with_files
    from builder.round.model import load_round
    from builder.workspace import Workspace
    from lm_eval_tasks.engines.registry import LocalEngine
    from lm_eval_tasks.families.rounds import read_manifest

    # "." has no name, which the folders beside it are called by.
    copy = arguments.folder if arguments.folder.name else arguments.folder.resolve()
    manifest = read_manifest(copy)
    readers = LocalEngine(arguments.jobs)
    values = {name: value for name in ("path", "contact") if (value := getattr(arguments, name))}
    if arguments.source:
        place = arguments.work.resolve() if arguments.work else copy.with_name(f"{copy.name}-work")
        round_ = round_from({"kind": arguments.source, **values}, manifest, place, readers)
    elif values:
        raise RoundError(
            f"--{next(iter(values))} is for a --source; without one, the round.toml says where papers come from"
        )
    else:
        round_ = load_round(arguments.file)
        if arguments.work:
            round_ = round_.model_copy(update={"workspace": arguments.work.resolve()})
    round_ = with_files(round_, copy, manifest, readers)
    output = arguments.output or copy.with_name(f"{copy.name}-filled")
    with _engine(arguments) as engine, Workspace.open(round_) as workspace:
        yield fill(copy, output, workspace, engine).line()
    yield f"written: {output}"


def _engine(arguments: Namespace) -> Engine:
    from lm_eval_tasks.engines.registry import open_engine

    return open_engine(arguments.engine, arguments.jobs)


def _load_round(arguments: Namespace) -> Round:
    from builder.round.model import check_places, load_round

    round_ = load_round(arguments.file, **({"round": arguments.round} if arguments.round else {}))
    paths = {name: getattr(arguments, name, None) for name in ("workspace", "output")}
    round_ = round_.model_copy(update={k: v.resolve() for k, v in paths.items() if v})
    check_places(round_)
    return round_


def _audit(round_: Round, engine: Engine) -> Iterator[str | Table]:
    """Look for leaks and misread texts in a finished dataset folder, as the build did."""
    from builder.dataset import tables
    from builder.dataset.audit import audit, check
    from builder.dataset.card import check_canary
    from builder.round.allowed import allowed_by
    from lm_eval_tasks.families.rounds import read_manifest

    folder = round_.output
    manifest = read_manifest(folder)
    if manifest.round != round_.round:
        raise FolderError(f"{folder} is round {manifest.round}, not {round_.round}: name its folder with --output")
    yield f"{folder}, round {manifest.published_as}, with the limits that it was built with"
    findings = audit(folder, manifest.configurations, engine)
    for table in tables.audit_tables(findings, allowed_by(manifest)):
        yield from (table, "")
    check(findings, allowed_by(manifest))
    check_canary(folder, manifest)
