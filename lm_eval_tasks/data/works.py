"""The filter of works that comes with a dataset, on this machine or on the Hub."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from lm_eval_tasks.core.errors import DatasetError
from lm_eval_tasks.core.row_format import MANIFEST, WORKS
from lm_eval_tasks.core.text import ODD, parse_json
from lm_eval_tasks.data.hub import file_of
from lm_eval_tasks.metrics.works import learn

if TYPE_CHECKING:
    from lm_eval_tasks.data.options import Options

_LOGGER = logging.getLogger(__name__)


def known_works(options: Options) -> str:
    """The sha256 of the dataset's filter, which `metrics.works.works_of` knows then; "" where the dataset has none.

    Raises:
        DatasetError: the file is not the dataset's filter.
    """
    path = _path(options, WORKS)
    if path is None:
        _LOGGER.warning("%s has no %s: works that were not given are not looked up", options.dataset, WORKS)
        return ""
    found = learn(path.read_bytes(), str(path))
    manifest = _path(options, MANIFEST)
    if manifest and _listed(manifest) != found:
        raise DatasetError(f"{path} is not the file that {manifest} lists; fetch or build the dataset again")
    return found


def _path(options: Options, name: str) -> Path | None:
    folder = Path(options.dataset).expanduser()
    if folder.is_dir():
        place = folder / name
        return place if place.is_file() else None
    return file_of(options.dataset, name, options.dataset_revision)


def _listed(manifest: Path) -> str:
    """The sha256 that a manifest gives for the filter.

    Raises:
        DatasetError: it is not a manifest.
    """
    try:
        return str(parse_json(manifest.read_bytes())["other_files"][WORKS])
    except ODD as err:
        raise DatasetError(
            f"{manifest} does not list {WORKS} ({err!s:.100}); fetch or build the dataset again"
        ) from err
