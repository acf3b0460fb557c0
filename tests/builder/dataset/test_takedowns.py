"""Papers that were taken down: in builds to come, in a copy without them, and in what readers complete."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from builder.dataset.publishable import without_papers
from builder.errors import RoundError
from builder.families.registry import rows_of, schema_of
from builder.families.writing.prepare import _cited_papers
from builder.ids import bare_id
from builder.round.takedowns import TAKEDOWNS, parse_takedowns, taken_down
from builder.store import STORE, Store
from hub_scripts.hub.notices import by_own_ids
from lm_eval_tasks.engines.registry import LocalEngine
from lm_eval_tasks.families.rounds import read_manifest
from standins.jats_world import draw_jats
from standins.rounds import build, fill_only, small_round
from tests.helpers.papers import paper
from tests.helpers.served import Command

pytestmark = pytest.mark.slow


def _shown(place: Path) -> set[str]:
    return {
        bare_id(name)
        for one in read_manifest(place).configurations
        for _, row in rows_of(place, one)
        for name, _ in schema_of(one).papers(row)
    }


def _samples(place: Path) -> dict[str, set[str]]:
    """Setting, with what is there by id -> ids of its rows."""
    found: dict[str, set[str]] = {}
    for one in read_manifest(place).configurations:
        name = one.of if one.form == "ids" else one.name
        found.setdefault(name, set()).update(row["id"] for _, row in rows_of(place, one))
    return found


def _victim(place: Path) -> str:
    """A paper that demonstrates in one setting and is a target itself."""
    setting = next(one for one in read_manifest(place).configurations if one.name == "Abs-28K")
    rows = [row for _, row in rows_of(place, setting)]
    targets = {row["id"] for row in rows}
    return next(d["id"] for row in rows for d in row["demonstrations"] if d["id"] in targets).rpartition("v")[0]


def test_a_list_by_hand_is_enough(tmp_path: Path) -> None:
    path = tmp_path / TAKEDOWNS
    assert taken_down(path) == frozenset()
    path.write_text('{"id": "2401.00001v2", "reason": null}\n\n{"id": "hep-th/9901001", "reason": "asked"}\n')
    assert taken_down(path) == {"2401.00001", "hep-th/9901001"}
    assert [one.reason for one in parse_takedowns(path.read_text(), "x")] == ["", "asked"]


@pytest.mark.parametrize(
    "line", ["2401.00001", '{"id": 2401.00010}', '{"paper": "2401.00001"}', '{"id": 7}', '["2401.00001"]']
)
def test_a_list_that_cannot_be_read(line: str) -> None:
    with pytest.raises(RoundError, match="list, line 2: a takedown is"):
        parse_takedowns(f'{{"id": "2401.00001"}}\n{line}\n', "list")


def test_later_builds_do_not_show_them(world: Path, tmp_path: Path) -> None:
    shutil.copytree(world / "work", tmp_path / "work")
    victim = _victim(world / "academiceval")
    scalar = {"levels": ("SCALAR-Hard",), "splits": ("train", "test")}
    round_ = small_round(tmp_path, takedowns=tmp_path / TAKEDOWNS, scalar=scalar)
    (tmp_path / TAKEDOWNS).write_text(f"{victim}\n")
    with pytest.raises(RoundError, match=f"{TAKEDOWNS}, line 1"):
        build(round_)
    (tmp_path / TAKEDOWNS).write_text(json.dumps({"id": victim}) + "\n")
    outcome = build(round_)
    assert victim in _shown(world / "academiceval")
    assert victim not in _shown(tmp_path / "academiceval")
    extract = next(report for report in outcome.manifest.reports if report.stage == "extract")
    assert extract.dropped["taken_down"] == 1
    assert read_manifest(tmp_path / "academiceval").config["takedowns"] == [victim]


@pytest.fixture(params=[False, True], ids=["whole", "publishable"])
def source(request: pytest.FixtureRequest, dataset: Path, copy: Path) -> Path:
    return copy if request.param else dataset


def test_the_copy_without_them(source: Path, dataset: Path, tmp_path: Path) -> None:
    victim = _victim(dataset)
    report = without_papers(source, tmp_path / "without", [victim], "2026.11.post1")
    before, after = _samples(source), _samples(tmp_path / "without")
    assert victim in _shown(source)
    assert victim not in _shown(tmp_path / "without")
    assert before.keys() == after.keys()
    for task in ("Title", "Abs", "Intro", "Related"):
        groups = [ids for name, ids in after.items() if name.startswith(task)]
        assert all(ids == groups[0] for ids in groups)
        assert groups[0]
    assert report.dropped["taken_down"] == sum(len(before[name]) - len(after[name]) for name in before) > 0
    manifest = read_manifest(tmp_path / "without")
    assert (manifest.round, manifest.revision) == ("2026.11", "2026.11.post1")
    # What every model is asked first stays, rows by id included, as far as it is there.
    core = {entry.configuration: entry.samples for entry in read_manifest(source).core}
    assert {entry.configuration for entry in manifest.core} == core.keys() != set()
    assert all(0 < entry.samples <= core[entry.configuration] for entry in manifest.core)
    assert sum(entry.samples for entry in manifest.core) > sum(core.values()) / 2
    assert "taken_down" in (tmp_path / "without" / "README.md").read_text()


def test_the_copy_without_a_stranger_has_the_same_files(source: Path, tmp_path: Path) -> None:
    without_papers(source, tmp_path / "without", ["2401.99999"], "2026.11.post1")
    assert read_manifest(tmp_path / "without").files == read_manifest(source).files


def test_a_copy_without_them_can_be_completed(dataset: Path, copy: Path, world: Path, tmp_path: Path) -> None:
    """Both ways to the whole round without a paper give the same rows: take down, then complete, or the other way round."""
    shutil.copytree(world / "work", tmp_path / "work")
    victim = _victim(dataset)
    without_papers(dataset, tmp_path / "expected", [victim], "2026.11.post1")
    without_papers(copy, tmp_path / "less", [victim], "2026.11.post1")
    report = fill_only(small_round(tmp_path), tmp_path / "less", tmp_path / "filled", LocalEngine(2))
    assert not report.dropped
    expected, filled = (read_manifest(tmp_path / name) for name in ("expected", "filled"))
    assert filled.files == expected.files
    with Store.open(tmp_path / "work" / STORE) as store:
        assert store.knows(victim)


def test_a_paper_is_taken_down_by_any_of_its_ids(tmp_path: Path, command: Command) -> None:
    """Of open-access articles a PubMed Central id too; what names nothing is named."""
    draw_jats(tmp_path / "articles", papers=24)
    (tmp_path / "round.toml").write_text(
        'round = "2026.11"\nsettings = ["Title-10K"]\n[source]\nkind = "jats"\npath = "articles"\n[graph]\ncomponent = "all"\n'
        "[split]\nvalidation = 0.2\ntest = 0.4\n"
    )
    code, out, err = command("run", tmp_path / "round.toml")
    assert code == 0, err
    manifest = read_manifest(tmp_path / "academiceval")
    shown = _shown(tmp_path / "academiceval")
    other, own = next((other, own) for other, own in sorted(manifest.other_ids.items()) if own in shown)
    assert other != own
    (tmp_path / TAKEDOWNS).write_text(f'{{"id": "{other}"}}\n{{"id": "PMC99999999"}}\n')
    code, out, err = command("run", tmp_path / "round.toml", "--replace")
    assert code == 0, err
    assert "taken_down 1" in out
    assert "names PMC99999999, which is the id of no paper here" in out
    assert own not in _shown(tmp_path / "academiceval")
    listed = by_own_ids(parse_takedowns(f'{{"id": "{other}"}}'.encode(), "x"), manifest)
    assert [takedown.id for takedown in listed] == [own]


def test_a_cited_article_that_was_taken_down_is_not_shown() -> None:
    """Abstracts of arXiv are in the public domain, and stay."""
    cited = [paper(1), replace(paper(2), id="10.5555/x.2", license="http://creativecommons.org/licenses/by/4.0/")]
    store = SimpleNamespace(cited_ids=lambda _: {0: cited[0].id, 1: cited[1].id}, papers=lambda ids: iter(cited))

    def shown(*taken_down: str) -> set[int]:
        return set(_cited_papers(store, "2601.00009", "all", taken_down))  # type: ignore[arg-type]

    assert shown() == {0, 1}
    assert shown(cited[0].id, cited[1].id) == {0}
