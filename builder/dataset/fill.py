"""Complete a publishable copy on the reader's own machine: id-only rows get their texts back.

Papers are taken from the workspace, and from the round's source if the workspace lacks them; every text is compared
with its hash. A folder that could be completed in full is the original one, byte for byte. A copy that was made of PDFs
takes PDFs, whatever has them, because its rows say what these print.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import merge
from operator import itemgetter
from pathlib import Path

from builder.dataset.folder import file_differences, finish, replacing
from builder.errors import FolderError
from builder.extract.pdf_table import pdf_files, write_table
from builder.extract.stage import EXTRACTOR, extract_papers
from builder.families.registry import family_of, read_rows, rows_of, schema_of, with_positions
from builder.families.writer import ConfigurationWriter
from builder.ids import PaperId, bare_id
from builder.parquet.schema import Row, RowSchema
from builder.records import Paper
from builder.round.model import Round, round_of_source
from builder.round.source import PDF_TABLE
from builder.stage_report import StageReport
from builder.store import Store
from builder.workspace import Workspace
from lm_eval_tasks.base.contract import MANIFEST, SPLITS, Split
from lm_eval_tasks.base.manifest import ListedConfiguration, Manifest, SplitContents
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.base.text import ODD
from lm_eval_tasks.engines.registry import Engine
from lm_eval_tasks.families.rounds import read_manifest


def fill(source: Path, output: Path, workspace: Workspace, engine: Engine) -> StageReport:
    """Write the completed folder.

    Drop reasons (of id-only rows): missing_paper, missing_file, changed_text, changed_row. What is dropped stays counted in the folder.

    Raises:
        FolderError: `source` is not a publishable copy, or not as its manifest says.
    """
    if output.resolve() == source.resolve():
        raise FolderError(f"{output} is the copy itself: name another folder with --output")
    manifest = read_manifest(source)
    if manifest.publishable is None:
        raise FolderError(f"{source} is not a publishable copy; it has nothing to fill")
    for difference in file_differences(source, manifest):
        raise FolderError(f"{source} is not as its {MANIFEST} says: {difference}; get the copy again")
    _learn(workspace, source, manifest, engine)
    filling = _Filling(source, manifest, workspace.store)
    report = filling.report
    with replacing(output) as draft:
        originals = {configuration.name: configuration for configuration in manifest.publishable.original}
        # Rows of others show the texts of papers, so these come first.
        in_turn = sorted(manifest.complete_configurations, key=lambda configuration: configuration.form != "papers")
        complete = {configuration.name: filling.complete(draft, configuration) for configuration in in_turn}
        filled = tuple(
            _as_measured(complete[configuration.name], originals.get(configuration.name))
            for configuration in manifest.complete_configurations
        )
        # What a source said of them once is not believed for good.
        if filling.doubtful:
            with workspace.store.transaction():
                workspace.store.forget(sorted(filling.doubtful))
        # After a takedown the hashes of the whole are not known, only those of each text.
        expected = manifest.publishable.original or (filled if not report.dropped else None)
        if not report.dropped and expected and filled != expected:
            raise FolderError(
                f"{source} was completed, but the result is not the round that its {MANIFEST} names: rows of the copy were changed or left "
                "out; get the copy again"
            )
        facts = replace(manifest, configurations=filled, publishable=None)
        finish(draft, facts if filled == expected else replace(facts, fill=report.counts()))
    return report


def _as_measured(filled: ListedConfiguration, original: ListedConfiguration | None) -> ListedConfiguration:
    """Return a configuration with what the round measured on the same files: shortcuts may have taken a model."""
    if original is None or filled.every_file != original.every_file:
        return filled
    splits = {}
    for split, contents in filled.splits.items():
        whole = original.statistics(split)
        splits[split] = replace(contents, statistics=replace(contents.statistics, shortcuts=whole.shortcuts))
    return replace(filled, splits=splits)


def _counting(filled: ListedConfiguration, lacking: Mapping[Split, int]) -> ListedConfiguration:
    """Return a configuration that says how many rows of each split could not be completed."""
    splits = {
        split: replace(filled.splits.get(split, SplitContents()), lacking=lacking[split])
        for split in SPLITS
        if split in filled.splits or lacking[split]
    }
    return replace(filled, splits=splits)


def _learn(workspace: Workspace, folder: Path, manifest: Manifest, engine: Engine) -> None:
    """Fetch what the workspace lacks: records and files of the papers that rows by id show, records of those that they cite."""
    shown, cited = _named_in(folder, manifest)
    source, store = workspace.source, workspace.store
    known = {name for name in shown if (paper := store.paper(name)) and paper.abstract}
    lacking = sorted(name for name in shown - known if PaperId.parse(name))
    lacking += sorted(name for name in cited if not store.knows(name) and PaperId.parse(name))
    # A record of a later version would keep out the one that the copy names, and so would its text.
    renewed = set(map(bare_id, lacking))
    with store.transaction():
        store.forget(sorted(renewed))
    found = progress(source.by_ids(lacking), "papers", len(lacking))
    store.add_papers((item for item in found if isinstance(item, Paper)), since="", look_up=False)
    # What another release read is read again: its texts may differ.
    papers = store.papers(sorted(map(bare_id, shown)))
    unread = [paper for paper in papers if paper.id in renewed or not store.is_read(paper.id, EXTRACTOR)]
    extract_papers(workspace.round_, source, store, unread, engine)


@dataclass(slots=True)
class _Filling:
    """A copy whose rows by id are completed from a store.

    Attributes:
        doubtful: papers of rows that could not be completed, of which the store may know something wrong.
        lost: id with version of each paper whose text could not be had -> why.
    """

    source: Path
    manifest: Manifest
    store: Store
    report: StageReport = field(default_factory=lambda: StageReport("fill"))
    doubtful: set[str] = field(default_factory=set)
    lost: dict[str, str] = field(default_factory=dict)

    def complete(self, draft: Path, configuration: ListedConfiguration) -> ListedConfiguration:
        """Write one configuration with all rows that could be completed, in their original order."""
        ids = self.manifest.by_ids_of(configuration.name)
        writer, schema = ConfigurationWriter(draft, configuration), schema_of(configuration)
        lacking: dict[Split, int] = {}
        try:
            for split in SPLITS:
                by_id = list(read_rows(self.source, ids, split)) if ids else []
                whole = read_rows(self.source, configuration, split)
                positions = {row["position"] for row in by_id}
                rows = with_positions(whole, positions)
                before = self.report.dropped.total()
                for position, row in merge(rows, self._completed(by_id, configuration), key=itemgetter(0)):
                    if reason := self._lost_text(schema, row):
                        self.report.drop(f"{configuration.name} {row['id']}", reason)
                    else:
                        self.report.kept += position in positions
                        writer.add(split, row)
                lacking[split] = self.report.dropped.total() - before
            return _counting(writer.close(), lacking)
        except ODD as err:
            raise FolderError(
                f"{configuration.name} of {self.source} has a row that its family cannot count ({err}): get the copy again"
            ) from err

    def _lost_text(self, schema: RowSchema, row: Row) -> str | None:
        """Return why the text of a paper that a row shows could not be had; None if all are there."""
        shown = row[schema.shown_column] if schema.shown_column == "papers" else ()
        return next((self.lost[paper["id"]] for paper in shown if paper["id"] in self.lost), None)

    def _completed(self, rows: Sequence[Row], configuration: ListedConfiguration) -> Iterator[tuple[int, Row]]:
        """Complete rows by id; each with its position."""
        complete, schema = family_of(configuration.task).complete, schema_of(configuration)
        for row in rows:
            try:
                outcome = complete(row, configuration.task, self.store)
            except (KeyError, ValueError, IndexError, OverflowError) as err:
                raise FolderError(
                    f"{configuration.name} {row['id']!r:.80} is not a row by id that this release can read ({err})"
                ) from err
            if not isinstance(outcome, str) and schema.sha256_of(outcome) == row["row_sha256"]:
                yield row["position"], outcome
                continue
            reason = outcome if isinstance(outcome, str) else "changed_row"
            if configuration.form == "papers":
                self.lost[row["id"]] = reason
            self.report.drop(f"{configuration.name} {row['id']}", reason)
            if reason != "missing_file":
                self.doubtful.update(bare_id(name) for name, _ in schema.papers(row))
                self.doubtful.update(each["id"] for each in row.get("citations") or ())


# --- where the papers come from


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
        shown, _ = _named_in(copy, manifest)
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


def _named_in(copy: Path, manifest: Manifest) -> tuple[set[str], set[str]]:
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
