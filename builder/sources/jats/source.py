"""A source that is a collection of JATS files. What their fronts say is kept as a file of records, which a mirror looks up."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builder.errors import SourceError
from builder.ids import stem_of
from builder.packed import OF_THE_FILE
from builder.records import Drop, FileKind, Paper
from builder.sources.jats.archives import files_of
from builder.sources.jats.front import other_abstracts, paper_of
from builder.sources.jats.markup import NotJatsError, read_article
from builder.sources.mirror import MirrorSource
from builder.sources.object_store import is_address, local_copy
from lm_eval_tasks.base.files import sha256_of_bytes, write_whole
from lm_eval_tasks.base.journal import Journal
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.base.text import is_valid, valid
from lm_eval_tasks.base.waiting import announce

if TYPE_CHECKING:
    from builder.round.model import Round
    from builder.round.source import JatsTable
    from builder.store import Store

# Raise with every change that can affect a record: fronts are read again.
READER = "5"
_RECORDS, _FRONTS = "metadata.jsonl", "fronts.journal"


class JatsSource(MirrorSource):
    """A folder, archive or address of JATS files.

    Args:
        path: where they are.
        workspace: where their records, and what is unpacked or fetched, are kept.

    Raises:
        SourceError: there are none, or they cannot be read.
    """

    def __init__(self, path: str, workspace: Path) -> None:
        self._place = workspace / "jats"
        self._place.mkdir(parents=True, exist_ok=True)
        fronts = list(_read_fronts(files_of(path, self._place), Journal(self._place / _FRONTS)))
        records = list(_newest(fronts))
        self._files = {record["id"]: record["file"] for record in records if "file" in record}
        self._known_as = {other: record["id"] for record in records for other in record.get("other_ids", ())}
        beside = sum(front["beside"] for front in fronts)
        place = self._place / _RECORDS
        if beside and not place.is_file():
            announce(f"{beside} summaries for other readers are left out of the abstracts of {len(fronts)} files")
        lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        if not place.is_file() or place.read_text(encoding="utf-8") != lines:
            write_whole(place, lines)
        super().__init__(self._place, _RECORDS, index=self._place / "index.sqlite3")

    def by_ids(self, ids: Iterable[str]) -> Iterator[Paper | Drop]:
        return super().by_ids(self._known_as.get(name, name) for name in ids)

    def fetch(self, kind: FileKind, paper_id: str, version: int) -> Path | None:
        name = self._files.get(paper_id)
        if name is None or not is_address(name):
            return Path(name) if name else None
        which = sha256_of_bytes(name)[:8]
        place = self._place / "fetched" / f"{stem_of(paper_id)}-{which}{''.join(Path(name).suffixes[-2:])[-20:]}"
        if not place.is_file():
            try:
                with local_copy(name) as copy:
                    place.parent.mkdir(exist_ok=True)
                    write_whole(place, copy.read_bytes())
            except OF_THE_FILE:
                return None
        return place


def _read_fronts(files: Sequence[str], known: Journal) -> Iterator[dict[str, Any]]:
    """What the front of each file says, in order; only what is new or has changed is read, and noted at once."""
    for name in progress(files, "read fronts", len(files)):
        state = _state(name)
        if not is_valid(name):
            yield {"file": valid(name), **_no_record(name)}
            continue
        if known.get(name, {}).get("state") != state:
            known.add(name, {"file": name, "state": state, **_front(name)})
        yield known[name]


def _state(name: str) -> str:
    """What tells whether a file may have changed since its front was read; nothing does for an address."""
    if is_address(name):
        return READER
    try:
        stat = Path(name).stat()
    except OSError as err:
        raise SourceError(f"cannot read {name}: {err.strerror}") from err
    return f"{READER} {stat.st_ino} {stat.st_size} {stat.st_mtime_ns} {stat.st_ctime_ns}"


def _front(name: str) -> dict[str, Any]:
    """The record of an article, or the id and reason of one that does not become a paper."""
    try:
        with local_copy(name) as path:
            article = read_article(path)
    except (NotJatsError, *OF_THE_FILE):
        return _no_record(name)
    item = paper_of(article)
    metadata = article.find("front/article-meta")
    beside = other_abstracts(metadata) if metadata is not None else 0
    if isinstance(item, Drop):
        return {"id": item.id, "drop": item.reason, "beside": beside}
    return {"record": record_of(item), "beside": beside}


def _no_record(name: str) -> dict[str, Any]:
    return {"id": valid(Path(name).name[:100]), "drop": "bad_record", "beside": 0}


def record_of(paper: Paper) -> dict[str, Any]:
    """A paper as a line of a metadata file, see `sources.metadata_file`."""
    return asdict(paper) | {"published": paper.published.isoformat(), "updated": paper.updated.isoformat()}


def _newest(fronts: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The lines of the metadata file: of an article with several files the newest version, the others as drops."""
    best: dict[str, tuple[int, str, str]] = {}
    for front in fronts:
        if record := front.get("record"):
            best[record["id"]] = max(best.get(record["id"], (0, "", "")), _rank(front))
    seen: Counter[str] = Counter()
    for front in fronts:
        record = front.get("record")
        if record is None:
            yield {"id": front["id"], "drop": front["drop"]}
        elif best[record["id"]] == _rank(front):
            yield {**record, "file": front["file"]}
        else:
            seen[record["id"]] += 1
            yield {"id": f"{record['id']} ({seen[record['id']]})", "drop": "older_version"}


def _rank(front: dict[str, Any]) -> tuple[int, str, str]:
    """The newest version first; of two that are the same, what they say decides, wherever their files lie."""
    return front["record"]["version"], json.dumps(front["record"], sort_keys=True), front["file"]


def open_source(table: JatsTable, round_: Round, store: Store) -> JatsSource:
    """The articles of a round."""
    return JatsSource(table.path, round_.workspace)
