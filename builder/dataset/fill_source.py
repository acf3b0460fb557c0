"""Where a publishable copy takes its papers from; a copy that was made of PDFs takes PDFs, whatever has them, because its rows say what
these print.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from builder.extract.pdf_table import pdf_files, write_table
from builder.families.registry import rows_of, schema_of
from builder.ids import PaperId
from builder.round.model import Round, round_of_source
from builder.round.source import PDF_TABLE
from builder.workspace import Workspace
from lm_eval_tasks.base.manifest import Manifest
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.engines.registry import Engine


def round_from(source: Mapping[str, str], manifest: Manifest, workspace: Path, engine: Engine) -> Round:
    """Return the round that a copy is completed by, of a source as in `[source]`; a RoundError if that is not complete."""
    if source["kind"] == "pdfs" and source.get("path"):
        return _of_pdfs(Path(source["path"]), manifest, workspace, engine)
    return round_of_source(manifest.round, source, workspace)


def with_files(round_: Round, copy: Path, manifest: Manifest, engine: Engine) -> Round:
    """Return the round as it is, unless arXiv is to complete a copy that was made of PDFs: then one of the PDFs, which are fetched in the
    versions that the copy names.
    """
    if (manifest.source, round_.source.kind) != ("pdfs", "arxiv"):
        return round_
    with Workspace.open(round_) as workspace:
        shown, _ = named_in(copy, manifest)
        named = {parsed for name in sorted(shown) if (parsed := PaperId.parse(name))}
        ids = sorted((each for each in named if each.kind == "arxiv"), key=lambda each: each.bare)
        fetched = [
            workspace.source.fetch("pdf", each.bare, each.version or 1) for each in progress(ids, "PDFs", len(ids))
        ]
    files = [file for file in fetched if file]
    if not files:
        return round_
    named_files = [file.name for file in files]
    of_pdfs = _of_pdfs(files[0].parent, manifest, round_.workspace, engine, named_files)
    return round_.model_copy(update={"source": of_pdfs.source})


def named_in(copy: Path, manifest: Manifest) -> tuple[set[str], set[str]]:
    """Return the papers whose texts the rows by id show, and those that they cite, of which title and abstract are enough."""
    shown: set[str] = set()
    cited: set[str] = set()
    for configuration in manifest.configurations:
        if configuration.form == "ids":
            papers_of = schema_of(configuration).papers
            for _, row in rows_of(copy, configuration):
                shown.update(name for name, _ in papers_of({**row, "citations": ()}))
                cited.update(each["id"] for each in row.get("citations") or ())
    return shown, cited


def _of_pdfs(
    folder: Path, manifest: Manifest, workspace: Path, engine: Engine, files: Sequence[str] | None = None
) -> Round:
    """Write what PDFs say of themselves into the workspace, as far as an earlier call has not; return a round of them.

    Args:
        files: those that the copy names; None for all of the folder.
    """
    # Of each edition of a copy its own: another one may name other versions.
    table = workspace / f"{manifest.published_as}-{PDF_TABLE}"
    workspace.mkdir(parents=True, exist_ok=True)
    write_table(folder, pdf_files(folder) if files is None else files, table, engine)
    source = {"kind": "pdfs", "path": str(folder.resolve()), "table": str(table.resolve())}
    return round_of_source(manifest.round, source, workspace)
