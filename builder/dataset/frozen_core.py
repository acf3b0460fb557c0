"""A frozen core: test samples of an older round, carried along unchanged, so that two rounds can be compared."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from builder.dataset import folder
from builder.dataset.card import Built, close_all
from builder.dataset.publishable import by_setting, read_rows
from builder.dataset.takedown import affected
from builder.dataset.write import RowWriter, schema
from builder.round.model import Round
from builder.round.settings import Setting

CORE = "-core"


def carry(round_: Round, place: Path, settings: tuple[Setting, ...]) -> tuple[list[Built], dict[str, Any]]:
    """Copy the core into the folder that is being built, one configuration `<Setting>-core` for each setting.

    A core that the older folder carries itself goes on; else it is drawn from its test samples, by the seed and the id
    alone, so that all settings of a task hold the same.

    Returns:
        The configurations, and what the manifest says of them: the older round and the number of samples of each.

    Raises:
        FolderError: the older folder is missing or unfinished.
    """
    if round_.core.folder is None:
        return [], {}
    manifest = folder.read_manifest(round_.core.folder)
    known = by_setting(manifest["files"])
    gone = affected(round_.core.folder, known, round_.taken_down) if round_.taken_down else {}
    built = []
    for setting in settings:
        paths = known.get(setting.name + CORE, known.get(setting.name, {})).get("test", [])
        if not paths:
            continue
        lost = gone.get(setting.task, ())
        ids = [row["id"] for row in read_rows(round_.core.folder, paths) if row["id"] not in lost]
        chosen = set(sorted(ids, key=lambda id_: _rank(round_.seed, id_))[: round_.core.samples])
        writer = RowWriter(place, setting.name + CORE, "test", schema(setting.task))
        for row in read_rows(round_.core.folder, paths):
            if row["id"] in chosen:
                writer.add(row)
        built.append(close_all(Setting(setting.name + CORE, setting.task), {"test": writer}))
    return built, {"round": manifest["round"], "samples": {one.setting.name: one.samples for one in built}}


def _rank(seed: int, paper_id: str) -> bytes:
    return hashlib.sha256(f"{seed}|{paper_id}|core".encode()).digest()
