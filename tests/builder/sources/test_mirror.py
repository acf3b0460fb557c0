from __future__ import annotations

import gzip
import json
import lzma
import tracemalloc
from datetime import date
from pathlib import Path

import pytest
import zstandard

from builder import packed
from builder.errors import SourceError
from builder.records import Drop, Paper
from builder.sources.metadata_file import paper_from_record, read_metadata
from builder.sources.mirror import MirrorSource, count_papers
from builder.store import Store

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


def test_bad_records_are_dropped_one_by_one(tmp_path: Path) -> None:
    records = [
        "{not json",
        {**PLAIN, "id": "../../x"},
        {**PLAIN, "authors": []},
        {**PLAIN, "published": "soon"},
        {"id": "2601.00009"},
        ["a", "list"],
        PLAIN,
    ]
    items = list(read_metadata(make(tmp_path, records) / "meta.jsonl"))
    assert [item.reason for item in items if isinstance(item, Drop)] == ["bad_record"] * 6
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
        assert store.add_papers((item for item in items if isinstance(item, Paper)), since="2026.11") == 1


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
def test_a_line_without_end_is_not_held(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file that unpacks to one line of gigabytes; here of a few limits."""
    monkeypatch.setattr(packed, "MOST_OF_A_LINE", 10_000)
    make(tmp_path, ["x" * 35_000, PLAIN], f"meta.jsonl{suffix}")
    items = list(read_metadata(tmp_path / f"meta.jsonl{suffix}"))
    assert [item.id for item in items] == [f"meta.jsonl{suffix}:1", "2601.00001"]
    with pytest.raises(OSError, match="unpacks to more than 20000 bytes"):
        packed.read_packed(tmp_path / f"meta.jsonl{suffix}", 20_000)


def test_withdrawn_papers_are_dropped(tmp_path: Path) -> None:
    folder = make(tmp_path, [{**PLAIN, "comments": "This paper has been Withdrawn by the author"}])
    assert list(MirrorSource(folder).submitted_between(None, None)) == [Drop("2601.00001", "withdrawn")]


def test_the_window_holds_both_its_days(tmp_path: Path) -> None:
    source = MirrorSource(make(tmp_path, [PLAIN, KAGGLE]))
    kept = [i.id for i in source.submitted_between(date(2026, 1, 5), date(2026, 1, 5)) if isinstance(i, Paper)]
    assert kept == ["2601.00001"]


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
    assert source.fetch("pdf", "2601.00002", 1) is None
    assert source.fetch("html", "2601.00001", 1) is None


@pytest.mark.parametrize("broken", ["meta.jsonl.gz", "meta.jsonl.xz", "meta.jsonl.zst"])
def test_a_broken_archive_is_a_named_error(tmp_path: Path, broken: str) -> None:
    (tmp_path / broken).write_bytes(b"this is not an archive")
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
    names = (
        *("pdf/2601.00001v1.pdf", "html/2601.00001v1.html.xz", "pdf/2601.00002.PDF", "html/2601.00002v2.htm"),
        *(
            "pdf/hep-th_9901001v2.pdf",
            "html/hep-th_9901001.html",
            "pdf/x.pdf.1.pdf",
            "pdf/x.pdf.2.pdf",
            "pdf/notes.txt",
        ),
    )
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert count_papers(tmp_path) == 5
