"""Dataset folder or Hub id -> the test rows that a run asks for."""

from __future__ import annotations

import logging
from pathlib import Path

import datasets
from datasets.exceptions import DatasetNotFoundError, DatasetsError

from lm_eval_tasks.compat.datasets import is_from_cache
from lm_eval_tasks.data.options import VARIABLE, Options
from lm_eval_tasks.errors import DatasetError
from lm_eval_tasks.files import is_inside
from lm_eval_tasks.row_format import IDS

_LOGGER = logging.getLogger(__name__)


def open_dataset(config: str, options: Options) -> datasets.DatasetDict:
    """All splits of a configuration.

    Raises:
        DatasetError: the dataset is not there, unfinished, or lacks the configuration.
    """
    name = options.dataset
    folder = Path(name).expanduser()
    if folder.is_dir() and not (folder / "manifest.json").is_file():
        raise DatasetError(f"{folder} has no manifest.json, so it is no finished dataset; build it again")
    path = str(folder) if folder.is_dir() else name
    try:
        builder = datasets.load_dataset_builder(path, config, revision=options.dataset_revision)
        if is_from_cache(builder) and "/" not in name:
            # With no such folder and no network, `datasets` would serve whatever folder of that name it saw last.
            raise FileNotFoundError(name)
        loaded = _loaded(builder, folder)
        if config + IDS in (builder.builder_configs or {}):
            by_id = datasets.load_dataset_builder(path, config + IDS, revision=options.dataset_revision)
            _warn_of_rows_by_id(config, loaded, _loaded(by_id, folder))
    except (DatasetNotFoundError, FileNotFoundError, ConnectionError) as err:
        raise DatasetError(
            f"the dataset {name!r} is neither a folder here nor reachable on the Hub; give its folder or Hub id with "
            f'--metadata \'{{"dataset": "..."}}\' or in {VARIABLE}'
        ) from err
    except (ValueError, OSError, DatasetsError) as err:
        if "BuilderConfig" in str(err):
            raise DatasetError(
                f"the dataset {name!r} has no setting {config}; its card lists those that it has"
            ) from err
        raise DatasetError(
            f"{config} of the dataset {name!r} cannot be loaded ({_first_cause(err)}); see that its folder is whole and that the "
            "disk of the cache of `datasets` has room"
        ) from err
    assert isinstance(loaded, datasets.DatasetDict)
    return loaded


def _loaded(builder: datasets.DatasetBuilder, folder: Path) -> datasets.DatasetDict:
    if folder.is_dir():
        _check_places(builder, folder)
    builder.download_and_prepare()
    return builder.as_dataset()


def _warn_of_rows_by_id(config: str, whole: datasets.DatasetDict, by_id: datasets.DatasetDict) -> None:
    """Say how much of the test split can be asked: who reads the score must not take it for that of the whole round."""
    here, lacking = len(whole.get("test", ())), len(by_id.get("test", ()))
    if lacking:
        _LOGGER.warning(
            "%s: %d of %d test papers are whole here, so that scores are of a subset; `academiceval fill` completes the rest",
            config, here, here + lacking,
        )  # fmt: skip


def _check_places(builder: datasets.DatasetBuilder, folder: Path) -> None:
    """Raise a DatasetError where the card names data outside its folder."""
    for files in (builder.config.data_files or {}).values():
        for file in files:
            if not is_inside(Path(file), folder):
                raise DatasetError(
                    f"the card of {folder} names {file}, which is not in the folder; build the dataset again"
                )


def _first_cause(err: BaseException) -> str:
    """What began a chain of errors, in a line."""
    while (earlier := err.__cause__ or err.__context__) is not None:
        err = earlier
    return f"{type(err).__name__}: {str(err).strip().partition(chr(10))[0][:200]}"


def rows_of_test(every: datasets.DatasetDict, config: str, options: Options) -> datasets.Dataset:
    """The test split, of the round that was asked for and within the window.

    Raises:
        DatasetError: there is none, or another round's.
    """
    if "test" not in every:
        raise DatasetError(f"the setting {config} has no test sample in this dataset; take another round")
    rows = every["test"]
    round_ = rows[0]["round"]
    if options.round and options.round != round_:
        raise DatasetError(
            f"the dataset {options.dataset!r} is round {round_}, but round {options.round} was asked for; "
            "give its folder, or its revision with dataset_revision"
        )
    rows = _in_window(rows, options.published_after, options.published_before)
    if not len(rows):
        raise DatasetError(
            f"no test sample of {config} is left in the publication window; widen it or take another round"
        )
    return rows


def _in_window(rows: datasets.Dataset, after: str | None, before: str | None) -> datasets.Dataset:
    """Rows published after and before the given ISO days."""
    if not after and not before:
        return rows
    days = rows["published"]
    return rows.select([i for i, day in enumerate(days) if (not after or day > after) and (not before or day < before)])
