"""Copies of a dataset folder: with no text that lacks the licence to be published, and without some papers.

Rows in which any text lacks the licence become rows of a configuration `<Setting>-ids`: ids, and of every text its hash and
length. `fill` completes them on the reader's own machine.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from builder.dataset.folder import finish, replacing
from builder.errors import FolderError
from builder.families.registry import read_rows, rows_of, schema_of, with_positions
from builder.families.writer import ConfigurationWriter
from builder.ids import bare_id
from builder.round.allowed import allows
from builder.stage_report import StageReport
from lm_eval_tasks.base.contract import IDS, SPLITS, Licenses, Split
from lm_eval_tasks.base.manifest import CoreEntry, ListedConfiguration, Manifest, Publishable
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.families.rounds import read_manifest


def publishable(source: Path, output: Path, licenses: Licenses) -> StageReport:
    """Write the copy and report how many of its rows are whole.

    Drop reasons (of rows that are there by id only): license.

    Raises:
        FolderError: `source` is not a finished folder, or is such a copy itself.
    """
    manifest = read_manifest(source)
    if manifest.publishable:
        raise FolderError(f"{source} is already a publishable copy; derive the new one from the whole round")
    refuse_lacking(source, manifest)
    report = StageReport("publishable")
    with replacing(output) as draft:
        copied = [
            part
            for configuration in progress(manifest.configurations, "publishable")
            for part in _by_license(source, draft, configuration, licenses, report)
        ]
        finish(
            draft,
            replace(
                manifest,
                configurations=tuple(copied),
                publishable=Publishable(licenses, report.counts(), manifest.configurations),
            ),
        )
    return report


def refuse_lacking(source: Path, manifest: Manifest) -> None:
    """Raise a FolderError for a copy of a round that could not be completed with all its rows."""
    for configuration in manifest.configurations:
        if configuration.lacking:
            raise FolderError(
                f"{source} lacks {configuration.lacking} rows of {configuration.name} that it could not be completed with: publish the "
                "round, or complete its copy from all its papers"
            )


def _by_license(
    source: Path, draft: Path, configuration: ListedConfiguration, licenses: Licenses, report: StageReport
) -> Iterator[ListedConfiguration]:
    """Yield one configuration as two: the rows that may be published, and the others by id."""
    schema = schema_of(configuration)
    full_writer = ConfigurationWriter(draft, configuration)
    ids_writer = ConfigurationWriter(
        draft, ListedConfiguration(configuration.name + IDS, configuration.task, "ids", configuration.name)
    )
    for split in SPLITS:
        for position, row in enumerate(read_rows(source, configuration, split)):
            if all(allows(license_, licenses) for _, license_ in schema.papers(row)):
                full_writer.add(split, row)
                report.kept += 1
            else:
                ids_writer.add(split, schema.id_row(row, position))
                report.drop(f"{configuration.name} {row['id']}", "license")
    yield from (full_writer.close(), ids_writer.close())


def rows_to_remove(source: Path, manifest: Manifest, ids: frozenset[str]) -> dict[str, set[str]]:
    """Return task, or SCALAR level -> ids of the rows that show any of the papers in any setting."""
    row_ids: dict[str, set[str]] = {}
    for configuration in manifest.configurations:
        papers = schema_of(configuration).papers
        for _, row in rows_of(source, configuration):
            if not ids.isdisjoint(bare_id(name) for name, _ in papers(row)):
                row_ids.setdefault(group_of(configuration), set()).add(row["id"])
    return row_ids


def shown_papers(folder: Path, configurations: Iterable[ListedConfiguration]) -> set[str]:
    """Return the bare ids of the papers that rows show."""
    shown: set[str] = set()
    for configuration in configurations:
        schema = schema_of(configuration)
        for _, row in rows_of(folder, configuration, schema.facts):
            shown.update(bare_id(name) for name, _ in schema.papers(row))
    return shown


def group_of(configuration: ListedConfiguration) -> str:
    """Return what must contain the same samples: the settings of a task, or one SCALAR level."""
    return configuration.task if configuration.is_writing else configuration.of or configuration.name


def without_papers(source: Path, output: Path, ids: Collection[str], revision: str) -> StageReport:
    """Write the copy of a dataset folder in which no row shows the papers of some bare ids; `revision` is the name of the copy.

    A sample is removed from all settings of its task, so that they still have the same ones. Drop reason: taken_down.

    Raises:
        FolderError: `source` is not a finished folder, or nothing would be left.
    """
    manifest = read_manifest(source)
    gone = rows_to_remove(source, manifest, frozenset(ids))
    report = StageReport("takedown")
    with replacing(output) as draft:
        copied = [
            part
            for configuration in manifest.complete_configurations
            for part in _without(source, draft, manifest, configuration, gone, report)
        ]
        if not report.kept:
            raise FolderError(f"every row of {source} shows {', '.join(sorted(ids))}; nothing was written")
        # What the completed folder would be is no longer known.
        copy_of = manifest.publishable and replace(manifest.publishable, original=())
        finish(
            draft,
            replace(
                manifest,
                configurations=tuple(copied),
                revision=revision,
                takedown=report.counts(),
                core=tuple(_core_left(manifest.core, copied)),
                publishable=copy_of,
            ),
        )
    return report


def _core_left(core: Iterable[CoreEntry], copied: Iterable[ListedConfiguration]) -> Iterator[CoreEntry]:
    """Yield the core as far as the copy has its test rows, whole or by id."""
    left: Counter[str] = Counter()
    for part in copied:
        left[part.of or part.name] += part.statistics("test").samples
    for entry in core:
        if samples := min(entry.samples, left[entry.configuration]):
            yield replace(entry, samples=samples)


def _without(
    source: Path,
    draft: Path,
    manifest: Manifest,
    configuration: ListedConfiguration,
    gone: Mapping[str, set[str]],
    report: StageReport,
) -> Iterator[ListedConfiguration]:
    """Yield one configuration without the rows that go: its whole rows, and those by id, whose positions close up."""
    ids = manifest.by_ids_of(configuration.name)
    group = gone.get(group_of(configuration), set())
    removed = {split: _removed_positions(source, configuration, ids, split, group) for split in SPLITS} if ids else {}
    for part in filter(None, (configuration, ids)):
        writer = ConfigurationWriter(draft, part)
        for split, row in rows_of(source, part):
            if row["id"] in group:
                report.drop(f"{part.name} {row['id']}", "taken_down")
            else:
                report.kept += 1
                if part is ids:
                    row["position"] -= bisect_left(removed[split], row["position"])
                writer.add(split, row)
        yield writer.close()


def _removed_positions(
    source: Path, configuration: ListedConfiguration, ids: ListedConfiguration, split: Split, group: Collection[str]
) -> list[int]:
    """Return the positions, in the completed split, of the rows that go."""
    by_id = {row["position"]: row["id"] for row in read_rows(source, ids, split)}
    rows = with_positions(read_rows(source, configuration, split), by_id)
    at = by_id | {position: row["id"] for position, row in rows}
    return sorted(position for position, id_ in at.items() if id_ in group)
