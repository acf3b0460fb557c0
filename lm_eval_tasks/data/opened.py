"""Dataset folder or Hub id -> the rows that a run asks for."""

import glob
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import datasets
from datasets.exceptions import DatasetNotFoundError, DatasetsError

from lm_eval_tasks.base.contract import IDS
from lm_eval_tasks.base.errors import DatasetError
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.base.manifest import ListedConfiguration
from lm_eval_tasks.base.metadata import SPLIT_OPTIONS
from lm_eval_tasks.base.text import ODD
from lm_eval_tasks.base.typed import typed
from lm_eval_tasks.compat.datasets import lacks_configuration
from lm_eval_tasks.data.options import Options
from lm_eval_tasks.data.round_folder import RoundFolder, check_dataset, first_versions_of, unreachable

_LOGGER = logging.getLogger(__name__)
_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class Opened:
    """A configuration.

    Attributes:
        splits: with the rows that are whole here.
        lacking: split -> how many more rows the round has: by id only, or not in this copy at all.
        revision: the Hub's 40 digits, or for a folder the sha256 of its manifest.
        made_up: whether its papers are.
    """

    splits: datasets.DatasetDict
    lacking: Mapping[str, int]
    revision: str
    made_up: bool = False

    def sizes(self, split: str) -> tuple[int, int]:
        """Return how many rows of a split are whole here, and how many more there are in the round."""
        names = {*self.splits, *self.lacking} if split == "all" else {split}
        whole = sum(len(self.splits[name]) for name in names if name in self.splits)
        return whole, sum(self.lacking.get(name, 0) for name in names)


def open_dataset(config: str, options: Options) -> Opened:
    """Return all splits of a configuration; a DatasetError if the dataset does not exist, is unfinished, or lacks the configuration."""
    name = options.dataset
    folder = Path(name).expanduser()
    is_folder = folder.is_dir()
    if not is_folder:
        check_dataset(name)
    elif options.dataset_revision:
        _LOGGER.warning(
            "dataset_revision=%s is ignored: %s is a folder, which has one revision", options.dataset_revision, folder
        )
    try:
        opened = _open_folder(RoundFolder.of(folder), config) if is_folder else _open_from_hub(config, options)
    except (DatasetNotFoundError, FileNotFoundError, ConnectionError) as err:
        if is_folder:
            raise _not_loaded(name, config, err) from err
        if options.dataset_revision and (known := first_versions_of(name)):
            raise DatasetError(
                f"the dataset {name!r} has no revision {options.dataset_revision}; it has {', '.join(known)}"
            ) from err
        raise DatasetError(unreachable(name)) from err
    except (*ODD, OSError, RuntimeError, DatasetsError) as err:
        if lacks_configuration(err):
            raise DatasetError(
                f"the dataset {name!r} has no setting {config}; its card lists those that it has"
            ) from err
        raise _not_loaded(name, config, err) from err
    here, lacking = opened.sizes(options.split)
    if lacking:
        # Readers must not take the score for that of the whole round.
        _LOGGER.warning(
            "%s: %d of %d %s papers are whole here, so scores are of a subset; `academiceval fill` completes the rest",
            config,
            here,
            here + lacking,
            "test" if options.split == "test" else f"{options.split} split",
        )
    return opened


def _not_loaded(name: str, config: str, err: BaseException) -> DatasetError:
    while (earlier := err.__cause__ or err.__context__) is not None:
        err = earlier
    cause = f"{type(err).__name__}: {str(err).strip().partition(chr(10))[0][:200]}"
    return DatasetError(
        f"{config} of the dataset {name!r} cannot be loaded ({cause}); check that its folder is whole, and that "
        "the cache of `datasets` can be written and has room (HF_DATASETS_CACHE names another folder)"
    )


def _open_folder(folder: RoundFolder, config: str) -> Opened:
    """Open a folder from the files that the manifest lists, if they are what it says; the card, which `datasets` goes by, is not asked."""
    configuration, by_ids = folder.configuration(config), folder.manifest.by_ids_of(config)
    lacking: dict[str, int] = {
        split: contents.lacking for split, contents in configuration.splits.items() if contents.lacking
    }
    return Opened(
        _load_files(folder, configuration),
        _sizes(_load_files(folder, by_ids)) if by_ids else lacking,
        folder.revision,
        folder.is_made_up,
    )


def _load_files(folder: RoundFolder, configuration: ListedConfiguration) -> datasets.DatasetDict:
    splits = folder.checked_files(configuration)
    # The copies that `datasets` keeps, which knows files by name and time alone: other contents, another folder.
    digests = sha256_of_bytes(" ".join(file.sha256 for file in configuration.every_file))
    cache = str(Path(datasets.config.HF_DATASETS_CACHE) / f"academiceval-{digests[:16]}")
    # A path is taken for a pattern; `load_dataset` would also tell a server which builder it loads.
    return datasets.DatasetDict(
        {
            split: datasets.Dataset.from_parquet(
                [glob.escape(str(file)) for file in files], split=datasets.NamedSplit(split), cache_dir=cache
            )
            for split, files in splits.items()
            if files
        }
    )


def _open_from_hub(config: str, options: Options) -> Opened:
    def builder_of(configuration: str) -> datasets.DatasetBuilder:
        # Without its warnings that it uses its cache: a copy is used only if that is right, and reported otherwise.
        before = datasets.utils.logging.get_verbosity()
        datasets.utils.logging.set_verbosity_error()
        try:
            return datasets.load_dataset_builder(options.dataset, configuration, revision=options.dataset_revision)
        finally:
            datasets.utils.logging.set_verbosity(before)

    builder = builder_of(config)
    by_id = _load_splits(builder_of(config + IDS)) if config + IDS in (builder.builder_configs or {}) else {}
    return Opened(_load_splits(builder), _sizes(by_id), str(builder.hash))


def _sizes(rows: Mapping[str, datasets.Dataset]) -> dict[str, int]:
    return {split: len(of_split) for split, of_split in rows.items()}


def _load_splits(builder: datasets.DatasetBuilder) -> datasets.DatasetDict:
    builder.download_and_prepare()
    loaded = builder.as_dataset()
    assert isinstance(loaded, datasets.DatasetDict)
    return loaded


def rows_of_split(opened: Opened, config: str, options: Options, columns: Iterable[str] = ()) -> datasets.Dataset:
    """Return the rows of the split that was asked for, which is test by default.

    Raises:
        DatasetError: there are none, they lack one of the columns, belong to another round or to several, or two have one id.
    """
    names = [
        name for name in (SPLIT_OPTIONS[:-1] if options.split == "all" else [options.split]) if name in opened.splits
    ]
    if not names:
        raise DatasetError(
            f"the setting {config} has no {options.split} sample in this dataset; take another round, or build one that "
            "has it (`split`, `scalar.splits`)"
        )
    rows = datasets.concatenate_datasets([opened.splits[name] for name in names])
    if missing := sorted({"id", "round", *columns} - set(rows.column_names)):
        raise DatasetError(
            f"the setting {config} of the dataset {options.dataset!r} has no column {missing[0]!r}; build it again"
        )
    round_, rounds = rows[0]["round"], rows.unique("round")
    if len(rounds) > 1 or len(rows.unique("id")) < len(rows):
        what = (
            f"are of the rounds {', '.join(map(str, rounds))}"
            if len(rounds) > 1
            else "do not all have an id of their own"
        )
        raise DatasetError(f"the rows of {config} of the dataset {options.dataset!r} {what}: get the dataset again")
    if options.round and options.round != round_:
        raise DatasetError(
            f"the dataset {options.dataset!r} is round {round_}, but round {options.round} was asked for; "
            "give its folder, or its revision with dataset_revision"
        )
    return rows


@dataclass(frozen=True, slots=True)
class TypedRows(Generic[_Row]):
    """The rows of a configuration as records of their family, each checked when it is read.

    Attributes:
        check: raises a ValueError for a row that the family cannot ask.

    Raises:
        DatasetError: a row is not what the family's rows are.
    """

    type_: type[_Row]
    rows: datasets.Dataset
    config: str
    check: Callable[[_Row], None] = lambda row: None

    def __getitem__(self, index: int) -> _Row:
        return self._typed(self.rows[index], index)

    def __iter__(self) -> Iterator[_Row]:
        return (self._typed(row, index) for index, row in enumerate(self.rows))

    def _typed(self, row: object, index: int) -> _Row:
        try:
            record = typed(self.type_, row)
            self.check(record)
            return record
        except ValueError as err:
            raise DatasetError(f"row {index} of {self.config} cannot be used ({err}): get the dataset again") from err
