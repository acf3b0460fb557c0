"""A frozen core: test samples of an older round, carried along unchanged, so that two rounds can be compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from builder.dataset.manifest import Configuration, Manifest, read_manifest
from builder.dataset.rows import read_rows
from builder.dataset.shown_papers import rows_to_remove
from builder.dataset.write import ConfigurationWriter
from builder.seeding import digest_of
from lm_eval_tasks.core.row_format import CORE

if TYPE_CHECKING:
    from builder.round.model import Round


def carry(round_: Round, place: Path) -> tuple[list[Configuration], str]:
    """Copy the core into the folder that is being built, one configuration `<Setting>-core` for each setting.

    A core that the older folder carries itself is carried on; otherwise one is drawn from its test samples, by the seed
    and the id alone, so that all settings of a task contain the same samples.

    Returns:
        The configurations, and the older round; none and "" if round.toml names no older folder.

    Raises:
        FolderError: the older folder is missing or unfinished.
    """
    older = round_.core.folder
    if older is None:
        return [], ""
    manifest = read_manifest(older)
    gone = rows_to_remove(older, manifest, round_.taken_down) if round_.taken_down else {}
    carried = []
    for setting in round_.chosen:
        source = _source(manifest, setting.name)
        if source is None:
            continue
        lost = gone.get(setting.task, ())
        ids = [row["id"] for row in read_rows(older, source, "test") if row["id"] not in lost]
        ranked = sorted(ids, key=lambda id_: digest_of(round_.seed, id_, "core"))
        chosen = set(ranked[: round_.core.samples])
        writer = ConfigurationWriter(place, Configuration(setting.name + CORE, setting.task, "core", setting.name))
        for row in read_rows(older, source, "test"):
            if row["id"] in chosen:
                writer.add("test", row)
        carried.append(writer.close())
    return carried, manifest.round


def _source(manifest: Manifest, setting: str) -> Configuration | None:
    """What the core of a setting is taken from: the older folder's own core, else its rows."""
    configurations = {
        (configuration.form, configuration.of or configuration.name): configuration
        for configuration in manifest.configurations
        if configuration.files("test")
    }
    return configurations.get(("core", setting)) or configurations.get(("full", setting))
