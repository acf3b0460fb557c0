"""A folder of somebody's own PDFs -> a table -> a round, through the commands."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from builder.errors import SourceError
from builder.extract import pdf_table
from builder.extract.pdf import read_pdf
from builder.extract.workers import Extracted
from builder.ids import author_key
from builder.records import Document, Drop, Paper
from builder.sources.metadata_file import table_rows
from builder.sources.sample import draw
from builder.sources.sample.world import make_world
from standins.places import DATA
from tests.helpers.served import Command

WORLD = [paper for paper in make_world(3, 8, 12) if not paper.flaw]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Five papers, one in a folder of its own and two whose names are no ids."""
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "My papers"
    (place / "old").mkdir(parents=True)
    names = ["old/Thesis.PDF", "N° 2 (final).pdf", *(f"{paper.id}.pdf" for paper in WORLD[2:5])]
    for name, paper in zip(names, WORLD, strict=False):
        draw(paper, place / name)
    return place


def rows(delimiter: str = ",") -> list[dict[str, str]]:
    with Path("papers.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def write(changed: list[dict[str, str]], delimiter: str = ",") -> None:
    with Path("papers.csv").open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(changed[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(changed)


@pytest.mark.slow
def test_a_folder_becomes_a_round_without_an_edit_and_one_without_samples_names_the_key_to_change(
    folder: Path, command: Command
) -> None:
    code, out, err = command("init", "--source", "pdfs", folder.name)
    assert code == 0, err
    assert "5 papers, 5 with title and day, 5 of these with authors" in out
    table = {row["title"]: row for row in rows()}
    for paper in WORLD[:5]:
        row = table[paper.title]
        assert row["authors"] == "; ".join(paper.authors)
        assert (row["id"], row["published"]) == (f"{paper.id}v1", paper.published.isoformat())
        assert row["categories"] == paper.category
    code, out, err = command("run", "round.toml")
    assert code == 0, err
    assert "crawl: 5 in, 5 kept" in out
    assert "authors unknown" not in out
    assert "Title-10K" in out
    # Five papers cannot demonstrate for one another in settings with co-authors: the key to change is named.
    text = Path("round.toml").read_text()
    settings = 'settings = ["Title-10K", "Abs-9K", "Intro-8K"]'
    Path("round.toml").write_text(text.replace(settings, 'settings = ["Title-31K-G"]'))
    code, _, err = command("run", "round.toml", "--replace")
    assert (code, "Title-10K" in err) == (1, True), err


@pytest.mark.slow
def test_corrections_count_and_stay(folder: Path, command: Command) -> None:
    (folder / " no paper\udcff.pdf").write_text("nothing")  # a name with a blank that is no UTF-8
    assert command("init", "--source", "pdfs", folder)[0] == 0
    before = rows()
    kept = [row for row in before if row["file"] != "old/Thesis.PDF"]
    first = max((row for row in kept if row["title"]), key=lambda row: row["published"])
    first |= {"title": "A Title of My Own", "authors": ""}
    # Saved by a spreadsheet that separates by semicolons.
    write(kept, ";")
    assert command("init", "--source", "pdfs", folder)[0] == 0
    after = {row["file"]: row for row in rows(";")}
    assert after[first["file"]]["title"] == "A Title of My Own"
    assert "old/Thesis.PDF" in after
    code, out, err = command("run")
    assert code == 0, err
    assert "crawl: 6 in, 5 kept, bad_record 1" in out
    assert "authors unknown: 1 of 5 papers" in out
    # A changed round.toml is nobody's but its owner's.
    Path("round.toml").write_text(Path("round.toml").read_text().replace("seed = 2026", "seed = 7"))
    code, out, err = command("init", "--source", "pdfs", folder)
    assert (code, "stays as it is" in out, "seed = 7" in Path("round.toml").read_text()) == (0, True, True), err
    # As a spreadsheet may write a day.
    table = Path("papers.csv").read_text(encoding="utf-8-sig")
    Path("papers.csv").write_text(table.replace(first["published"], "01/08/2026"), encoding="utf-8")
    code, _, err = command("run", "--replace")
    assert (code, "papers.csv:" in err, "correct that row" in err) == (1, True, True), err
    Path("papers.csv").write_text(table, encoding="utf-8")
    assert command("run", "--replace")[0] == 0
    code, out, err = command("export", "academiceval", "--setting", "Title-10K", "--output", "out.jsonl")
    assert code == 0, err
    assert "A Title of My Own" in Path("out.jsonl").read_text()


@pytest.mark.slow
def test_arxiv_is_asked_where_it_can_be_reached(
    folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Arxiv:
        def by_ids(self, ids: list[str]) -> list[Paper | Drop]:
            record = Paper(
                WORLD[0].id,
                1,
                "From arXiv",
                "An abstract.",
                ("Ada Ek",),
                ("cs.CL",),
                date(2026, 1, 2),
                date(2026, 1, 2),
            )
            return [record, Drop(WORLD[1].id, "withdrawn")]

    class Gone:
        def by_ids(self, ids: list[str]) -> list[Paper | Drop]:
            raise SourceError("no route to it")

    for source, title, author in ((Gone, WORLD[0].title, WORLD[0].authors[0]), (Arxiv, "From arXiv", "Ada Ek")):
        monkeypatch.setattr(pdf_table, "open_source", lambda round_, store, source=source: source())
        Path("papers.csv").unlink(missing_ok=True)
        code, _, err = command("init", "--source", "pdfs", folder, "--contact", "me@example.org")
        assert code == 0, err
        row = next(row for row in rows() if row["file"] == "old/Thesis.PDF")
        assert row["title"] == title
        assert row["authors"].startswith(author)
    assert "no route to it" in caplog.text
    monkeypatch.undo()
    monkeypatch.chdir(folder.parent)
    Path("papers.csv").unlink()
    assert command("init", "--source", "pdfs", folder, "--contact", "me")[0] == 0
    assert "wants to know who asks" in caplog.text


def test_what_is_no_folder_of_papers_is_one_sentence(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    for given, words in (("empty", "has no PDF file"), ("absent", "is no folder")):
        assert command("init", "--source", "pdfs", given)[0] == 1
        assert not Path(given, "round.toml").exists()
        code, _, err = command("init", "--source", "pdfs", "--path", given)
        assert (code, words in err) == (1, True), err
        assert not Path("round.toml").exists()
    Path("round.toml").write_text('round = "2026.11"\n[source]\nkind = "pdfs"\npath = "empty"\n')
    code, _, err = command("run")
    assert (code, "academiceval init --source pdfs" in err) == (1, True), err
    code, _, err = command("init", "--source", "pdfs")
    assert (code, "needs --path" in err) == (1, True), err
    columns = "file,id,title,authors,published,categories,license,doi,source,abstract"
    Path("papers.csv").write_text(f"{columns}\na.pdf,local:x,,,,,,,,\nb.pdf,local:x,,,,,,,,\n")
    code, _, err = command("run")
    assert (code, "has the id local:x of two files" in err) == (1, True), err
    Path("papers.csv").write_text("file,title\n")
    code, _, err = command("run")
    assert (code, "no column id" in err) == (1, True), err


@pytest.mark.data
@pytest.mark.slow
def test_real_first_pages_name_their_authors() -> None:
    """Of 16 real papers eight in ten, and hardly ever a stranger."""
    right = wrong = papers = 0
    for place, metadata in (
        (DATA / "pdf", DATA / "pdf_meta.jsonl"),
        (DATA / "lab" / "pdf", DATA / "lab" / "meta.jsonl"),
    ):
        records = {
            record["id"].replace("/", "_"): record for record in map(json.loads, metadata.read_text().splitlines())
        }
        for path in sorted(place.glob("*.pdf"))[::12]:
            printed = [author_key(name).split()[-1] for name in read_pdf(path).document.front.authors]
            real = [author_key(name).split()[-1] for name in records[path.stem]["authors"]]
            papers += 1
            right += printed == real
            wrong += not set(printed) <= set(real)
    assert right / papers >= 0.8
    assert wrong / papers <= 0.1


@pytest.mark.slow
def test_a_table_is_added_to_as_it_is(folder: Path, command: Command) -> None:
    """With its own columns, separators and line ends; a row that an editor left without its end stays a row."""
    assert command("init", "--source", "pdfs", folder)[0] == 0
    every = rows()
    names = ["note", *reversed(every[0])]
    for kept in (every[:1], []):
        text = (
            ";".join(names) + "\n" + "".join(";".join({"note": "mine", **row}[name] for name in names) for row in kept)
        )
        Path("papers.csv").write_text(text)
        code, out, err = command("init", "--source", "pdfs", folder)
        assert (code, "5 papers" in out) == (0, True), err
        found = {row["file"]: row for row in rows(";")}
        assert {name: {k: v for k, v in row.items() if k != "note"} for name, row in found.items()} == {
            row["file"]: row for row in every
        }
        assert [row["note"] for row in found.values() if row["note"]] == ["mine"] * len(kept)


@pytest.mark.slow
def test_what_was_read_before_a_kill_is_not_read_again(
    folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = pdf_table.extract_files
    asked: list[list[str]] = []

    def stopped(names: Iterable[str], *more: Any) -> Iterator[Extracted]:
        asked.append(list(names))
        for i, extracted in enumerate(real(asked[-1], *more)):
            if len(asked) == 1 and i == 3:
                raise KeyboardInterrupt
            yield extracted

    monkeypatch.setattr(pdf_table, "extract_files", stopped)
    monkeypatch.setattr(pdf_table, "_AT_ONCE", 1)
    assert command("init", "--source", "pdfs", folder)[0] == 1
    assert not Path("papers.csv").exists()
    code, out, err = command("init", "--source", "pdfs", folder)
    assert (code, "5 papers" in out) == (0, True), err
    assert (len(asked[0]), len(asked[1])) == (5, 2)
    assert [path.name for path in Path().glob(".papers*")] == []


@pytest.mark.slow
def test_cells_are_no_formulas_and_pipes_no_files(
    folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(folder / "pipe.pdf")
    title = '=HYPERLINK("http://x","y")'
    real = pdf_table._row

    def hostile(name: str, extracted: Extracted, taken: set[str]) -> dict[str, str]:
        return {**real(name, extracted, taken), "title": title}

    monkeypatch.setattr(pdf_table, "_row", hostile)
    code, out, err = command("init", "--source", "pdfs", folder)
    assert (code, "5 papers" in out) == (0, True), err
    assert {row["title"] for row in rows()} == {f"'{title}"}
    assert {row["title"] for row in table_rows(Path("papers.csv"))} == {title}
    Path("papers.csv").unlink()
    os.mkfifo("papers.csv")
    code, _, err = command("init", "--source", "pdfs", folder)
    assert (code, "is not a regular file" in err, err.count("\n")) == (1, True, 1)


def test_two_files_of_one_paper_are_two_rows(tmp_path: Path) -> None:
    document = Document("Title", "Abstract", ())
    taken: set[str] = set()
    ids = [
        pdf_table._row(
            f"{i}.pdf", Extracted("", "", "", "", replace(document, stamped_id=f"2401.00001v{i}"), None, 0.0), taken
        )["id"]
        for i in (1, 2)
    ]
    assert ids[0] == "2401.00001v1"
    assert ids[1].startswith("local:")


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize(("source", "every", "number", "least"), [("jats", 11, 10, 4), ("pdfs", 9, 8, 3)])
def test_a_few_real_papers_make_a_round_at_the_first_try(
    source: str, every: int, number: int, least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "papers"
    place.mkdir()
    for file in sorted((DATA / {"jats": "jats", "pdfs": "pdf"}[source]).glob("*.*"))[::every][:number]:
        (place / file.name).symlink_to(file)
    assert command("init", "--source", source, "--path", place, "--seed", "1")[0] == 0
    code, _, err = command("run", "round.toml")
    assert code == 0, err
    manifest = json.loads(Path("academiceval/manifest.json").read_text())
    rows_of = {one["name"]: one["splits"]["test"]["statistics"]["samples"] for one in manifest["configurations"]}
    assert min(rows_of.values()) >= least, rows_of
