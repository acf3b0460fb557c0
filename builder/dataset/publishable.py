"""The copy of a dataset folder that may be published: no text that lacks the licence for it.

Rows in which any text lacks the licence become rows of a configuration `<Setting>-ids`: ids, and of every text its hash and
length. `fill` completes them on the reader's own machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from builder.dataset.folder import finish, replacing
from builder.dataset.manifest import Configuration, Publishable, read_manifest
from builder.dataset.rows import kind_of, may_publish, read_rows
from builder.dataset.write import ConfigurationWriter
from builder.errors import FolderError
from builder.records import SPLITS
from builder.stage_report import StageReport
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.base.row_format import IDS

if TYPE_CHECKING:
    from builder.round.licenses import Licenses


def publishable(source: Path, output: Path, licenses: Licenses) -> StageReport:
    """Write the copy and report how many of its rows are whole.

    Drop reasons (of rows that are there by id only): license.

    Raises:
        FolderError: `source` is not a finished folder, or is such a copy itself.
    """
    manifest = read_manifest(source)
    if manifest.publishable:
        raise FolderError(f"{source} is already a publishable copy; derive the new one from the whole round")
    report = StageReport("publishable")
    with replacing(output) as place:
        copied = [
            part
            for configuration in progress(manifest.configurations, "publishable")
            for part in _copy(source, place, configuration, licenses, report)
        ]
        origin = Publishable(licenses, report.counts(), manifest.configurations)
        finish(place, replace(manifest, configurations=tuple(copied), publishable=origin))
    return report


def _copy(
    source: Path, place: Path, configuration: Configuration, licenses: Licenses, report: StageReport
) -> Iterator[Configuration]:
    """One configuration as two: the rows that may be published, and the others by id."""
    kind = kind_of(configuration)
    full_writer = ConfigurationWriter(place, configuration)
    by_ids = Configuration(configuration.name + IDS, configuration.task, "ids", configuration.name)
    ids_writer = ConfigurationWriter(place, by_ids)
    for split in SPLITS:
        for position, row in enumerate(read_rows(source, configuration, split)):
            if may_publish(kind.papers(row), licenses):
                full_writer.add(split, row)
                report.kept += 1
            else:
                ids_writer.add(split, kind.id_row(row, position))
                report.drop(f"{configuration.name} {row['id']}", "license")
    yield full_writer.close()
    yield ids_writer.close()
