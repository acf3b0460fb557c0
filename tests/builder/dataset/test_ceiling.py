"""The authors' own ceiling: version 1 of revised papers, asked for once in batches, kept wherever the data goes."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from builder.collect.first_versions import learn_first_versions
from builder.dataset.ceiling import ceilings_of
from builder.dataset.first_versions import read_first_versions
from builder.dataset.folder import add_report_card
from builder.dataset.integrity import file_differences
from builder.dataset.manifest import parse_report_card, read_carried, read_manifest
from builder.dataset.publishable import publishable
from builder.dataset.takedown import without_papers
from builder.errors import FolderError
from builder.ids import bare_id
from builder.pipeline import build
from builder.records import Drop, Paper
from builder.round.model import load_round
from builder.round.takedowns import Takedown, takedown_lines
from builder.sources.arxiv.source import ArxivSource
from builder.sources.base import open_source
from builder.store import Store
from lm_eval_tasks.core.row_format import FIRST_VERSIONS, FirstVersion
from lm_eval_tasks.metrics.rouge import rouge_l
from tests.builder.test_pipeline import copy_of
from tests.helpers.loopback import Loopback, World, serve
from tests.helpers.papers import mirror, paper
from tests.helpers.rounds import small_round

REVISED = [replace(paper(i, f"Ada {i}", day=i), version=2) for i in range(1, 251)]


class Revising:
    """A mirror whose papers' first versions are known."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def by_ids(self, ids: Iterable[str]) -> Iterator[Paper | Drop]:
        names = list(ids)
        first = {bare_id(name) for name in names if name.endswith("v1")}
        for item in self._inner.by_ids(names):
            if isinstance(item, Paper) and item.id in first and not item.id.endswith("7"):
                yield replace(item, version=1, title=f"First {item.title}", abstract=f"At first {item.abstract}")
            else:
                yield item


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Loopback]:
    with serve(World(Revising(mirror(tmp_path / "mirror", REVISED)))) as running:
        yield running


def test_arxiv_is_asked_once_in_batches(tmp_path: Path, server: Loopback, store: Store) -> None:
    text = "\n".join(f"{name} = {value!r}" for name, value in server.tables().items())
    (tmp_path / "round.toml").write_text(f'round = "2026.11"\n[source]\n{text}\n')
    source = open_source(load_round(tmp_path / "round.toml"), store)
    assert isinstance(source, ArxivSource)
    store.add_papers(REVISED, since="2026.11")
    learn_first_versions(source, store, REVISED)
    assert server.asked == {"api": 2}
    assert server.asked["api"] <= 0.02 * len(REVISED)
    assert store.first_version(REVISED[0].id) == ("First Title number 1", f"At first {REVISED[0].abstract}")
    # Where the source gives the last version, it is not taken for the first one; nor asked again.
    assert store.first_version("2601.00007") == ("", "")
    learn_first_versions(source, store, REVISED)
    assert server.asked == {"api": 2}


def test_figures_are_over_what_changed() -> None:
    papers = [
        replace(paper(i, f"Ada {i}", day=i, abstract=f"alpha beta gamma delta {i}"), version=2) for i in range(30)
    ]
    changed = [
        FirstVersion(one.versioned_id, one.title, f"alpha beta gamma epsilon {i}") for i, one in enumerate(papers)
    ]
    same = [FirstVersion(one.versioned_id, one.title, one.abstract) for one in papers[20:]]
    found = ceilings_of(papers, [*changed[:20], *same], "none")
    assert set(found) == {"abs"}
    one = found["abs"]
    assert (one.papers, one.revised, one.changed, one.words_changed) == (30, 30, 20, 0.2)
    assert one.rouge_l.mean == round(rouge_l("alpha beta gamma delta 1", "alpha beta gamma epsilon 1"), 4)
    assert (one.bertscore, one.model) == (None, "")
    assert ceilings_of(papers, same, "none") == {}


@pytest.mark.slow
def test_bertscore_of_the_ceiling_names_its_model() -> None:
    papers = [replace(paper(1, "Ada", abstract="Attention is sparse."), version=2)]
    found = ceilings_of(
        papers, [FirstVersion(papers[0].versioned_id, papers[0].title, "Attention is dense.")], "minilm"
    )
    assert found["abs"].model == "minilm"
    assert found["abs"].bertscore is not None
    assert 0.5 < found["abs"].bertscore.mean < 1


@pytest.mark.slow
def test_a_round_holds_ceilings_and_the_files_beside_its_data(dataset: Path, tmp_path: Path) -> None:
    manifest = read_manifest(dataset)
    one = manifest.ceilings["abs"]
    assert 0 < one.changed == one.revised <= one.papers
    assert 0.6 < one.rouge_l.mean < 1
    revisions = list(read_first_versions(dataset))
    assert len(revisions) == one.revised
    # A copy to publish has both files, a sealed one no text.
    publishable(dataset, tmp_path / "copy", "redistributable")
    assert read_carried(tmp_path / "copy", read_manifest(tmp_path / "copy")) == read_carried(dataset, manifest)
    publishable(dataset, tmp_path / "sealed", "none")
    assert not (tmp_path / "sealed" / FIRST_VERSIONS).exists()
    # Who is taken down goes from this file too.
    gone = bare_id(revisions[0].id)
    without_papers(dataset, tmp_path / "less", [gone], "2026.11.post1")
    assert [one.id for one in read_first_versions(tmp_path / "less")] == [one.id for one in revisions[1:]]


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / FIRST_VERSIONS).write_text('{"id": 1}\n')
    with pytest.raises(FolderError, match=r"revisions\.jsonl cannot be read"):
        read_first_versions(tmp_path)


def test_a_report_card_goes_into_manifest_and_card(dataset: Path, tmp_path: Path) -> None:
    folder = tmp_path / "academiceval"
    shutil.copytree(dataset, folder)
    seen = {"accuracy": 0.61, "low": 0.5, "high": 0.7, "n": 40, "harmless": 0.125}
    add_report_card(
        folder, parse_report_card(json.dumps({"rouge_l": {"numbers": seen, "own_third": seen}}).encode(), "x")
    )
    manifest = read_manifest(folder)
    assert manifest.report_card["rouge_l"]["numbers"].accuracy == 0.61
    assert replace(manifest, report_card={}, other_files={}) == replace(read_manifest(dataset), other_files={})
    text = (folder / "README.md").read_text()
    assert "## What the metrics notice" in text
    assert "| own third | 0.61 [0.50, 0.70] of 40 |" in text
    assert "| false alarms on harmless changes | 0.12 |" in text
    assert not list(file_differences(folder, manifest))
    # A file that somebody changed does not get a new hash this way.
    (folder / FIRST_VERSIONS).write_bytes((folder / FIRST_VERSIONS).read_bytes() + b"\n")
    with pytest.raises(FolderError, match=r"revisions\.jsonl is not what the manifest\.json says"):
        add_report_card(folder, manifest.report_card)
    with pytest.raises(FolderError, match=r"revisions\.jsonl is not what the manifest\.json says"):
        publishable(folder, tmp_path / "copy", "redistributable")


@pytest.mark.parametrize(
    "content",
    [
        b'{"rouge_l": {"numbers": {"accuracy": 7}}}',
        b"[]",
        b"NaN",
        b'{"a|b\\n# HEAD": {"numbers": {"accuracy": 0.5, "low": null, "high": null, "n": 1, "harmless": null}}}',
    ],
)
def test_what_is_not_a_report_card_is_refused(content: bytes) -> None:
    with pytest.raises(FolderError, match=r"card\.json is not a report card"):
        parse_report_card(content, "card.json")


@pytest.mark.slow
def test_a_paper_that_was_taken_down_is_not_in_the_next_round(world: Path, tmp_path: Path) -> None:
    [gone, *_] = read_first_versions(world / "academiceval")
    place = copy_of(world, tmp_path)
    (tmp_path / "takedowns.jsonl").write_text(
        takedown_lines([Takedown(bare_id(gone.id), "2026-11-01", "asked", "2026.11.post1")])
    )
    build(small_round(place, takedowns=tmp_path / "takedowns.jsonl"), replace=True)
    assert gone.id not in {one.id for one in read_first_versions(tmp_path / "academiceval")}


@pytest.mark.slow
def test_two_processes_open_an_older_store(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    Store.open(path).close()
    older = sqlite3.connect(path)
    older.executescript(
        "DROP TABLE first_versions; DROP TABLE other_ids; ALTER TABLE papers DROP COLUMN author_ids; "
        "ALTER TABLE papers DROP COLUMN other_ids; PRAGMA user_version=2;"
    )
    older.close()
    line = f"from pathlib import Path; from builder.store import Store; Store.open(Path({str(path)!r})).close()"
    started = [subprocess.Popen([sys.executable, "-c", line], stderr=subprocess.PIPE, text=True) for _ in range(4)]
    assert [(process.communicate()[1], process.returncode) for process in started] == [("", 0)] * 4
    with Store.open(path) as store:
        assert store.first_version("2601.00001") is None
        assert store.id_of("PMC1") is None
        assert list(store.papers()) == []
