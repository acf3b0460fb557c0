"""A source that is a collection of JATS files. What their fronts say is kept as a file of records, which a mirror looks up."""

import json
import os
import re
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import IO, Any

from builder.errors import ExtractError, SourceError
from builder.ids import stem_of
from builder.packed import ERRORS, MOST_BYTES, OF_THE_FILE
from builder.records import Drop, FileType, Paper
from builder.round.model import Round
from builder.round.source import JatsTable
from builder.sources.jats.front import is_of_a_year, other_abstracts, paper_of
from builder.sources.jats.markup import ENDINGS, read_article
from builder.sources.mirror import MirrorSource
from builder.sources.object_store import expand_names, is_address, local_copy
from builder.store import Store
from lm_eval_tasks.base.files import sha256_of_bytes, sync_folder, write_whole
from lm_eval_tasks.base.journal import Journal
from lm_eval_tasks.base.progress import announce, progress
from lm_eval_tasks.base.text import is_valid, valid

# Raise with every change that can affect a record: fronts are read again.
READER = "12"
_RECORDS, _FRONTS = "metadata.jsonl", "fronts.journal"
_TARS, _ZIPS = (".tar", ".tar.gz", ".tgz", ".tar.xz"), (".zip", ".meca")
# Hidden files, and of a MECA archive everything but the article: https://www.niso.org/publications/rp-30-2020-meca
_NO_ARTICLES = re.compile(r"\.|(?:manifest|transfer|directives|peer-review)\.xml$")
_DONE = "unpacked"
# Articles pack to a fifth; what an archive may unpack to, in all.
_MOST_TIMES, _LEAST_UNPACKED = 100, 1 << 28
# Bytes of archives that are looked into for the number of their articles.
_MOST_COUNTED = 1 << 26
# What reading an archive may raise; a ValueError for a name that is not in the encoding that it states.
_OF_ARCHIVES = (tarfile.TarError, zipfile.BadZipFile, RuntimeError, ValueError, *ERRORS)


class JatsSource(MirrorSource):
    """A folder, archive or address of JATS files.

    Args:
        path: where they are.
        workspace: where their records, and what is unpacked or fetched, are kept.

    Raises:
        SourceError: there are none, or they cannot be read.
    """

    def __init__(self, path: str, workspace: Path) -> None:
        self._folder = workspace / "jats"
        self._folder.mkdir(parents=True, exist_ok=True)
        fronts = list(_read_fronts(files_of(path, self._folder), Journal(self._folder / _FRONTS, durable=False)))
        records = list(_newest(fronts))
        self._files = {record["id"]: record["file"] for record in records if "file" in record}
        self._known_as = {other: record["id"] for record in records for other in record.get("other_ids", ())}
        beside, of_a_year = (sum(front[name] for front in fronts) for name in ("beside", "of_a_year"))
        records_file = self._folder / _RECORDS
        if beside and not records_file.is_file():
            announce(f"{beside} summaries for other readers are left out of the abstracts of {len(fronts)} files")
        if of_a_year and not records_file.is_file():
            announce(f"{of_a_year} articles say no more of their day than its year, and count as of 1 January")
        lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        if not records_file.is_file() or records_file.read_text(encoding="utf-8") != lines:
            write_whole(records_file, lines)
        super().__init__(self._folder, _RECORDS, index=self._folder / "index.sqlite3")

    def by_ids(self, ids: Iterable[str]) -> Iterator[Paper | Drop]:
        return super().by_ids(self._known_as.get(name, name) for name in ids)

    def fetch(self, file_type: FileType, paper_id: str, version: int) -> Path | None:
        name = self._files.get(paper_id)
        if name is None or not is_address(name):
            return Path(name) if name else None
        which = sha256_of_bytes(name)[:8]
        file = self._folder / "fetched" / f"{stem_of(paper_id)}-{which}{''.join(Path(name).suffixes[-2:])[-20:]}"
        if not file.is_file():
            try:
                with local_copy(name) as copy:
                    file.parent.mkdir(exist_ok=True)
                    write_whole(file, copy.read_bytes())
            except OF_THE_FILE:
                return None
        return file


def _read_fronts(files: Sequence[str], known: Journal) -> Iterator[dict[str, Any]]:
    """Yield what the front of each file says, in order; only what is new or has changed is read, and noted at once."""
    for name in progress(files, "read fronts", len(files)):
        state = _state(name)
        if not is_valid(name):
            yield {"file": valid(name), **_no_record(name)}
            continue
        if known.get(name, {}).get("state") != state:
            known.add(name, {"file": name, "state": state, **_front(name)})
        yield known[name]


_VERSION_IN_NAME = re.compile(r"-v([1-9]\d{0,2})\.n?xml", re.IGNORECASE)


def _state(name: str) -> str:
    """Return what tells whether a file may have changed since its front was read; nothing does for an address."""
    if is_address(name):
        return READER
    try:
        stat = Path(name).stat()
    except OSError as err:
        raise SourceError(f"cannot read {name}: {err.strerror}") from err
    return f"{READER} {stat.st_ino} {stat.st_size} {stat.st_mtime_ns} {stat.st_ctime_ns}"


def _front(name: str) -> dict[str, Any]:
    """Return an article's line of a metadata file, see `sources.metadata_file`, or the id and reason of one that does not become a
    paper.
    """
    try:
        with local_copy(name) as path:
            article = read_article(path)
    except (ExtractError, *OF_THE_FILE):
        return _no_record(name)
    # eLife's articles do not say their version, but their files do.
    named = _VERSION_IN_NAME.search(name)
    item = paper_of(article, int(named[1]) if named else 1)
    metadata = article.find("front/article-meta")
    beside = other_abstracts(metadata) if metadata is not None else 0
    if isinstance(item, Drop):
        return {"id": item.id, "drop": item.reason, "beside": beside, "of_a_year": 0}
    return {
        "record": asdict(item) | {"published": item.published.isoformat(), "updated": item.updated.isoformat()},
        "beside": beside,
        "of_a_year": int(metadata is not None and is_of_a_year(metadata, item.id)),
    }


def _no_record(name: str) -> dict[str, Any]:
    return {"id": valid(Path(name).name[:100]), "drop": "bad_record", "beside": 0, "of_a_year": 0}


def _newest(fronts: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the lines of the metadata file: of an article with several files the newest version, the others as drops."""
    best: dict[str, tuple[int, str, str]] = {}
    # What one version says was taken back is no paper in any.
    gone = {front["id"] for front in fronts if front.get("drop") == "withdrawn"}
    for front in fronts:
        if (record := front.get("record")) and record["id"] not in gone:
            best[record["id"]] = max(best.get(record["id"], (0, "", "")), _rank(front))
    seen: Counter[str] = Counter()
    for front in fronts:
        record = front.get("record")
        if record and best.get(record["id"]) == _rank(front):
            yield {**record, "file": front["file"]}
            continue
        # Files in several folders may have one name or id, and each counts.
        id_ = (record or front)["id"]
        seen[id_] += 1
        # The id alone is the paper's, or that of what gave none.
        is_alone = record is None and seen[id_] == 1
        yield {"id": id_ if is_alone else f"{id_} ({seen[id_]})", "drop": front.get("drop", "older_version")}


def _rank(front: dict[str, Any]) -> tuple[int, str, str]:
    """Return the newest version first; of two that are the same, what they say decides, wherever their files lie."""
    return front["record"]["version"], json.dumps(front["record"], sort_keys=True), front["file"]


def open_source(table: JatsTable, round_: Round, store: Store) -> JatsSource:
    """Return the articles of a round."""
    return JatsSource(table.path, round_.workspace)


# --- where the files lie: in a folder, in archives (PMC's packages, bioRxiv's MECA), or in an object store


def files_of(path: str, workspace: Path) -> list[str]:
    """Return the paths and addresses of the articles, in order; archives are unpacked in the workspace, once.

    Raises:
        SourceError: there is nothing, or something cannot be read.
    """
    names = expand_names([path]) if is_address(path) else _files_below(Path(path), workspace)
    articles: list[str] = []
    for name in names:
        if name.lower().endswith(_TARS + _ZIPS):
            stat = None if is_address(name) else Path(name).stat()
            # One that was changed gets another folder.
            state = os.fsencode(f"{Path(name).resolve()} {stat.st_size} {stat.st_mtime_ns}") if stat else name
            articles += sorted(map(str, _unpack(name, workspace / "unpacked" / sha256_of_bytes(state)[:16])))
        elif name.lower().endswith(ENDINGS):
            articles.append(name)
    if not articles:
        raise SourceError(f"{path} has no article in JATS: name a folder or archive with .xml or .nxml files in it")
    return articles


def _files_below(path: Path, workspace: Path) -> list[str]:
    """Return the files of a folder, without what the workspace keeps, should it lie there."""
    if path.is_file():
        return [str(path)]
    if not path.is_dir():
        raise SourceError(f"there is no {path}; `source.path` in round.toml says where the articles are")
    own = workspace.resolve()
    files = (file for file in path.rglob("*") if file.is_file() and not file.resolve().is_relative_to(own))
    return sorted(map(str, files))


def count_articles(path: Path) -> int | None:
    """Count the articles of a folder or archive; None if there is none, or if an archive is damaged or too large to be counted."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    archives = [file for file in files if file.name.lower().endswith(_TARS + _ZIPS)]
    if not files or sum(file.stat().st_size for file in archives) > _MOST_COUNTED:
        return None
    try:
        members = [member for archive in archives for member, _ in _members(archive) if _is_article(member)]
    except _OF_ARCHIVES:
        return None
    return len(members) + sum(file.name.lower().endswith(ENDINGS) for file in files)


def _is_article(member: PurePosixPath) -> bool:
    return member.name.lower().endswith(ENDINGS) and not _NO_ARTICLES.match(member.name)


def _unpack(name: str, folder: Path) -> list[Path]:
    """Return the articles of an archive as files. What is not an article is left in it, and so are paths that lead elsewhere."""
    if not (folder / _DONE).is_file():
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with local_copy(name) as archive:
                left = max(_LEAST_UNPACKED, _MOST_TIMES * archive.stat().st_size)
                articles = ((path.name, content) for path, content in _members(archive) if _is_article(path))
                for number, (member, content) in enumerate(articles):
                    data = content.read(MOST_BYTES + 1)
                    left -= len(data)
                    if left < 0:
                        raise SourceError(
                            f"the articles in {name} are more than {_MOST_TIMES} times as large as the archive: take it away, or unpack it "
                            "yourself if you trust it"
                        )
                    if len(data) <= MOST_BYTES:
                        # Members of one name in several folders are different articles.
                        write_whole(folder / f"{number:07d}-{member[-50:]}", data)
        except OF_THE_FILE as err:
            raise SourceError(f"cannot read {name}: {err}") from err
        except _OF_ARCHIVES as err:
            raise SourceError(f"the archive {name} cannot be unpacked ({err}); get it again, or take it away") from err
        sync_folder(folder)
        write_whole(folder / _DONE, b"")
    return [file for file in folder.iterdir() if file.name.lower().endswith(ENDINGS)]


def _members(archive: Path) -> Iterator[tuple[PurePosixPath, IO[bytes]]]:
    if archive.name.lower().endswith(_ZIPS):
        with zipfile.ZipFile(archive) as packed:
            for info in packed.infolist():
                if not info.is_dir():
                    yield PurePosixPath(info.filename), packed.open(info)
    else:
        with tarfile.open(archive) as packed_tar:
            for member in packed_tar:
                if member.isfile() and (content := packed_tar.extractfile(member)) is not None:
                    yield PurePosixPath(member.name), content
