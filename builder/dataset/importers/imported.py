"""What all importers do at the end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from builder.dataset.folder import finish
from builder.dataset.manifest import Configuration, Manifest
from lm_eval_tasks.base.version import VERSION

if TYPE_CHECKING:
    from builder.stage_report import StageReport


def finish_import(
    place: Path, round_name: str, origin: str, configurations: Sequence[Configuration], reports: Sequence[StageReport]
) -> None:
    """Write the card and the manifest of a dataset that was made elsewhere.

    Args:
        origin: where it came from.
    """
    counts = tuple(report.counts() for report in reports)
    finish(place, Manifest(round_name, VERSION, tuple(configurations), counts, imported=origin))
