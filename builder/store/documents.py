"""The tables of documents and of the links between references and papers."""

import json
import zlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import get_args

from pydantic import TypeAdapter, ValidationError

from builder.errors import StoreError
from builder.records import READING_REASONS, Document, FileType, Link, Quality
from builder.store.tables import Tables
from lm_eval_tasks.base.text import valid

_DOCUMENT = TypeAdapter(Document)


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """What became of one file of a paper: a document, or the reason why there is none.

    Attributes:
        file_sha256: hash of the file that was read, "" if there was none.
        reason: a member of `records.ExtractReason`; "" for a document.
    """

    file_sha256: str
    reason: str = ""
    detail: str = ""
    quality: Quality | None = None
    document: Document | None = None


class DocumentTables(Tables):
    """What a store knows about the papers' files."""

    def put_document(self, paper_id: str, file_type: FileType, extractor: str, outcome: FileOutcome) -> None:
        """Note the outcome of one extraction.

        Args:
            extractor: version of the extraction code.
        """
        document, quality = outcome.document, outcome.quality
        body = zlib.compress(_DOCUMENT.dump_json(document)) if document else None
        figures = json.dumps(asdict(quality)) if quality else None
        self._db.execute(
            "INSERT OR REPLACE INTO documents VALUES (?,?,?,?,?,?,?,?)",
            (paper_id, file_type, extractor, outcome.file_sha256, outcome.reason, valid(outcome.detail), figures, body),
        )

    def read_file(self, paper_id: str, file_type: FileType, extractor: str) -> str | None:
        """Hash of the file that this version of the extractor read last; None if it has read none to its end."""
        row = self._db.execute(
            "SELECT file_sha256, reason FROM documents WHERE id = ? AND kind = ? AND extractor = ?",
            (paper_id, file_type, extractor),
        ).fetchone()
        return row[0] if row and row[1] not in READING_REASONS else None

    def is_read(self, paper_id: str, extractor: str) -> bool:
        """Tell whether this version of the extractor made a document of a paper."""
        query = "SELECT 1 FROM documents WHERE id = ? AND extractor = ? AND body IS NOT NULL"
        return bool(self._value(query, paper_id, extractor))

    def outcomes(self, paper_id: str) -> dict[FileType, tuple[str, Quality | None]]:
        """Return for each kind of file that was looked for: the reason why it gave no document ("" if it did), and the quality."""
        rows = self._db.execute("SELECT kind, reason, quality FROM documents WHERE id = ? ORDER BY kind", (paper_id,))
        return {
            file_type: (reason, Quality(**json.loads(quality)) if quality else None)
            for file_type, reason, quality in rows
        }

    def document(self, paper_id: str, file_type: FileType) -> Document | None:
        packed = self.packed_document(paper_id, file_type)
        return unpack_document(packed, paper_id) if packed else None

    def documents(self, paper_id: str) -> list[Document]:
        return [
            document for file_type in get_args(FileType) if (document := self.document(paper_id, file_type)) is not None
        ]

    def packed_document(self, paper_id: str, file_type: FileType) -> bytes | None:
        """Return a document for `unpacked`, which another process may do."""
        body: bytes | None = self._value("SELECT body FROM documents WHERE id = ? AND kind = ?", paper_id, file_type)
        return body

    def put_links(self, paper_id: str, links: Iterable[Link], by: str) -> None:
        """Replace the links of one paper; `by` says what they depend on."""
        self._db.execute("INSERT OR REPLACE INTO linked VALUES (?, ?)", (paper_id, by))
        self._db.execute("DELETE FROM links WHERE id = ?", (paper_id,))
        self._db.executemany(
            "INSERT INTO links VALUES (?,?,?,?,?)",
            ((link.paper_id, link.reference, link.cited_id, link.how, link.score) for link in links),
        )

    def linked_by(self, paper_id: str) -> str | None:
        by: str | None = self._value("SELECT by FROM linked WHERE id = ?", paper_id)
        return by

    def was_asked(self, key: str, round_: str = "") -> bool:
        """Tell whether the round (without one, any round) has already asked the source for this."""
        return bool(self._value("SELECT 1 FROM asked WHERE key = ? AND ? IN (round, '')", key, round_))

    def note_asked(self, keys: Iterable[str], round_: str) -> None:
        self._db.executemany("INSERT OR IGNORE INTO asked VALUES (?, ?)", ((key, round_) for key in keys))

    def times_asked(self, prefix: str, round_: str) -> int:
        return int(self._value("SELECT count(*) FROM asked WHERE round = ? AND key GLOB ?", round_, f"{prefix}*"))

    def links(self, paper_id: str) -> list[Link]:
        rows = self._db.execute(
            "SELECT id, reference, cited_id, how, score FROM links WHERE id = ? ORDER BY reference", (paper_id,)
        )
        return [Link(*row) for row in rows]

    def cited_ids(self, paper_id: str) -> dict[int, str]:
        """Return entry of a paper's reference list -> id of the paper that it is, where that is known."""
        return {link.reference: link.cited_id for link in self.links(paper_id) if link.cited_id}


def unpack_document(packed: bytes, paper_id: str) -> Document:
    """Return the document that `DocumentTables.packed_document` gave; a StoreError if it is damaged."""
    try:
        return _DOCUMENT.validate_json(zlib.decompress(packed))
    except (zlib.error, ValidationError) as err:
        raise StoreError(
            f"the store's document of {paper_id} is damaged; restore a copy of the store, or delete it and run the command again"
        ) from err
