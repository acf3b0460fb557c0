"""What a round may ask for in addition to the sixteen settings: its own ones, budgets, licences; its audit; the reference dataset."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.dataset.audit import LONG_RUN, audit
from builder.dataset.card import card
from builder.dataset.publishable import publishable
from builder.dataset.tables import audit_tables
from builder.errors import AuditError, FolderError
from builder.imports.writing import import_academiceval
from builder.round.allowed import AuditTable, allowed_by, allows
from builder.store import Store
from lm_eval_tasks.base.contract import Licenses
from lm_eval_tasks.base.figures import Audit
from lm_eval_tasks.base.manifest import ListedConfiguration, canary
from lm_eval_tasks.base.word_runs import longest_common_run, longest_runs, run_words, share_run
from lm_eval_tasks.engines.registry import LocalEngine
from lm_eval_tasks.families.rounds import read_manifest
from lm_eval_tasks.families.writing import hook
from standins.rounds import build, fill_only, hashes, small_round
from tests.builder.test_pipeline import copy_of, rows
from tests.helpers.papers import paper
from tests.helpers.served import Command

BUDGET = 14000
GERMAN = "wir haben gezeigt dass die neue Methode besser ist als alle anderen Verfahren "


# --- own settings


@pytest.mark.slow
def test_own_settings_show_what_they_ask_for(world: Path, dataset: Path, tmp_path: Path) -> None:
    own = [
        {"name": "Title-One", "task": "title", "random": 1, "co_author": 1},
        {"name": "Abs-9K-G", "task": "abs", "tokens": BUDGET, "fill": ["co-author"]},
        {"name": "Abs-9K-M", "task": "abs", "tokens": BUDGET, "fill": ["random", "co-author"]},
    ]
    outcome = build(small_round(copy_of(world, tmp_path), settings=("Title-30K", "Abs-28K"), setting=own))
    names = [one.name for one in outcome.manifest.configurations]
    assert names == ["Title-30K", "Title-One", "Abs-28K", "Abs-9K-G", "Abs-9K-M"]
    place = tmp_path / "academiceval"
    assert [[d["kind"] for d in row["demonstrations"]] for row in rows(place, "Title-One")] == [
        ["random", "co-author"]
    ] * outcome.manifest.configurations[1].samples
    for name in ("Abs-9K-G", "Abs-9K-M"):
        filled = rows(place, name)
        assert [row["id"] for row in filled] == [row["id"] for row in rows(place, "Abs-28K")]
        assert all(0.6 * BUDGET < row["input_tokens"] <= BUDGET for row in filled)
        assert {d["kind"] for row in filled for d in row["demonstrations"]} == (
            {"co-author"} if name.endswith("G") else {"random", "co-author"}
        )
    loaded = hook.load("Abs-48K-M", 512, dataset=str(place), config="Abs-9K-M", bertscore_model="none")["test"]
    assert set(loaded["setting"]) == {"Abs-9K-M"}
    # What the built-in settings show does not depend on which others are built.
    ids = {row["id"]: row["demonstrations"] for row in rows(dataset, "Abs-28K")}
    assert all(row["demonstrations"] == ids[row["id"]] for row in rows(place, "Abs-28K") if row["id"] in ids)


# --- licences


@pytest.mark.parametrize(
    ("url", "noncommercial", "redistributable"),
    [
        ("http://creativecommons.org/licenses/by/4.0/", True, True),
        ("https://creativecommons.org/licenses/by-sa/4.0", True, True),
        ("http://creativecommons.org/publicdomain/zero/1.0/", True, True),
        ("http://creativecommons.org/licenses/by-nc-sa/4.0/", True, False),
        ("http://creativecommons.org/licenses/by-nc-nd/4.0/", False, False),
        ("http://arxiv.org/licenses/nonexclusive-distrib/1.0/", False, False),
        ("unknown", False, False),
        ("https://evil.example/creativecommons.org/licenses/by/4.0/", False, False),
    ],
)
def test_what_a_licence_allows(url: str, noncommercial: bool, redistributable: bool) -> None:
    assert allows(url, "all")
    assert (allows(url, "noncommercial"), allows(url, "redistributable")) == (noncommercial, redistributable)


def test_a_round_to_publish_holds_nothing_that_may_not_be(world: Path, dataset: Path, tmp_path: Path) -> None:
    wanted: Licenses = "redistributable"
    outcome = build(small_round(copy_of(world, tmp_path), licenses=wanted, settings=("Title-10K", "Abs-28K")))
    for name in ("Title-10K", "Abs-28K"):
        found = rows(tmp_path / "academiceval", name)
        assert found
        assert all(allows(row["license"], wanted) for row in found)
        assert all(allows(d["license"], wanted) for row in found for d in row["demonstrations"])
    assert outcome.reports[-1].dropped["license"] > 0


# --- a round has one content


@pytest.mark.slow
def test_a_round_that_exists_is_not_replaced_by_another_or_served_from_the_cache(
    world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def demonstrations() -> list[Any]:
        return [row["demonstrations"] for row in datasets.load_dataset("academiceval", "Title-30K", split="test")]

    monkeypatch.chdir(tmp_path)
    few = {"settings": ("Title-10K", "Title-30K")}
    build(small_round(copy_of(world, tmp_path), **few))
    before = hashes(tmp_path / "academiceval")
    shown = demonstrations()
    build(small_round(tmp_path, **few))
    with pytest.raises(FolderError, match=r"contains round 2026.11 with other contents"):
        build(small_round(tmp_path, seed=8, **few))
    assert hashes(tmp_path / "academiceval") == before
    build(small_round(tmp_path, seed=8, **few), replace=True)
    assert demonstrations() != shown


# --- the audit


@pytest.mark.slow
def test_the_audit_is_in_card_and_manifest_and_says_the_same_again(
    dataset: Path, tmp_path: Path, command: Command
) -> None:
    manifest = read_manifest(dataset)
    found = audit(dataset, manifest.configurations)
    assert found == manifest.audit
    assert found.samples == sum(file.rows for file in manifest.files.values())
    assert sum(found.months.values()) == sum(found.categories.values())
    assert 0 < found.active_authors <= 1
    assert "| long run |" in (dataset / "README.md").read_text()
    file = tmp_path / "round.toml"
    file.write_text('round = "2026.11"\n[source]\nkind = "sample"\n')
    copied = shutil.copytree(dataset, tmp_path / "academiceval")
    code, out, _ = command("run", file, "--only", "audit")
    assert code == 0
    assert "| split order | 0 | 0 |" in out and "round 2026.11" in out
    code, _, errors = command("run", file, "--only", "audit", "--round", "2026.12")
    assert (code, "is round 2026.11, not 2026.12" in errors) == (1, True), errors
    text = (copied / "README.md").read_text()
    (copied / "README.md").write_text(text.replace(canary("2026.11"), ""))
    code, _, errors = command("run", file, "--only", "audit")
    assert (code, "lacks the canary of round 2026.11" in errors) == (1, True)


def _configuration(dataset: Path, name: str) -> ListedConfiguration:
    return next(one for one in read_manifest(dataset).configurations if one.name == name)


@pytest.fixture
def spoilt(dataset: Path, tmp_path: Path) -> Callable[[str, Callable[[dict[str, Any]], None]], Audit]:
    """Audit a copy of one setting after its first rows were changed."""

    def change(setting: str, spoil: Callable[[dict[str, Any]], None]) -> Audit:
        place = tmp_path / "spoilt"
        shutil.copytree(dataset / setting, place / setting)
        for path in sorted((place / setting).glob("*.parquet")):
            table = pq.read_table(path)
            changed = table.to_pylist()
            for row in changed[:2]:
                spoil(row)
            pq.write_table(type(table).from_pylist(changed, schema=table.schema), path)
        return audit(place, [_configuration(dataset, setting)])

    return change


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    demonstration: dict[str, Any] = row["demonstrations"][0]
    return demonstration


@pytest.mark.parametrize(
    ("setting", "spoil", "name"),
    [
        ("Title-30K", lambda row: row.update(content=f"{row['content']} {row['title'].upper()}"), "title_in_content"),
        ("Abs-28K", lambda row: row.update(content=f"{row['content']}\n{row['target']}"), "target_in_content"),
        (
            "Abs-28K",
            lambda row: _shown(row).update(output=f"{_shown(row)['output']} {row['target']}"),
            "target_in_demonstration",
        ),
        ("Intro-28K-G", lambda row: _shown(row).update(published=row["published"]), "demonstration_not_older"),
        ("Related-53K", lambda row: _shown(row).update(id=row["id"].replace("v1", "v2")), "demonstration_is_target"),
        ("Title-10K", lambda row: row.update(content=GERMAN * 50), "not_english"),
    ],
)
@pytest.mark.slow
def test_what_is_wrong_is_found(
    spoilt: Callable[..., Audit], dataset: Path, setting: str, spoil: Callable[..., None], name: str
) -> None:
    found = spoilt(setting, spoil)
    before = audit(dataset, [_configuration(dataset, setting)])
    assert found.shares[name] > before.shares[name] == 0
    if name == "target_in_content":
        # The sample that was spoilt may have shared a long run before.
        assert found.shares["long_run"] >= before.shares["long_run"]
        assert found.longest_run > max(LONG_RUN, before.longest_run)


def test_splits_out_of_order_and_papers_under_two_ids_are_found(spoilt: Callable[..., Audit]) -> None:
    assert spoilt("Title-10K", lambda row: row.update(published="2026-10-01")).counts["split_order"] == 1


def test_what_a_task_has_lost_is_a_share_of_all_samples(dataset: Path, tmp_path: Path) -> None:
    for name in ("Abs-9K", "Abs-28K", "Title-10K"):
        shutil.copytree(dataset / name, tmp_path / name)
        for path in (tmp_path / name).glob("*.parquet") if name.startswith("Abs") else ():
            table = pq.read_table(path)
            rows_ = [{**row, "content": row["content"][:50]} for row in table.to_pylist()]
            pq.write_table(type(table).from_pylist(rows_, schema=table.schema), path)
    found = audit(tmp_path, [_configuration(dataset, name) for name in ("Abs-9K", "Abs-28K", "Title-10K")])
    short = sum(_configuration(dataset, name).samples for name in ("Abs-9K", "Abs-28K"))
    assert found.shares["content_lost"] == round(short / found.samples, 4)


def test_a_paper_under_a_second_id_is_found(spoilt: Callable[..., Audit]) -> None:
    found = spoilt("Title-10K", lambda row: row.update(title="The same title", authors=["A. Ek"]))
    assert found.counts["same_paper"] >= 1


@pytest.mark.slow
def test_a_breach_fails_the_build_unless_it_is_waived(world: Path, tmp_path: Path) -> None:
    strict = {"length_outlier": 0.0, "long_run": 0.0}
    round_ = small_round(copy_of(world, tmp_path), settings=("Abs-9K", "Intro-8K", "Related-34K"))
    with pytest.raises(AuditError, match=r"long_run [\d.]+ is above 0.0 \(e.g. "):
        build(round_.model_copy(update={"audit": AuditTable(**strict)}))  # type: ignore[arg-type]
    assert not (tmp_path / "academiceval").exists()
    waived = AuditTable(**strict, waive=("long_run", "length_outlier"))  # type: ignore[arg-type]
    build(round_.model_copy(update={"audit": waived}))
    manifest = read_manifest(tmp_path / "academiceval")
    assert allowed_by(manifest).waive == ("long_run", "length_outlier")
    assert "| waived |" in (tmp_path / "academiceval" / "README.md").read_text()


def test_a_share_that_is_one_paper_is_no_breach() -> None:
    found = [Audit(9, {"not_english": 0.05}, {}, {"not_english": [*papers]}, 0, {}, {}, 0.0) for papers in ("a", "ab")]
    assert [audit_tables(each, AuditTable())[0].rows[0][-1] for each in found] == ["", "breach"]


@pytest.mark.parametrize(
    ("one", "other", "n"),
    [
        ("we show that it works, indeed", "And WE show that it works indeed!", 6),
        ("a b c d e f g", "z a b c d x d e f g a b c d e", 5),
    ],
)
def test_the_longest_common_run(one: str, other: str, n: int) -> None:
    assert longest_common_run(run_words(one), run_words(other)) == n


def test_short_words_and_numbers_share_the_runs_that_they_share() -> None:
    """Letters of one word do not make up for those of the next."""
    rng = random.Random(1)
    for letters in ("ab", "0123456789"):
        for _ in range(300):
            one, other = ([letters[rng.randrange(2)] + rng.choice(letters) for _ in range(9)] for _ in range(2))
            runs = {tuple(one[i : i + n]) for n in range(1, 10) for i in range(10 - n)}
            shared = [n for n in range(1, 10) if any(tuple(other[i : i + n]) in runs for i in range(10 - n))]
            words = [run_words(" ".join(text)) for text in (one, other)]
            assert [n for n in range(1, 10) if share_run(*words, n)] == shared


def test_long_texts_have_the_words_of_their_parts() -> None:
    words = [*map(str, range(20_000)), "x" * 70_000, "end"]
    assert run_words(" ".join(words)).tolist() == [run_words(word)[0] for word in words]


@given(st.lists(st.text("ab .", max_size=30), min_size=1, max_size=4), st.text("ab .", max_size=60))
def test_the_longest_runs_are_those_of_a_plain_search(texts: list[str], other: str) -> None:
    there = other.replace(".", " ").split()

    def plain(text: str) -> int:
        words = text.replace(".", " ").split()
        runs = {n for i in range(len(words)) for n in range(1, len(words) - i + 1) if _holds(there, words[i : i + n])}
        longest = max(runs, default=0)
        return longest if longest >= min(4, len(words), len(there)) else 0

    assert longest_runs([run_words(text) for text in texts], run_words(other)) == [plain(text) for text in texts]


def _holds(words: list[str], run: list[str]) -> bool:
    return any(words[i : i + len(run)] == run for i in range(len(words)))


def test_a_section_of_the_card_that_has_nothing_to_say_is_left_out(dataset: Path) -> None:
    manifest = read_manifest(dataset)
    assert "## Audit" in card(manifest)
    assert "## Audit" not in card(replace(manifest, audit=None))
    assert "## Changelog" not in card(manifest)


def test_the_card_shows_a_short_row_of_each_configuration(dataset: Path) -> None:
    manifest = read_manifest(dataset)
    text = (dataset / "README.md").read_text()
    for configuration in manifest.configurations:
        [row, *_] = rows(dataset, configuration.name)
        assert manifest.examples[configuration.name]["id"] == row["id"]
        assert f"<summary>{configuration.name}</summary>" in text
        assert row["content"] not in text
        assert row["abstract"][:60] in text


# --- what may be published


@pytest.mark.slow
def test_a_publishable_copy_holds_no_text_without_a_licence(dataset: Path, copy: Path) -> None:
    names = {path.name for path in copy.iterdir() if path.is_dir()}
    assert "Intro-28K-G-ids" in names
    wanted: Licenses = "redistributable"
    for name, example in read_manifest(copy).examples.items():
        assert not name.endswith("-ids")
        assert allows(example["license"], wanted)
    for name in names:
        for row in rows(copy, name):
            if name.endswith("-ids"):
                assert not {"title", "abstract", "content", "target"} & set(row)
                assert all(len(text["sha256"]) == 64 for text in row["texts"])
                assert not all(
                    allows(one, wanted) for one in (row["license"], *(d["license"] for d in row["demonstrations"]))
                )
            else:
                assert all(
                    allows(one, wanted) for one in (row["license"], *(d["license"] for d in row["demonstrations"]))
                )
    texts = [row["content"][:200] for row in rows(dataset, "Title-10K") if not allows(row["license"], wanted)]
    stored = b"".join(path.read_bytes() for path in copy.rglob("*") if path.is_file())
    assert texts
    assert not any(text.encode() in stored for text in texts)


@pytest.mark.slow
def test_filled_from_its_workspace_it_is_the_same_bytes(
    world: Path, dataset: Path, copy: Path, tmp_path: Path, command: Command
) -> None:
    file = tmp_path / "round.toml"
    file.write_text('round = "2026.11"\n[source]\nkind = "sample"\nauthors = 20\npapers = 50\n')
    shutil.copytree(world / "work", tmp_path / "other")
    with Store.open(tmp_path / "other" / "store.sqlite3") as store:
        # What an older release read is read again.
        store._db.execute("UPDATE documents SET extractor = 'older', body = (SELECT min(body) FROM documents)")
    code, out, _ = command("fill", copy, file, "--work", tmp_path / "other", "-o", tmp_path / "filled")
    assert code == 0
    assert "changed_text" not in out
    assert hashes(tmp_path / "filled") == hashes(dataset)
    # A copy whose rows give another round than its manifest names.
    changed = tmp_path / "changed"
    shutil.copytree(copy, changed)
    manifest = json.loads((changed / "manifest.json").read_text())
    manifest["publishable"]["original"].pop()
    (changed / "manifest.json").write_text(json.dumps(manifest))
    code, _, err = command("fill", changed, file, "--work", tmp_path / "other", "-o", tmp_path / "none")
    assert (code, "the result is not the round that its manifest.json names" in err) == (1, True), err
    assert not (tmp_path / "none").exists()
    code, _, err = command("fill", copy, file, "--work", tmp_path / "other", "-o", copy)
    assert (code, "is the copy itself" in err) == (1, True), err
    for flags, says in (
        (("--path", tmp_path), "--path is for a --source"),
        (("--source", "arxiv", "--path", tmp_path, "--contact", "a@b.c"), "--path is none of its options"),
    ):
        code, _, err = command("fill", copy, file, *flags)
        assert (code, says in err) == (1, True), err


@pytest.mark.slow
def test_a_paper_that_has_changed_since_is_left_out_and_counted(world: Path, copy: Path, tmp_path: Path) -> None:
    round_ = small_round(copy_of(world, tmp_path))
    with Store.open(round_.workspace / "store.sqlite3") as store:
        id_ = rows(copy, "Abs-9K-ids")[0]["id"].rpartition("v")[0]
        (one,) = store.papers([id_])
        store.add_papers([replace(one, abstract="another abstract")], since="")
        store._db.execute("UPDATE papers SET abstract = 'another abstract' WHERE id = ?", (id_,))
    report = fill_only(round_, copy, tmp_path / "filled", LocalEngine(1))
    assert report.dropped["changed_text"] >= 1
    manifest = read_manifest(tmp_path / "filled")
    assert manifest.fill is not None
    assert manifest.fill.dropped == dict(report.dropped)


@pytest.mark.slow
def test_publishing_and_filling_want_the_right_folders(dataset: Path, copy: Path, tmp_path: Path) -> None:
    with pytest.raises(FolderError):
        publishable(copy, tmp_path / "again", "redistributable")
    with pytest.raises(FolderError, match="is not a publishable copy"):
        fill_only(small_round(tmp_path), dataset, tmp_path / "filled", LocalEngine(1))


# --- the reference dataset


def reference(folder: Path) -> Path:
    """The reference layout with made-up papers."""

    def record(number: int, day: int, **more: object) -> dict[str, object]:
        one = paper(number, f"First {number}", "Second S", day=day)
        return {
            "url": f"http://arxiv.org/abs/{one.versioned_id}",
            "title": one.title,
            "abstract": one.abstract,
            "authors": ", ".join(one.authors),
            "published": str(one.published),
            "updated": str(one.updated),
            "primary_cat": "cs.CL",
            "cats": ["cs.CL", "cs.AI"],
            "paper_cat": "cs.CL",
            "main_content": f"Body {number}. " * 300,
            **more,
        }

    def write(setting: str, split: str, number: int, data: object) -> None:
        place = folder / setting / split
        place.mkdir(parents=True, exist_ok=True)
        (place / f"x_short_2601.{number:05d}v1.json").write_text(json.dumps(data))

    others = [record(n, 1, gt=f"Output {n}") for n in (90, 91, 92)]
    graph = {"node_feat": {"a": [record(93, 1)], "b": [record(94, 2), record(95, 3)]}, "graph": [["a", "b"]]}
    shown = {"gt": "An abstract.", "additional_info": others, "additional_graph_info": graph}
    for number, split in ((1, "train"), (2, "val"), (3, "test"), (4, "test")):
        title = f"Title number {number}"
        content = f"{title} stands here. " * 200
        write("title_10K", split, number, record(number, 9 + number, gt=title, main_content=content))
        write("abs_48K_M", split, number, record(number, 9 + number, **shown))
    write("abs_48K_M", "test", 5, record(5, 20, **{**shown, "additional_info": others[:1]}))
    write("abs_48K_M", "test", 6, {"title": "no more"})
    cited = [record(80 + i, 0, label="Related Work") for i in range(3)] + [record(99, 0, label="random")]
    write("related_34K", "", 7, [record(7, 15, gt="Related text.", label="Original Paper"), *cited])
    (folder / "related_34K" / "test.txt").write_text("2601.00007v1.json\n")
    (folder / "related_34K" / "train.txt").write_text("7v1.json\n")  # how the other name ends
    return folder


def test_the_reference_dataset_becomes_a_folder_of_ours(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = reference(tmp_path / "AcademicEval")
    code, out, _ = command("import", "academiceval", source, "-o", tmp_path / "original")
    assert code == 0
    assert "import Abs-48K-M: 6 in, 4 kept, bad_record 1, too_few_random_demonstrations 1" in out
    loaded = {
        name: datasets.load_dataset(str(tmp_path / "original"), name)
        for name in ("Title-10K", "Abs-48K-M", "Related-34K")
    }
    assert {name: {split: len(part) for split, part in splits.items()} for name, splits in loaded.items()} == {
        "Title-10K": {"train": 1, "validation": 1, "test": 2},
        "Abs-48K-M": {"train": 1, "validation": 1, "test": 2},
        "Related-34K": {"test": 1},
    }
    title = loaded["Title-10K"]["test"][0]
    assert title["title"] not in title["content"]
    shown = loaded["Abs-48K-M"]["test"][0]["demonstrations"]
    assert [(d["id"], d["kind"]) for d in shown] == [
        ("2601.00090v1", "random"),
        ("2601.00091v1", "random"),
        ("2601.00093v1", "co-author"),
        ("2601.00094v1", "co-author"),
    ]
    assert shown[0]["output"] == "Output 90"
    cited = [one["id"] for one in loaded["Related-34K"]["test"][0]["citations"]]
    assert cited == ["2601.00080v1", "2601.00081v1", "2601.00082v1"]


def test_a_folder_that_is_not_the_reference_dataset_is_named(tmp_path: Path) -> None:
    with pytest.raises(FolderError, match="contains no folder of the reference dataset"):
        import_academiceval(tmp_path, tmp_path / "out")
    (tmp_path / "title_10K").mkdir()
    with pytest.raises(FolderError, match="no sample could be read"):
        import_academiceval(tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    reference(tmp_path)
    lists = tmp_path / "title_10K"
    for file in [*lists.glob("*/*")]:
        file.rename(lists / file.name)
    (lists / "train.txt").write_text("x_short_2601.00001v1.json x_short_2601.00009v1.json")
    [title, *_] = import_academiceval(tmp_path, tmp_path / "out")
    assert (title.kept, dict(title.dropped)) == (1, {"not_listed": 3, "missing_file": 1})
    (lists / "test.txt").write_text("x_short_2601.00001v1.json")
    with pytest.raises(FolderError, match="two lists"):
        import_academiceval(tmp_path, tmp_path / "again")
