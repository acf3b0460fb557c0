"""A source that is a folder of PDFs with a table of them (`builder.extract.pdf_table` makes it), which its owner may correct."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from builder.errors import SourceError
from builder.ids import bare_id
from builder.sources.metadata_file import table_rows
from builder.sources.mirror import MirrorSource

if TYPE_CHECKING:
    from builder.records import FileKind
    from builder.round.model import Round
    from builder.round.source import PdfsTable
    from builder.store import Store


class PdfsSource(MirrorSource):
    """The papers of a table, each with its file in a folder.

    Args:
        folder: of the PDFs.
        table: a CSV file; its column `file` is relative to the folder.
        index: where to keep an index of the table.

    Raises:
        SourceError: there is no such folder or table.
    """

    def __init__(self, folder: Path, table: Path, index: Path) -> None:
        if not table.is_file():
            raise SourceError(
                f"there is no table {table}: `academiceval init --source pdfs {folder}` writes one from the PDFs"
            )
        super().__init__(folder, str(table.resolve()), index=index)
        self._files = {bare_id(row["id"]): folder / row["file"] for row in table_rows(table)}

    def fetch(self, kind: FileKind, paper_id: str, version: int) -> Path | None:
        path = self._files.get(paper_id)
        return path if kind == "pdf" and path is not None and path.is_file() else None


def open_source(table: PdfsTable, round_: Round, store: Store) -> PdfsSource:
    """The PDFs of a round; the index of their table lies in the workspace."""
    return PdfsSource(table.path, table.table, round_.workspace / "pdfs.sqlite3")
