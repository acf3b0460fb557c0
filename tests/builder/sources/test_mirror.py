"""Folders of metadata and files, and the index of a metadata file."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import random
import tracemalloc
from datetime import date
from pathlib import Path

import pytest
import zstandard

from builder import packed
from builder.errors import SourceError
from builder.records import Drop, Paper
from builder.sources import mirror
from builder.sources.metadata_file import paper_from_record, read_metadata
from builder.sources.mirror import MetadataIndex, MirrorSource, count_papers
from builder.store import Store
from tests.helpers import papers

PLAIN = {
    "id": "2601.00001",
    "version": "v2",
    "title": "A  title\n wrapped",
    "abstract": " Text. ",
    "authors": ["Ada Lovelace", "Bo Ek"],
    "categories": ["cs.CL", "cs.AI"],
    "published": "2026-01-05",
    "updated": "2026-02-01",
}
KAGGLE = {
    "id": "0704.0001",
    "title": "Old style",
    "abstract": "Text.",
    "authors": "A. Lovelace, B. Ek and C. Dee",
    "categories": "hep-ph gr-qc",
    "comments": None,
    "license": None,
    "update_date": "2008-11-26",
    "versions": [
        {"version": "v1", "created": "Mon, 2 Apr 2007 19:18:42 GMT"},
        {"version": "v2", "created": "Tue, 24 Jul 2007 20:10:27 GMT"},
    ],
    "authors_parsed": [["Lovelace", "A.", ""], ["Ek", "B.", "Jr."], ["Dee", "C.", "", "MIT"]],
}


def make(folder: Path, records: list[object], name: str = "meta.jsonl") -> Path:
    text = "".join((json.dumps(r) if isinstance(r, dict) else str(r)) + "\n" for r in records).encode()
    packed = {".gz": gzip.compress, ".xz": lzma.compress, ".zst": zstandard.compress}.get(Path(name).suffix, bytes)(
        text
    )
    (folder / name).write_bytes(packed)
    return folder


def test_both_record_shapes_become_papers() -> None:
    plain, kaggle = paper_from_record(PLAIN), paper_from_record(KAGGLE)
    assert (plain.title, plain.abstract, plain.version, plain.license) == ("A title wrapped", "Text.", 2, "unknown")
    assert (plain.published, plain.updated) == (date(2026, 1, 5), date(2026, 2, 1))
    assert kaggle.authors == ("A. Lovelace", "B. Ek Jr.", "C. Dee")
    assert (kaggle.published, kaggle.updated, kaggle.version) == (date(2007, 4, 2), date(2007, 7, 24), 2)
    assert kaggle.categories == ("hep-ph", "gr-qc")
    assert paper_from_record({**KAGGLE, "authors_parsed": None}).authors == ("A. Lovelace", "B. Ek", "C. Dee")


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".zst"])
@pytest.mark.parametrize("name", ["meta.jsonl", "arxiv-metadata-oai-snapshot.json"])
def test_every_packing_is_found_and_read(tmp_path: Path, name: str, suffix: str) -> None:
    source = MirrorSource(make(tmp_path, [PLAIN, KAGGLE], name + suffix))
    assert [item.id for item in source.submitted_between(None, None)] == ["0704.0001", "2601.00001"]


def test_bad_records_and_withdrawn_papers_are_dropped_one_by_one(tmp_path: Path) -> None:
    records = [
        "{not json",
        {**PLAIN, "id": "../../x"},
        {**PLAIN, "authors": []},
        {**PLAIN, "published": "soon"},
        {"id": "2601.00009"},
        ["a", "list"],
        {**PLAIN, "id": "2601.00002", "comments": "This paper has been Withdrawn by the author"},
        PLAIN,
    ]
    items = list(MirrorSource(make(tmp_path, records)).submitted_between(None, None))
    assert sorted(item.reason for item in items if isinstance(item, Drop)) == [*["bad_record"] * 6, "withdrawn"]
    assert Drop("2601.00002", "withdrawn") in items
    assert [item.id for item in items if isinstance(item, Paper)] == ["2601.00001"]


ODD_LINES: dict[str, str | bytes] = {
    "a lone surrogate": json.dumps({**PLAIN, "title": "\ud800"}),
    "deep nesting": "[" * 100_000,
    "a huge version": json.dumps({**PLAIN, "version": 10**40}),
    "a version that is none": json.dumps({**PLAIN, "version": -1}),
    "a huge version in the id": json.dumps({**PLAIN, "id": "2601.00001v" + "9" * 40}),
    "a licence that is a list": json.dumps({**PLAIN, "license": ["cc-by"]}),
    "a category that is none": json.dumps({**PLAIN, "categories": ["cs.CL; DROP", 7]}),
    "a category in a category": json.dumps({**PLAIN, "categories": ["cs.CL/cs.LG"]}),
    "NaN": json.dumps({**PLAIN, "version": float("nan")}),
    "a week for a day": json.dumps({**PLAIN, "published": "2026-W01-1"}),
    "the year 1": json.dumps({**PLAIN, "published": "0001-01-01"}),
    "a title of megabytes": json.dumps({**PLAIN, "title": "x" * 5_000_000}),
    "an author that is none": json.dumps({**PLAIN, "authors": ["Ada", None]}),
    "a DOI that is a number": json.dumps({**PLAIN, "doi": 10.5}),
    "bytes that are no text": b'{"id": "2601.00001", "title": "\xff"}',
}


@pytest.mark.parametrize("odd", ODD_LINES)
def test_one_odd_line_is_one_dropped_record(odd: str, tmp_path: Path) -> None:
    line = ODD_LINES[odd]
    data = line if isinstance(line, bytes) else line.encode("utf-8", "surrogatepass")
    good = json.dumps({**PLAIN, "id": "2601.00002"}).encode()
    (tmp_path / "meta.jsonl").write_bytes(data + b"\n" + good + b"\n")
    items = list(read_metadata(tmp_path / "meta.jsonl"))
    assert items[0] == Drop("meta.jsonl:1", "bad_record")
    assert [item.id for item in items[1:]] == ["2601.00002"]
    with Store.open(tmp_path / "store.sqlite3") as store:
        store.add_papers((item for item in items if isinstance(item, Paper)), since="2026.11")


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
def test_a_line_without_end_is_not_held(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file that unpacks to one line of gigabytes; here of a few limits."""
    monkeypatch.setattr(packed, "MOST_OF_A_LINE", 10_000)
    make(tmp_path, ["x" * 35_000, PLAIN], f"meta.jsonl{suffix}")
    items = list(read_metadata(tmp_path / f"meta.jsonl{suffix}"))
    assert [item.id for item in items] == [f"meta.jsonl{suffix}:1", "2601.00001"]
    with pytest.raises(OSError, match="unpacks to more than 20000 bytes"):
        packed.read_packed(tmp_path / f"meta.jsonl{suffix}", 20_000)


def test_lookups(tmp_path: Path) -> None:
    source = MirrorSource(make(tmp_path, [PLAIN, KAGGLE]))
    assert [p.id for p in source.by_author("ada LOVELACE")] == ["2601.00001"]
    assert [p.id for p in source.by_ids(["0704.0001", "9999.99999"])] == ["0704.0001"]
    assert [p.id for p in source.search_titles(["a title: wrapped", "no title"])] == ["2601.00001"]


def test_files_are_found_by_id_with_and_without_version(tmp_path: Path) -> None:
    source = MirrorSource(make(tmp_path, [PLAIN]))
    (tmp_path / "pdf").mkdir()
    (tmp_path / "pdf" / "hep-ex_0406020.pdf").touch()
    (tmp_path / "pdf" / "2601.00001.pdf").touch()
    (tmp_path / "pdf" / "2601.00001v2.pdf").touch()
    assert source.fetch("pdf", "2601.00001", 2) == tmp_path / "pdf" / "2601.00001v2.pdf"
    assert source.fetch("pdf", "2601.00001", 1) == tmp_path / "pdf" / "2601.00001.pdf"
    assert source.fetch("pdf", "hep-ex/0406020", 1) == tmp_path / "pdf" / "hep-ex_0406020.pdf"
    (tmp_path / "pdf" / "9901").mkdir()
    (tmp_path / "pdf" / "9901" / "hep-th_9901001v1.pdf").touch()
    assert source.fetch("pdf", "hep-th/9901001", 1) == tmp_path / "pdf" / "9901" / "hep-th_9901001v1.pdf"
    assert source.fetch("pdf", "2601.00002", 1) is None
    assert source.fetch("html", "2601.00001", 1) is None


@pytest.mark.parametrize("broken", ["meta.jsonl.gz", "meta.jsonl.xz", "meta.jsonl.zst"])
def test_a_broken_archive_is_a_named_error(tmp_path: Path, broken: str) -> None:
    packed = {".gz": gzip.compress, ".xz": lzma.compress, ".zst": zstandard.compress}[Path(broken).suffix]
    # What was cut off on its way is not taken for the whole.
    for content in (b"this is not an archive", packed(random.Random(1).randbytes(10**6))[:-100]):
        (tmp_path / broken).write_bytes(content)
        with pytest.raises(SourceError, match=broken.replace(".", r"\.")):
            list(MirrorSource(tmp_path).submitted_between(None, None))


def test_no_folder_and_no_metadata_are_named_errors(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="not a folder"):
        MirrorSource(tmp_path / "nowhere")
    with pytest.raises(SourceError, match="contains none of"):
        MirrorSource(tmp_path)
    with pytest.raises(SourceError, match="no metadata file"):
        MirrorSource(tmp_path, metadata="other.jsonl")


@pytest.mark.long
def test_metadata_is_never_whole_in_memory(tmp_path: Path) -> None:
    big = {**PLAIN, "abstract": "word " * 4000}
    make(tmp_path, [big] * 1000, "meta.jsonl.xz")
    tracemalloc.start()
    count = sum(1 for _ in read_metadata(tmp_path / "meta.jsonl.xz"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 1000
    assert peak < 12_000_000  # of 20 MB of text


def test_a_paper_with_two_files_is_one(tmp_path: Path) -> None:
    pdfs = "2601.00001v1.pdf hep-th_9901001v2.pdf x.pdf.1.pdf x.pdf.2.pdf notes.txt 2601/2601.00002v2.pdf 2601/2601.00003.pdf"
    pages = "2601.00001v1.html.xz 2601.00002.html hep-th_9901001.html older/2601.00004.html"
    for folder, names in (("pdf", pdfs), ("html", pages)):
        for name in names.split():
            (tmp_path / folder / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / folder / name).touch()
    assert count_papers(tmp_path) == 6
    (tmp_path / "metadata.jsonl").touch()
    source = MirrorSource(tmp_path)
    found = [source.fetch("pdf", f"2601.0000{n}", 1) for n in (1, 2, 3, 4)]
    assert [path and path.relative_to(tmp_path / "pdf").as_posix() for path in found] == [
        "2601.00001v1.pdf",
        None,
        "2601/2601.00003.pdf",
        None,
    ]


# --- the index: read once, again when the file has changed, and on from where a kill left it

PAPERS = [papers.paper(i, "Ann Ek", f"Author {i}", day=i) for i in range(1, 13)]


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """From which record on the file was read, each time."""
    real, seen = mirror.read_metadata, []

    def read(path: Path, after: int = 0) -> object:
        seen.append(after)
        return real(path, after)

    monkeypatch.setattr(mirror, "read_metadata", read)
    return seen


def index(folder: Path) -> MetadataIndex:
    return MetadataIndex(folder / "meta.jsonl", folder / "index.sqlite3")


def test_it_is_read_once_and_again_when_its_bytes_have_changed(tmp_path: Path, reads: list[int]) -> None:
    papers.mirror(tmp_path, PAPERS)
    first = index(tmp_path).fingerprint
    assert (index(tmp_path).fingerprint, reads) == (first, [0])
    os.utime(tmp_path / "meta.jsonl", (1, 1))
    assert (index(tmp_path).fingerprint, reads) == (first, [0])
    papers.mirror(tmp_path, PAPERS[:5])
    again = index(tmp_path)
    assert again.fingerprint != first
    assert reads == [0, 0]
    assert [one.id for one in again.store.papers_by_author("ann ek")] == [one.id for one in PAPERS[:5]]


def test_it_goes_on_where_it_was_killed(tmp_path: Path, reads: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    papers.mirror(tmp_path, PAPERS)
    monkeypatch.setattr(mirror, "_BATCH", 5)
    monkeypatch.setattr(mirror, "progress", lambda items, what: _until(items, 8))
    with pytest.raises(KeyboardInterrupt):
        index(tmp_path)
    monkeypatch.setattr(mirror, "progress", lambda items, what: items)
    found = index(tmp_path)
    assert reads == [0, 5]
    assert [one.id for one in found.between(date.min, date.max)] == [one.id for one in PAPERS]


def _until(items: object, most: int) -> object:
    for i, item in enumerate(items):  # type: ignore[arg-type, var-annotated]
        if i == most:
            raise KeyboardInterrupt
        yield item


def test_records_of_other_days_and_unusable_ones_are_counted(tmp_path: Path) -> None:
    papers.mirror(tmp_path, PAPERS)
    with (tmp_path / "meta.jsonl").open("a") as file:
        file.write("{no record\n")
    items = list(MirrorSource(tmp_path).submitted_between(PAPERS[3].published, PAPERS[5].published))
    assert [one.id for one in items if isinstance(one, Paper)] == [one.id for one in PAPERS[3:6]]
    drops = [one for one in items if isinstance(one, Drop)]
    assert [one.reason for one in drops] == ["bad_record", *["outside_window"] * 9]


def test_a_file_that_changes_while_it_is_read_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    papers.mirror(tmp_path, PAPERS)

    def changing(items: object, what: str) -> object:
        for item in items:  # type: ignore[attr-defined]
            papers.mirror(tmp_path, PAPERS[:3])
            yield item

    monkeypatch.setattr(mirror, "progress", changing)
    with pytest.raises(SourceError, match="changed while it was being read"):
        index(tmp_path)
    monkeypatch.setattr(mirror, "progress", lambda items, what: items)
    assert len(list(index(tmp_path).between(date.min, date.max))) == 3


def test_another_file_of_the_same_size_and_time_is_another(tmp_path: Path) -> None:
    papers.mirror(tmp_path, PAPERS)
    assert index(tmp_path).store.papers_by_author("ann ek")
    text = (tmp_path / "meta.jsonl").read_text()
    stat = (tmp_path / "meta.jsonl").stat()
    (tmp_path / "meta.jsonl").write_text(text.replace("Ann Ek", "Bob Ek"))
    os.utime(tmp_path / "meta.jsonl", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert (tmp_path / "meta.jsonl").stat().st_size == stat.st_size
    assert index(tmp_path).store.papers_by_author("bob ek")


@pytest.mark.parametrize("damage", [b"no database at all" * 400, b""])
def test_a_damaged_index_is_made_again(tmp_path: Path, damage: bytes) -> None:
    papers.mirror(tmp_path, PAPERS)
    index(tmp_path).store.close()
    (tmp_path / "index.sqlite3").write_bytes(damage)
    assert len(index(tmp_path).store.papers_by_author("ann ek")) == len(PAPERS)
