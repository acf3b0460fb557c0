"""What the rest of the builder needs to know of each family of tasks and each kind of row, and how rows are read.

A family is a folder of `builder/families`, with the name that it has in `lm_eval_tasks/families`, whose list adds it. It describes itself
in `FAMILY`, and is loaded when a round has, or asks for, its rows, so that nothing here imports it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from builder.errors import FolderError
from lm_eval_tasks import families as evaluated
from lm_eval_tasks.base.contract import PAPERS_TASK, SPLITS, Split
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.base.manifest import DataFile, ListedConfiguration, place_of
from lm_eval_tasks.base.unpacked import batch_rows, largest_chunk

if TYPE_CHECKING:
    from builder.stage_report import StageReport
    from builder.store import Store
    from builder.workspace import Workspace
    from lm_eval_tasks.engines.registry import Engine

Row = dict[str, Any]
# In place of the texts of a row by id: by their places in the whole row, their hashes and lengths.
TEXTS = ("texts", pa.list_(pa.struct([("name", pa.string()), ("sha256", pa.string()), ("characters", pa.int64())])))
NAMES = (*evaluated.NAMES, PAPERS_TASK)
Lacking = Literal["missing_paper", "missing_file", "changed_text"]
Written = Iterator[tuple[ListedConfiguration, Sequence["StageReport"]]]
# Check -> the rows that fail it, as "Configuration id".
Faults = dict[str, list[str]]
# Offsets and bit maps, which differ with how a table is cut into batches.
_SLACK = 1 << 24


@dataclass(frozen=True, slots=True)
class RowKind:
    """A kind of row, such as that of a writing task or SCALAR's.

    Attributes:
        columns, id_columns: of whole rows, and of rows by id.
        paper_column: where a row has the id of the paper that it asks about.
        shown_column: the list of the papers that a row shows, or of the others; "" without one.
        texts: a whole row -> every text in it, by its place.
        papers: a row of either form -> (id with version, licence) of the papers whose texts it shows or represents.
        constants: columns that every row by id has, and whole rows have not.
    """

    columns: pa.Schema
    id_columns: pa.Schema
    paper_column: str
    shown_column: str
    texts: Callable[[Row], dict[str, str]]
    papers: Callable[[Row], list[tuple[str, str]]]
    constants: Mapping[str, str] = field(default_factory=dict)

    @property
    def facts(self) -> list[str]:
        """The columns, as pyarrow names them, that say which papers a row shows, and their licences."""
        shown = [f"{self.shown_column}.list.element.{name}" for name in ("id", "license") if self.shown_column]
        return [*dict.fromkeys(("id", self.paper_column, "license")), *shown]

    def id_row(self, row: Row, position: int) -> Row:
        """The row by id: of a whole row and its position in its split what `id_columns` have, and in place of its texts their hashes."""
        made = {
            **self.constants,
            "position": position,
            "texts": [
                {"name": name, "sha256": sha256_of_bytes(text), "characters": len(text)}
                for name, text in self.texts(row).items()
            ],
        }
        return {
            name: made[name] if name in made else _fields_of(row, self.id_columns.field(name))
            for name in self.id_columns.names
        }


def _fields_of(row: Row, column: pa.Field) -> Any:
    """What a column has of a whole row; of a list of records only their fields that it has, none if the row has no such list."""
    if not (pa.types.is_list(column.type) and pa.types.is_struct(column.type.value_type)):
        return row[column.name]
    names = [part.name for part in column.type.value_type]
    return [{name: record[name] for name in names} for record in row.get(column.name) or ()]


def hashes_of(row: Row) -> dict[str, str]:
    """The hashes of a row by id: place of a text in the whole row -> its hash."""
    return {text["name"]: text["sha256"] for text in row["texts"]}


def matches(texts: Mapping[str, str], hashes: Mapping[str, str]) -> bool:
    """Whether texts are those that these hashes were made of."""
    return {name: sha256_of_bytes(text) for name, text in texts.items()} == hashes


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A family of tasks; families that are made together have the same functions, which then are called once.

    Attributes:
        rows: a task, as manifests call it -> the kind of its rows.
        complete: a row by id and its task -> the whole row, or why it cannot be had.
        prepare: fetches and reads, before the build, what the rows need besides the papers.
        write: writes into a folder what the round asks for; each configuration with the reports of its stage.
        faults: the rows that fail the family's checks.
    """

    rows: Callable[[str], RowKind]
    complete: Callable[[Row, str, Store], Row | Lacking]
    prepare: Callable[[Workspace, Engine], None] | None = None
    write: Callable[[Workspace, Path, Engine], Written] | None = None
    faults: Callable[[Path, Sequence[ListedConfiguration]], Faults] | None = None


def family_of(task: str) -> Family:
    """The family of a manifest's task."""
    return _load(PAPERS_TASK if task == PAPERS_TASK else evaluated.of_task(task).name)


def families() -> list[Family]:
    """All families."""
    return [_load(name) for name in NAMES]


def prepare(workspace: Workspace, engine: Engine) -> None:
    """Fetch and read what the rows of all families need besides the papers."""
    for prepare_family in dict.fromkeys(family.prepare for family in families() if family.prepare):
        prepare_family(workspace, engine)


def write(workspace: Workspace, folder: Path, engine: Engine) -> Written:
    """Write into a folder what the round asks for of all families."""
    for write_family in dict.fromkeys(family.write for family in families() if family.write):
        yield from write_family(workspace, folder, engine)


def faults(folder: Path, configurations: Sequence[ListedConfiguration]) -> Faults:
    """The rows that fail the checks of their families."""
    checks = dict.fromkeys(family.faults for family in families() if family.faults)
    return {name: rows for check in checks for name, rows in check(folder, configurations).items()}


@cache
def _load(name: str) -> Family:
    family = import_module(f"builder.families.{name}").FAMILY
    assert isinstance(family, Family)
    return family


# --- rows as a manifest lists them


def kind_of(configuration: ListedConfiguration) -> RowKind:
    """The kind of a configuration's rows."""
    return family_of(configuration.task).rows(configuration.task)


def columns_of(configuration: ListedConfiguration) -> pa.Schema:
    """The columns of a configuration's files."""
    kind = kind_of(configuration)
    return kind.id_columns if configuration.form == "ids" else kind.columns


def read_rows(
    folder: Path, configuration: ListedConfiguration, split: Split, columns: Sequence[str] | None = None
) -> Iterator[Row]:
    """The rows of one split of a dataset folder, few in memory at a time.

    Args:
        columns: those that are read, as pyarrow names them (`demonstrations.list.element.id` for a part of a list); all without any.

    Raises:
        FolderError: a file is missing, or is not what its configuration says.
    """
    for file in configuration.files(split):
        yield from _rows(folder, configuration, file, columns)


def _rows(
    folder: Path, configuration: ListedConfiguration, data_file: DataFile, columns: Sequence[str] | None
) -> Iterator[Row]:
    path, size = place_of(folder, data_file.path), 0
    try:
        with pq.ParquetFile(path) as file:
            if not file.schema_arrow.equals(columns_of(configuration)) or file.metadata.num_rows != data_file.rows:
                raise FolderError(f"{path} does not have the columns and rows of {configuration.name}; build it again")
            largest = largest_chunk(file.metadata)
            if largest > data_file.nbytes + _SLACK:
                raise FolderError(f"{path} contains more than its manifest says; build the folder again")
            for batch in file.iter_batches(batch_rows(largest), columns=columns):
                size += batch.nbytes
                if size > data_file.nbytes + _SLACK or any(map(_has_null, batch.columns)):
                    raise FolderError(
                        f"{path} contains more than its manifest says, or empty cells; build the folder again"
                    )
                yield from batch.to_pylist()
    except (pa.ArrowException, OSError, UnicodeDecodeError) as err:
        reason = str(err).partition("\n")[0]
        raise FolderError(f"{path} cannot be read ({reason}); build the folder again") from err


def _has_null(array: pa.Array) -> bool:
    if array.null_count:
        return True
    if pa.types.is_struct(array.type):
        return any(_has_null(part) for part in array.flatten())
    return pa.types.is_list(array.type) and _has_null(array.flatten())


def rows_of(
    folder: Path, configuration: ListedConfiguration, columns: Sequence[str] | None = None
) -> Iterator[tuple[Split, Row]]:
    """The rows of a configuration with their splits, split after split; see `read_rows`."""
    for split in SPLITS:
        for row in read_rows(folder, configuration, split, columns):
            yield split, row


def with_positions(rows: Iterable[Row], taken: Collection[int]) -> Iterator[tuple[int, Row]]:
    """The whole rows of a split with their positions in the completed one: those that no row by id has, in order."""
    return zip((position for position in count() if position not in taken), rows, strict=False)
