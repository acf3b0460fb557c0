"""The rounds that lie in the repository by id: no text in them, and complete again from articles and PDFs."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builder.dataset.card import card
from builder.sources.mirror import MirrorSource
from lm_eval_tasks.base.files import sha256_of
from lm_eval_tasks.families.rounds import read_manifest
from standins.loopback import World, serve
from standins.places import DATA
from tests.helpers.served import Command

ZERO = Path(__file__).resolve().parents[1] / "rounds" / "zero"


def texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for each in value.values() for text in texts(each))
    elif isinstance(value, list):
        yield from (text for each in value for text in texts(each))


@pytest.mark.parametrize("name", ["zero", "new", "new-pdf"])
def test_it_has_no_text_and_the_card_of_its_manifest(name: str) -> None:
    folder = ZERO.with_name(name)
    files = sorted(folder.rglob("*.parquet"))
    assert files
    longest = max((text for file in files for row in pq.read_table(file).to_pylist() for text in texts(row)), key=len)
    assert len(longest) <= 120, longest
    assert (folder / "README.md").read_text() == card(read_manifest(folder))


def test_a_source_that_lacks_something_is_one_sentence(command: Command, tmp_path: Path) -> None:
    shutil.copytree(ZERO, tmp_path / "zero")
    for source, words in (("jats", "give --path"), ("europepmc", "wants to know who asks")):
        code, _, err = command("fill", tmp_path / "zero", "--source", source)
        assert (code, words in err, err.count("\n")) == (1, True, 1), err


@pytest.fixture(scope="module")
def from_articles(tmp_path_factory: pytest.TempPathFactory) -> tuple[object, ...]:
    """The options that fill from the articles, which are read once."""
    return ("--source", "jats", "--path", DATA / "jats", "--work", tmp_path_factory.mktemp("work"))


@pytest.mark.data
@pytest.mark.slow
def test_it_is_completed_from_the_articles(command: Command, tmp_path: Path, from_articles: tuple[object, ...]) -> None:
    shutil.copytree(ZERO, tmp_path / "zero")
    code, out, err = command("fill", tmp_path / "zero", *from_articles)
    assert code == 0, err
    assert "276 in, 276 kept" in out
    filled = tmp_path / "zero-filled"
    original = read_manifest(ZERO).publishable
    assert original is not None and read_manifest(filled).configurations == original.original
    code, out, err = command(
        *"eval --model lead --tasks academiceval_abs_9k --dataset".split(),
        filled,
        *"--bertscore none --output".split(),
        tmp_path / "lead",
    )
    assert code == 0, err
    assert "| academiceval_abs_9k | rouge_l_content | 0.1499 " in out


@pytest.mark.data
@pytest.mark.slow
def test_half_of_it_is_said_to_be_half(command: Command, tmp_path: Path) -> None:
    """In the card, by the evaluation, and by whatever would publish it or its scores."""
    shutil.copytree(ZERO, tmp_path / "zero")
    articles = sorted((DATA / "jats").glob("*"))
    (tmp_path / "half").mkdir()
    for file in articles[::2]:
        (tmp_path / "half" / file.name).symlink_to(file)
    code, out, err = command("fill", tmp_path / "zero", "--source", "jats", "--path", tmp_path / "half")
    assert (code, "missing_" in out) == (0, True), err
    filled = tmp_path / "zero-filled"
    [test] = [each.splits["test"] for each in read_manifest(filled).configurations if each.name == "Abs-9K"]
    whole = read_manifest(ZERO).publishable
    assert whole is not None
    [original] = [each.statistics("test").samples for each in whole.original if each.name == "Abs-9K"]
    assert 0 < test.statistics.samples < test.statistics.samples + test.lacking == original
    part = f"{test.statistics.samples} of {original}"
    assert part in (filled / "README.md").read_text()
    line = ("--tasks", "academiceval_abs_9k", "--dataset", filled, "--bertscore", "none", "--output", tmp_path / "lead")
    code, out, err = command("eval", "--model", "lead", *line)
    assert (code, f"| {part} |" in out) == (0, True), out
    code, out, err = command("push-results", tmp_path / "lead", "--repo", "org/results")
    assert (code, "--subset" in err) == (1, True), err
    for licenses in ("all", "redistributable"):
        code, out, err = command("push", filled, "--repo", "org/data", "--licenses", licenses)
        assert (code, f"lacks {original - test.statistics.samples} rows of" in err or "lacks" in err) == (1, True), err


@pytest.mark.data
@pytest.mark.slow
def test_a_copy_with_other_answers_is_not_completed(
    command: Command, tmp_path: Path, from_articles: tuple[object, ...]
) -> None:
    shutil.copytree(ZERO, tmp_path / "zero")
    [file] = (tmp_path / "zero" / "Next-8K-ids").glob("*.parquet")
    table = pq.read_table(file)
    answers = [row["answer"][::-1] for row in table.to_pylist()]
    column = pa.array(answers, table.schema.field("answer").type)
    pq.write_table(table.set_column(table.schema.get_field_index("answer"), "answer", column), file)
    line = ("fill", tmp_path / "zero", *from_articles)
    code, out, err = command(*line)
    assert (code, f"{file.name} has changed" in err, err.count("\n")) == (1, True, 1), err
    # As whoever changes the manifest too would hand it on.
    digest = sha256_of(file)
    renamed = file.rename(file.with_name(re.sub("-[0-9a-f]{16}-", f"-{digest[:16]}-", file.name)))
    manifest = json.loads((tmp_path / "zero" / "manifest.json").read_text())
    [own] = [each for each in manifest["configurations"] if each["name"] == "Next-8K-ids"]
    [listed] = own["splits"]["test"]["files"]
    listed |= {"path": f"Next-8K-ids/{renamed.name}", "sha256": digest, "bytes": renamed.stat().st_size}
    (tmp_path / "zero" / "manifest.json").write_text(json.dumps(manifest))
    code, out, err = command(*line)
    assert (code, f"changed_row {len(answers)}" in out) == (0, True), (out, err)


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("step", [42, pytest.param(1, marks=(pytest.mark.long, pytest.mark.timeout(900)))])
def test_the_round_of_new_and_older_papers_is_completed_from_their_files(
    command: Command, tmp_path: Path, step: int
) -> None:
    shutil.copytree(ZERO.with_name("new-pdf"), tmp_path / "both")
    (tmp_path / "papers").mkdir()
    for file in sorted([*(DATA / "new" / "pdf").glob("*.pdf"), *(DATA / "pdf").glob("*.pdf")])[::step]:
        (tmp_path / "papers" / file.name).symlink_to(file)
    code, out, err = command("fill", tmp_path / "both", "--source", "pdfs", "--path", tmp_path / "papers")
    assert code == 0, err
    assert "changed_" not in out
    if step == 1:
        original = read_manifest(ZERO.with_name("new-pdf")).publishable
        assert original is not None and read_manifest(tmp_path / "both-filled").configurations == original.original


@pytest.mark.data
@pytest.mark.long
def test_the_round_of_new_papers_is_completed_from_pdfs_wherever_they_come_from(
    command: Command, tmp_path: Path
) -> None:
    """From a folder; and from arXiv, whose records have other titles and abstracts than the papers print."""
    new, mirror = ZERO.with_name("new"), tmp_path / "mirror"
    (mirror / "pdf").mkdir(parents=True)
    papers = [json.loads(line) for line in (DATA / "new" / "MANIFEST.jsonl").read_text().splitlines()]
    records = []
    for paper in papers:
        # Three print no stamp.
        version, day = paper["version"] or 1, paper["stamp_day"] or "2026-01-01"
        file = f"{paper['id']}v{version}.pdf"
        (mirror / "pdf" / file).symlink_to(DATA / "new" / "pdf" / f"{paper['id']}.pdf")
        record = {"id": paper["id"], "version": version, "title": "Of the record", "abstract": "Another."}
        days = {"published": day, "categories": [paper["category"]], "authors": ["Ann Doe"]}
        records.append(json.dumps(record | days))
    (mirror / "records.jsonl").write_text("\n".join(records))
    with serve(World(MirrorSource(mirror, "records.jsonl"))) as server:
        addresses = "\n".join(f"{name} = {json.dumps(value)}" for name, value in server.tables().items())
        (tmp_path / "round.toml").write_text(f'round = "2026.11"\nworkspace = "work"\n[source]\n{addresses}\n')
        for output, source in (
            ("folder", ("--source", "pdfs", "--path", str(DATA / "new" / "pdf"))),
            ("arxiv", (str(tmp_path / "round.toml"),)),
        ):
            shutil.copytree(new, tmp_path / "new", dirs_exist_ok=True)
            code, out, err = command("fill", tmp_path / "new", *source, "-o", tmp_path / output)
            assert code == 0, err
            assert "484 in, 484 kept" in out
    manifests = [(tmp_path / name / "manifest.json").read_bytes() for name in ("folder", "arxiv")]
    assert manifests[0] == manifests[1]
