"""A round over a small made-up world, seen from outside: what load_dataset, the card and the manifest say."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, nullcontext, suppress
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet as pq
import pytest
import yaml
from huggingface_hub import DatasetCard

from builder.dataset import folder
from builder.dataset.tables import short_of_name
from builder.errors import FolderError, RoundError, StoreError
from builder.round.model import Round
from builder.round.source import MirrorTable, SampleTable
from builder.round.tables import SamplesTable, SplitTable
from builder.store import STORE
from lm_eval_tasks.base.contract import SPLITS
from lm_eval_tasks.base.errors import DatasetError
from lm_eval_tasks.base.figures import QUANTILES
from lm_eval_tasks.base.manifest import canary
from lm_eval_tasks.engines.registry import LocalEngine
from lm_eval_tasks.families.rounds import read_manifest
from lm_eval_tasks.families.writing.settings import SETTINGS
from standins.rounds import build, hashes, run, small_round, stages
from tests.helpers.warm import Warm

# A setting of the round's own.
CO_AUTHORS = {"name": "Title-1M-G", "task": "title", "fill": ["co-author"]}


def rows(dataset: Path, setting: str) -> list[dict[str, Any]]:
    return [row for path in sorted((dataset / setting).glob("*.parquet")) for row in pq.read_table(path).to_pylist()]


def copy_of(world: Path, to: Path) -> Path:
    shutil.copytree(world / "work", to / "work")
    return to


def tiny_round(folder: Path) -> Round:
    """A round over a world that is read in a few seconds."""
    return small_round(
        folder, source=SampleTable(kind="sample", authors=8, papers=18), settings=("Title-10K", "Abs-9K")
    )


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The workspace and folder of such a round, undisturbed."""
    place = tmp_path_factory.mktemp("tiny")
    run(tiny_round(place), LocalEngine(2))
    return place


def test_load_dataset_as_users_type_it(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(dataset.parent)
    loaded = datasets.load_dataset("academiceval", "Intro-28K-G")
    assert set(loaded) == set(SPLITS)
    assert sum(map(len, loaded.values())) > 10
    streamed = datasets.load_dataset("academiceval", "Intro-28K-G", streaming=True)
    assert next(iter(streamed["test"]))["id"] == loaded["test"][0]["id"]


@pytest.mark.slow
def test_every_configuration_loads_with_the_sizes_that_the_card_gives(dataset: Path) -> None:
    assert datasets.get_dataset_config_names(str(dataset)) == [setting.name for setting in SETTINGS]
    manifest = {one.name: one for one in read_manifest(dataset).configurations}
    for setting in SETTINGS:
        loaded = datasets.load_dataset(str(dataset), setting.name)
        sizes = {split: manifest[setting.name].statistics(split).samples for split in SPLITS}
        assert {split: len(part) for split, part in loaded.items()} == sizes


def test_all_settings_of_a_task_hold_the_same_samples(dataset: Path) -> None:
    for task in {setting.task for setting in SETTINGS}:
        ids = {
            setting.name: [row["id"] for row in rows(dataset, setting.name)]
            for setting in SETTINGS
            if setting.task == task
        }
        assert len({tuple(one) for one in ids.values()}) == 1


def test_rows_hold_what_their_setting_says(dataset: Path) -> None:
    for setting in SETTINGS:
        for row in rows(dataset, setting.name):
            kinds = [demo["kind"] for demo in row["demonstrations"]]
            assert kinds == ["random"] * setting.random + ["co-author"] * setting.co_author
            assert all(demo["published"] < row["published"] for demo in row["demonstrations"])
            assert len({row["id"], *(demo["id"] for demo in row["demonstrations"])}) == 1 + len(kinds)
            assert row["round"] == "2026.11"
            assert row["input_tokens"] > row["target_tokens"] > 0
            assert ("citations" in row) == (setting.task == "related")


def test_the_own_section_is_not_in_the_content(dataset: Path) -> None:
    for row in rows(dataset, "Intro-8K"):
        assert row["target"][:80] not in row["content"]
        assert not row["content"].startswith("1 Introduction")
    for row in rows(dataset, "Related-34K"):
        assert row["target"][:80] not in row["content"]
        assert len(row["citations"]) >= 5
    for row in rows(dataset, "Abs-9K"):
        assert "Conclusion" not in [line.lstrip("0123456789 ") for line in row["content"].splitlines()]
        assert row["target"] == row["abstract"]
    for row in rows(dataset, "Title-10K"):
        assert row["target"] == row["title"]
        assert "Acknowledgements" not in row["content"]
        assert "References" not in row["content"]
        assert "This paper was never written" not in row["content"]  # the footnote


def test_citations_are_older_and_other_papers(dataset: Path) -> None:
    for row in rows(dataset, "Related-34K"):
        ids = [cited["id"] for cited in row["citations"]]
        assert len(set(ids)) == len(ids)
        assert all(cited < row["id"] for cited in ids)
        assert all(cited["title"] and cited["abstract"] for cited in row["citations"])


def test_the_test_split_is_the_newest(dataset: Path) -> None:
    days: dict[str, list[str]] = {}
    for split in SPLITS:
        for path in (dataset / "Title-10K").glob(f"{split}-*.parquet"):
            days[split] = pq.read_table(path)["published"].to_pylist()
    assert max(days["train"]) < min(days["validation"])
    assert max(days["validation"]) < min(days["test"])


def test_the_manifest_tells_where_everything_went(dataset: Path) -> None:
    manifest = read_manifest(dataset)
    for report in manifest.reports:
        assert report.given == report.kept + sum(report.dropped.values())
    stages = [report.stage for report in manifest.reports]
    assert stages[:4] == ["crawl", "graph", "extract", "link"]
    assert stages[4:] == ["samples title", "samples abs", "samples intro", "samples related"]
    assert manifest.reports[2].given == manifest.reports[1].kept
    for name, file in manifest.files.items():
        assert hashlib.sha256((dataset / name).read_bytes()).hexdigest() == file.sha256
        assert file.sha256[:16] in name
    on_disk = {str(path.relative_to(dataset)) for path in dataset.rglob("*.parquet")}
    assert on_disk == set(manifest.files)


def test_the_card_has_what_the_hub_reads(dataset: Path) -> None:
    card = DatasetCard.load(dataset / "README.md")
    assert card.data.license == "other"
    front = yaml.safe_load((dataset / "README.md").read_text().split("---")[1])
    assert front["license_name"] == "arxiv-per-paper"
    assert front["license_link"].startswith("https://")
    assert front["size_categories"]
    assert front["source_datasets"] == ["original"]
    assert front["task_categories"][0] == "text-generation"
    assert {"arxiv:2510.17725", "arxiv:2502.13753"} <= set(front["tags"])
    assert [one["config_name"] for one in front["configs"]] == [setting.name for setting in SETTINGS]
    assert [one.get("default") for one in front["configs"]].count(True) == 1
    assert len(front["dataset_info"]) == 16
    assert canary("2026.11") in card.text
    assert canary("2026.11") != canary("2026.12")
    assert "eval.yaml" not in card.text
    for shown in ("## Limitations", "## Takedowns", "## How to cite", "| Title-10K | Title |", "| extract |"):
        assert shown in card.text


def test_the_card_tells_how_long_samples_are(dataset: Path) -> None:
    test = read_manifest(dataset).configurations[0].statistics("test")
    lengths = sorted(
        row["input_tokens"] for row in pq.read_table(next((dataset / "Title-10K").glob("test-*"))).to_pylist()
    )
    assert test.input_lengths[-1] == lengths[-1]
    for share, length in zip(QUANTILES, test.input_lengths, strict=True):
        assert sum(one < length for one in lengths) < share * len(lengths) <= sum(one <= length for one in lengths)
    shown = " | ".join(map(str, (*test.input_lengths, *test.target_lengths)))
    assert f"| Title-10K | {shown} |" in (dataset / "README.md").read_text(encoding="utf-8")


def test_a_setting_that_is_much_shorter_than_its_name_is_named(dataset: Path) -> None:
    made_up = read_manifest(dataset)
    assert short_of_name(made_up) == []
    found = short_of_name(replace(made_up, source="mirror"))
    assert len(found) == 16
    related = next(line for line in found if line.startswith("Related-34K: inputs have "))
    assert related.endswith("name more metadata in `source.references`")
    first = made_up.configurations[0]
    long = {
        split: replace(one, statistics=replace(one.statistics, input_tokens=5000 * one.statistics.samples))
        for split, one in first.splits.items()
    }
    enough = replace(first, splits=long)
    assert short_of_name(replace(made_up, source="mirror", configurations=(enough,))) == []


def test_row_groups_are_small_and_have_a_page_index(dataset: Path) -> None:
    for path in dataset.rglob("*.parquet"):
        metadata = pq.ParquetFile(path).metadata
        for i in range(metadata.num_row_groups):
            assert metadata.row_group(i).num_rows <= 64
            assert metadata.row_group(i).column(0).has_column_index


def test_every_file_has_the_canary(dataset: Path) -> None:
    files = sorted(dataset.rglob("*.parquet"))
    assert files
    assert {pq.read_schema(file).metadata[b"canary"].decode() for file in files} == {canary("2026.11")}


@pytest.mark.slow
def test_a_fresh_workspace_gives_the_same_bytes(tiny: Path, tmp_path: Path) -> None:
    run(tiny_round(tmp_path), LocalEngine(1))
    assert hashes(tmp_path / "academiceval") == hashes(tiny / "academiceval")


@pytest.mark.slow
def test_fewer_settings_need_less_of_a_paper(world: Path, dataset: Path, tmp_path: Path) -> None:
    outcome = build(small_round(copy_of(world, tmp_path), settings=("Title-10K", "Abs-9K")))
    assert [one.name for one in outcome.manifest.configurations] == ["Title-10K", "Abs-9K"]
    assert outcome.manifest.configurations[0].samples > len(rows(dataset, "Title-10K"))
    names = {path.name for path in (tmp_path / "academiceval").iterdir()}
    assert names == {"Abs-9K", "README.md", "Title-10K", "manifest.json"}


# Where a build is killed: what lies in its folder then.
MOMENTS: dict[str, Callable[[Path], bool]] = {
    "taking papers": lambda place: (place / "work" / STORE).is_file(),
    "reading files": lambda place: _documents(place) > 2,
    "writing": lambda place: (place / ".academiceval.building" / "Title-10K").is_dir(),
}


def _documents(place: Path) -> int:
    if not (place / "work" / STORE).is_file():
        return 0
    with closing(sqlite3.connect(f"file:{place / 'work' / STORE}?mode=ro", uri=True)) as store, suppress(sqlite3.Error):
        return int(store.execute("SELECT count(*) FROM documents").fetchone()[0])
    return 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "moment",
    ["reading files", *(pytest.param(moment, marks=pytest.mark.long) for moment in ("taking papers", "writing"))],
)
def test_a_killed_run_goes_on_and_gives_the_same_bytes(tiny: Path, warm: Warm, tmp_path: Path, moment: str) -> None:
    shutil.copytree(tiny / "work" / "sample", tmp_path / "work" / "sample")
    script = (
        "from pathlib import Path; from tests.builder.test_pipeline import tiny_round; from standins.rounds import run; "
        "from lm_eval_tasks.engines.registry import LocalEngine; "
        f"run(tiny_round(Path({str(tmp_path)!r})), LocalEngine())"
    )
    process = warm.popen(["python", "-c", script])
    while process.poll() is None and not MOMENTS[moment](tmp_path):
        time.sleep(0.002)
    assert process.kill_all(), "it ended before it was killed"
    assert not (tmp_path / "academiceval").exists()
    run(tiny_round(tmp_path), LocalEngine(2))
    assert hashes(tmp_path / "academiceval") == hashes(tiny / "academiceval")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["academiceval", "work"]


def test_a_build_killed_between_its_renames_is_whole_again(dataset: Path, tmp_path: Path) -> None:
    output = tmp_path / "academiceval"
    shutil.copytree(dataset, tmp_path / ".academiceval.old")
    with pytest.raises(KeyboardInterrupt), folder.replacing(output):
        raise KeyboardInterrupt
    assert (output / "manifest.json").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["academiceval"]


@pytest.mark.parametrize("fails", [False, True])
def test_where_folders_cannot_be_exchanged_the_old_one_comes_back(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    output = tmp_path / "academiceval"
    shutil.copytree(dataset, output)
    monkeypatch.setattr(folder, "exchange", lambda one, other: False)
    real = Path.rename

    def rename(self: Path, target: Path) -> Path:
        if fails and self.name.endswith(".building"):
            raise OSError(28, "No space left on device")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(OSError, match="No space left") if fails else nullcontext(), folder.replacing(output) as place:
        (place / "new").write_text("new")
    assert (output / ("manifest.json" if fails else "new")).is_file()


def test_a_folder_of_something_else_is_never_overwritten(world: Path, tmp_path: Path) -> None:
    copy_of(world, tmp_path)
    (tmp_path / "academiceval").mkdir()
    (tmp_path / "academiceval" / "thesis.tex").write_text("mine")
    with pytest.raises(FolderError, match="is not a dataset folder"):
        build(small_round(tmp_path))
    assert (tmp_path / "academiceval" / "thesis.tex").read_text() == "mine"
    with pytest.raises(FolderError, match="another `output`"):
        build(small_round(tmp_path, output=Path("/")))


@pytest.mark.parametrize("name", [".git/HEAD", "NOTES.md", "Abs-9K/mine.txt"])
def test_what_somebody_put_into_a_dataset_folder_is_not_lost(dataset: Path, tmp_path: Path, name: str) -> None:
    output = tmp_path / "academiceval"
    shutil.copytree(dataset, output)
    (output / name).parent.mkdir(exist_ok=True)
    (output / name).write_text("mine")
    with pytest.raises(FolderError, match="would be lost"), folder.replacing(output):
        pass
    assert (output / name).read_text() == "mine"


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"papers": {"categories": ["math.AG"]}}, RoundError, r"primary category math\.AG"),
        ({"samples": {"min_content_words": 10**6}}, FolderError, "short_content"),
        (
            {"split": {"validation_from": date(2030, 1, 1), "test_from": date(2030, 2, 1)}},
            FolderError,
            r"the test split of Title-10K is empty \(\d+ samples, test from 2030-02-01\)",
        ),
        ({"setting": [CO_AUTHORS | {"tokens": 1_000_000}]}, FolderError, "too_few_co_author_demonstrations"),
        ({"setting": [CO_AUTHORS | {"tokens": 1000}]}, FolderError, "longer_than_budget"),
    ],
)
def test_a_round_without_samples_writes_nothing_and_says_why(
    world: Path, tmp_path: Path, changes: dict[str, object], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        run(small_round(copy_of(world, tmp_path), **{"settings": ("Title-10K",), **changes}), LocalEngine(1))
    assert [path.name for path in tmp_path.iterdir()] == ["work"]


@pytest.mark.slow
def test_a_mirror_without_its_files_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "mirror" / "pdf").mkdir(parents=True)
    record = {"title": "T", "abstract": "A", "authors": ["Ada Ek"], "categories": ["cs.CL"], "published": "2026-01-01"}
    lines = [json.dumps({**record, "id": f"2601.0000{i}"}) + "\n" for i in range(1, 4)]
    (tmp_path / "mirror" / "metadata.jsonl").write_text("".join(lines))
    (tmp_path / "mirror" / "pdf" / "2601.00001.pdf").write_text("this is no PDF")
    round_ = small_round(tmp_path, source=MirrorTable(kind="mirror", path=tmp_path / "mirror"))
    with pytest.raises(FolderError, match=r"extract: 3 in, 0 kept, missing_file 2, not_a_pdf 1"):
        run(round_, LocalEngine(1))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mirror", "work"]


@pytest.mark.slow
def test_a_failed_build_leaves_the_previous_folder_alone(
    world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(small_round(copy_of(world, tmp_path), settings=("Title-10K",)))
    before = hashes(tmp_path / "academiceval")

    def full(*arguments: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("builder.dataset.folder.card", full)
    with pytest.raises(OSError, match="No space left") as raised:
        build(small_round(tmp_path, settings=("Title-10K",), seed=99))
    assert raised.value.filename == str(tmp_path / "academiceval")
    assert hashes(tmp_path / "academiceval") == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["academiceval", "work"]


@pytest.mark.slow
def test_a_setting_and_a_split_without_samples_are_left_out(world: Path, tmp_path: Path) -> None:
    settings = ("Title-10K", "Related-34K")
    samples = SamplesTable(min_citations=99)
    past = SplitTable(validation_from=date(2020, 1, 1), test_from=date(2020, 2, 1))
    outcome = build(small_round(copy_of(world, tmp_path), settings=settings, samples=samples, split=past))
    title, related = outcome.manifest.configurations
    assert (title.name, related.name, related.samples) == ("Title-10K", "Related-34K", 0)
    assert datasets.get_dataset_config_names(str(outcome.output)) == ["Title-10K"]
    loaded = datasets.load_dataset(str(outcome.output), "Title-10K")
    assert {split: len(part) for split, part in loaded.items()} == {"test": title.samples}
    assert title.samples > 0
    assert "| Related-34K | Related work | - | 0 | - | 0 |" in (outcome.output / "README.md").read_text()


def test_building_before_crawling_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="academiceval run"):
        build(small_round(tmp_path))


def test_a_folder_without_manifest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="does not exist"):
        read_manifest(tmp_path / "x")
    with pytest.raises(DatasetError, match=r"no manifest\.json"):
        read_manifest(tmp_path)
    # The format is looked at before anything else.
    (tmp_path / "manifest.json").write_text(json.dumps({"format": 99}))
    with pytest.raises(DatasetError, match="is of format 99"):
        read_manifest(tmp_path)


def test_each_stage_is_reported_when_it_ends(world: Path, tmp_path: Path) -> None:
    place = copy_of(world, tmp_path)
    round_ = small_round(place, settings=("Abs-9K",))
    seen = []
    for report in stages(round_, LocalEngine(2)):
        assert not round_.output.exists()
        seen.append(report.stage)
    assert seen == ["crawl", "graph", "extract", "link"]
    outcome = build(round_, LocalEngine(2))
    assert [report.stage for report in outcome.manifest.reports] == [*seen, "samples abs"]
    assert [report.stage for report in outcome.reports] == ["samples abs"]
