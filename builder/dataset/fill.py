"""Complete a publishable copy on the reader's own machine: id-only rows get their texts back.

Papers are taken from the workspace, and from the round's source if the workspace lacks them; every text is compared
with its hash. A folder that could be completed in full is the original one, byte for byte.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import merge
from operator import itemgetter
from pathlib import Path

from builder.dataset.fill_source import named_in
from builder.dataset.folder import file_differences, finish, replacing
from builder.errors import FolderError
from builder.extract.stage import EXTRACTOR, extract_papers
from builder.families.registry import family_of, read_rows, schema_of, with_positions
from builder.families.writer import ConfigurationWriter
from builder.ids import PaperId, bare_id
from builder.parquet.schema import Row
from builder.records import Paper
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
        filled = tuple(
            _as_measured(filling.complete(draft, configuration), originals.get(configuration.name))
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
    shown, cited = named_in(folder, manifest)
    source, store = workspace.source, workspace.store
    known = {name for name in shown if (paper := store.paper(name)) and paper.abstract}
    lacking = sorted(name for name in shown - known if PaperId.parse(name))
    lacking += sorted(name for name in cited if not store.knows(name) and PaperId.parse(name))
    found = progress(source.by_ids(lacking), "papers", len(lacking))
    store.add_papers((item for item in found if isinstance(item, Paper)), since="", look_up=False)
    # What another release read is read again: its texts may differ.
    unread = [paper for paper in store.papers(sorted(map(bare_id, shown))) if not store.is_read(paper.id, EXTRACTOR)]
    extract_papers(workspace.round_, source, store, unread, engine)


@dataclass(slots=True)
class _Filling:
    """A copy whose rows by id are completed from a store.

    Attributes:
        doubtful: papers of rows that could not be completed, of which the store may know something wrong.
    """

    source: Path
    manifest: Manifest
    store: Store
    report: StageReport = field(default_factory=lambda: StageReport("fill"))
    doubtful: set[str] = field(default_factory=set)

    def complete(self, draft: Path, configuration: ListedConfiguration) -> ListedConfiguration:
        """Write one configuration with all rows that could be completed, in their original order."""
        ids = self.manifest.by_ids_of(configuration.name)
        writer = ConfigurationWriter(draft, configuration)
        lacking: dict[Split, int] = {}
        for split in SPLITS:
            by_id = list(read_rows(self.source, ids, split)) if ids else []
            whole = read_rows(self.source, configuration, split)
            rows = with_positions(whole, {row["position"] for row in by_id})
            before = self.report.dropped.total()
            for _, row in merge(rows, self._completed(by_id, configuration), key=itemgetter(0)):
                writer.add(split, row)
            lacking[split] = self.report.dropped.total() - before
        try:
            return _counting(writer.close(), lacking)
        except ODD as err:
            raise FolderError(
                f"{configuration.name} of {self.source} has a row that its family cannot count ({err}): get the copy again"
            ) from err

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
            if isinstance(outcome, str):
                self.report.drop(f"{configuration.name} {row['id']}", outcome)
                if outcome != "missing_file":
                    self.doubtful |= {bare_id(name) for name, _ in schema.papers(row)}
            elif schema.sha256_of(outcome) != row["row_sha256"]:
                self.report.drop(f"{configuration.name} {row['id']}", "changed_row")
                self.doubtful |= {bare_id(name) for name, _ in schema.papers(row)}
            else:
                self.report.kept += 1
                yield row["position"], outcome
