"""The filter of works that comes with a dataset, on this machine or on the Hub."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from lm_eval_tasks.data.hub import file_of
from lm_eval_tasks.metrics.works import learn
from lm_eval_tasks.row_format import WORKS

if TYPE_CHECKING:
    from lm_eval_tasks.data.options import Options

_LOGGER = logging.getLogger(__name__)


def known_works(options: Options) -> str:
    """The sha256 of the dataset's filter, which `metrics.works.works_of` knows then; "" where the dataset has none.

    Raises:
        DatasetError: the file is not a filter.
    """
    path = _path(options)
    if path is None:
        _LOGGER.warning("%s has no %s: works that were not given are not looked up", options.dataset, WORKS)
        return ""
    return learn(path.read_bytes(), str(path))


def _path(options: Options) -> Path | None:
    folder = Path(options.dataset).expanduser()
    if folder.is_dir():
        place = folder / WORKS
        return place if place.is_file() else None
    return file_of(options.dataset, WORKS, options.dataset_revision)
