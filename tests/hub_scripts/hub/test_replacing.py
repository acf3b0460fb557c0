"""`push --replaces` against a Hub on this machine: what takes the place of a published revision, whose tag stays."""

from __future__ import annotations

import io
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from builder.dataset import folder as folders
from builder.dataset.card import card
from builder.errors import FolderError
from builder.round.takedowns import TAKEDOWNS, Erratum, parse_errata
from lm_eval_tasks.families.rounds import parse_manifest, read_manifest
from standins.hub_server import Fault, Hub
from tests.builder.test_pipeline import rows
from tests.helpers.served import Command

pytestmark = pytest.mark.slow

REPO = "org/academiceval"
KEY = f"datasets/{REPO}"
SETTINGS = ("Abs-9K", "Intro-28K-G")
Rounds = tuple[Path, Path]


def _hashes(hub: Hub, revision: str = "main") -> dict[str, str]:
    return {path: blob.sha256 for path, blob in hub.files(KEY, revision).items()}


def _text(hub: Hub, path: str, revision: str = "main") -> str:
    return hub.files(KEY, revision)[path].data.decode()


def _state(hub: Hub) -> tuple[dict[str, str], dict[str, str], int]:
    """All tags and branches, and how many commits there are."""
    repo = hub.repos[KEY]
    return dict(repo.tags), dict(repo.branches), len(repo.commits)


def _line(folder: Path, revision: str, note: str) -> tuple[str | Path, ...]:
    """The command that publishes a folder as what replaces a revision."""
    return ("push", folder, "--repo", REPO, "--replaces", revision, "--note", note, "--yes")


def _victim(folder: Path) -> str:
    """A paper that is a row of its own, and a demonstration of others."""
    of_setting = rows(folder, "Intro-28K-G")
    own = {row["id"] for row in of_setting}
    shown = (text["id"] for row in of_setting for text in row["demonstrations"])
    return str(next(id_ for id_ in shown if id_ in own).rpartition("v")[0])


def _shown(hub: Hub, revision: str) -> set[str]:
    """The papers of which a revision's files have texts, or hashes of texts."""
    shown = set()
    for path, blob in hub.files(KEY, revision).items():
        for row in pq.read_table(io.BytesIO(blob.data)).to_pylist() if path.endswith(".parquet") else ():
            shown |= {text["id"].rpartition("v")[0] for text in (row, *row["demonstrations"])}
    return shown


@pytest.fixture
def beside(two_rounds: Rounds, tmp_path: Path) -> Rounds:
    """The folders of both rounds, in a place where a list of takedowns can lie beside them."""
    for folder, name in zip(two_rounds, ("first", "second"), strict=True):
        shutil.copytree(folder, tmp_path / name)
    return tmp_path / "first", tmp_path / "second"


@pytest.mark.usefixtures("both")
def test_the_newest_is_replaced(command: Command, hub: Hub, beside: Rounds) -> None:
    # The round as it was built again, without the setting that was wrong.
    manifest = read_manifest(beside[1])
    kept = tuple(one for one in manifest.configurations if one.name == "Abs-9K")
    shutil.rmtree(beside[1] / "Intro-28K-G")
    folders.finish(beside[1], replace(manifest, configurations=kept, core=()))
    old, before = dict(hub.repos[KEY].tags), _state(hub)
    line = _line(beside[1], "2026.12", "introductions | of others")
    code, out, err = command(*line[:-1])
    assert (code, "nothing was uploaded" in out, _state(hub)) == (0, True, before), err
    code, out, err = command(*line)
    assert (code, err) == (0, "")
    assert "verified: org/academiceval at 2026.12.post1" in out
    repo = hub.repos[KEY]
    assert {name: repo.tags[name] for name in old} == old
    assert repo.branches == {"main": repo.tags["2026.12.post1"]}
    # Readers get the new folder under its own name, and nothing else of the old one.
    there = parse_manifest(hub.files(KEY)["manifest.json"].data, "main")
    files = {path: file.sha256 for path, file in there.files.items()}
    assert (there.round, there.published_as) == ("2026.12", "2026.12.post1")
    assert {path: hash_ for path, hash_ in _hashes(hub).items() if path.endswith(".parquet")} == files
    [entry] = parse_errata(_text(hub, "errata.jsonl").encode())
    assert (entry.revision, entry.replacement, entry.reason) == ("2026.12", "2026.12.post1", line[-2])
    assert "| 2026.12 | 2026.12.post1 |" in _text(hub, "README.md")
    # Once more, nothing changes; with another note it was replaced already; what replaces it can be replaced too.
    state = _state(hub)
    assert command(*line)[0] == 0
    code, _, err = command(*_line(beside[1], "2026.12", "more"))
    assert (code, "2026.12 was already replaced by 2026.12.post1" in err) == (1, True), err
    assert _state(hub) == state
    assert command(*_line(beside[1], "2026.12.post1", "more"))[0] == 0
    assert set(hub.repos[KEY].tags) == {*old, "2026.12.post1", "2026.12.post2"}
    assert [one.replacement for one in parse_errata(_text(hub, "errata.jsonl").encode())] == [
        "2026.12.post1",
        "2026.12.post2",
    ]


@pytest.mark.usefixtures("both")
def test_an_older_one_is_replaced_and_main_says_so(command: Command, hub: Hub, two_rounds: Rounds) -> None:
    repo, old, data = hub.repos[KEY], dict(hub.repos[KEY].tags), _hashes(hub)
    line = _line(two_rounds[0], "2026.11", "wrong split")
    (plot := two_rounds[0].with_name("plot.svg")).write_text("<svg/>")
    code, out, err = command("push", two_rounds[0], "--repo", REPO, "--plot", plot)
    assert code == 0 and "revision 2026.11 already: 0 files to upload" in out and "is left out" in out, err
    code, _, err = command(*line)
    assert (code, err) == (0, "")
    assert {name: repo.tags[name] for name in old} == old
    assert list(repo.branches) == ["main"]
    # Main keeps its name and data, and names the replacement; the replacement has the older round's.
    changed = {path for path, hash_ in _hashes(hub).items() if data.get(path) != hash_}
    assert changed == {"README.md", "manifest.json", "errata.jsonl"}
    assert json.loads(_text(hub, "manifest.json"))["revision"] == "2026.12"
    assert "| 2026.11 | 2026.11.post1 |" in _text(hub, "README.md")
    older, newer = _hashes(hub, "2026.11"), _hashes(hub, "2026.11.post1")
    assert {path for path in older.keys() | newer.keys() if older.get(path) != newer.get(path)} == changed
    assert command("verify", REPO)[0] == 0
    state = _state(hub)
    assert command(*line)[0] == 0
    assert _state(hub) == state


@pytest.mark.usefixtures("first")
@pytest.mark.long
def test_the_errata_stay_with_the_rounds_to_come(command: Command, hub: Hub, two_rounds: Rounds) -> None:
    assert command(*_line(two_rounds[0], "2026.11", "wrong split"))[0] == 0
    assert command("push", two_rounds[1], "--repo", REPO, "--yes")[0] == 0
    assert "| 2026.11 | 2026.11.post1 |" in _text(hub, "README.md", "2026.12")
    assert "errata.jsonl" in hub.files(KEY, "2026.12")


@pytest.mark.usefixtures("both")
def test_papers_that_are_taken_down_go_and_do_not_come_back(
    command: Command, hub: Hub, beside: Rounds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = _victim(beside[1])
    assert victim in _shown(hub, "2026.12") & _shown(hub, "2026.11")
    by_hand = f'{{"id": "{victim}v2", "reason": "its authors ask"}}\n'
    (tmp_path / TAKEDOWNS).write_text(by_hand)
    line = _line(beside[1], "2026.12", "one paper goes")
    code, _, err = command(*line)
    assert (code, err) == (0, "")
    assert _shown(hub, "2026.12.post1") == _shown(hub, "2026.12") - {victim}
    [listed] = [json.loads(one) for one in _text(hub, TAKEDOWNS).splitlines()]
    assert (listed["id"], listed["reason"], listed["revision"]) == (victim, "its authors ask", "2026.12.post1")
    [entry] = parse_errata(_text(hub, "errata.jsonl").encode())
    assert entry.papers == (victim,)
    assert (tmp_path / TAKEDOWNS).read_text() == by_hand
    state = _state(hub)
    assert command(*line)[0] == 0
    assert _state(hub) == state
    # Another paper on the list is not taken for one that has gone.
    (tmp_path / TAKEDOWNS).write_text(by_hand + '{"id": "2401.99999"}\n')
    code, _, err = command(*line)
    assert (code, "does not leave out 2401.99999: replace 2026.12.post1" in err) == (1, True), err
    assert _state(hub) == state

    # Without the list beside it, the repository's own counts, for a round that is pushed and for an older one that is replaced.
    (tmp_path / TAKEDOWNS).unlink()
    for status, says in ((403, "the token may not do this"), (None, f"shows {victim}, which {REPO} has taken down")):
        hub.fault = lambda number, method, path, status=status: (  # type: ignore[misc]
            Fault(status) if status and method == "HEAD" and path.endswith(TAKEDOWNS) else None
        )
        code, _, err = command("push", beside[1], "--repo", REPO, "--yes")
        assert (code, says in err) == (1, True), err
    code, _, err = command(*_line(beside[0], "2026.11", "wrong split"))
    assert (code, err) == (0, "")
    assert victim not in _shown(hub, "2026.11.post1")
    for revision in ("main", "2026.11.post1"):
        assert victim in _text(hub, TAKEDOWNS, revision)
    # Once more, by another release and with a plot: main still says both, and is what its manifest says.
    (plot := tmp_path / "plot.svg").write_text("<svg/>")
    monkeypatch.setattr("hub_scripts.hub.staging.eval_yaml", lambda manifest: "name: of another release\n")
    assert command(*line, "--plot", plot)[0] == 0
    there = parse_manifest(hub.files(KEY)["manifest.json"].data, "main")
    assert (there.published_as, len(_text(hub, "errata.jsonl").splitlines())) == ("2026.12.post1", 2)
    assert "results.svg" in there.other_files and there.other_files.items() <= _hashes(hub).items()


@pytest.mark.usefixtures("first")
def test_what_is_not_ours_stays(command: Command, hub: Hub, two_rounds: Rounds) -> None:
    from huggingface_hub import HfApi

    HfApi().upload_file(path_or_fileobj=b"mine", path_in_repo="LICENSE", repo_id=REPO, repo_type="dataset")
    for line in (("push", two_rounds[1], "--repo", REPO, "--yes"), _line(two_rounds[1], "2026.12", "wrong split")):
        code, out, err = command(*line)
        assert (code, "1 files there are not of a round and stay: LICENSE" in out) == (0, True), err
        assert _text(hub, "LICENSE") == "mine"


@pytest.mark.usefixtures("first")
@pytest.mark.parametrize(
    ("number", "revision", "note", "says"),
    [
        (0, "2024.01", "x", f"{REPO} has no revision 2024.01; there are 2026.11"),
        (0, "2026.11", " ", "--replaces needs --note TEXT"),
        (0, "2026.11", "\udcff", "--replaces needs --note TEXT"),
        (1, "2026.11", "x", "is round 2026.12, which cannot replace 2026.11"),
    ],
)
def test_what_cannot_replace(
    number: int, revision: str, note: str, says: str, command: Command, hub: Hub, two_rounds: Rounds
) -> None:
    before = _state(hub)
    code, _, err = command(*_line(two_rounds[number], revision, note))
    assert (code, says in err, err.count("\n")) == (1, True, 1), err
    assert _state(hub) == before


def test_what_was_never_published_cannot_be_replaced(command: Command, hub: Hub, two_rounds: Rounds) -> None:
    code, _, err = command(*_line(two_rounds[0], "2026.11", "x"))
    assert (code, "has no revision 2026.11; there are no tags" in err) == (1, True), err
    assert not hub.repos


@pytest.mark.parametrize(
    "line", ['{"revision": ["a"]}', "[1]", "5", '{"revision": 1, "replacement": null, "date": "", "reason": ""}']
)
def test_errata_that_are_none(line: str) -> None:
    with pytest.raises(FolderError, match=r"errata\.jsonl cannot be read"):
        parse_errata(line.encode())


def test_errata_are_on_the_card(two_rounds: Rounds) -> None:
    manifest = replace(read_manifest(two_rounds[0]), changes={"2026.11": "new field"})
    one = Erratum("2026.11", "2026.11.post1", "2026-11-20", "wrong\nsplit | here", ("2401.00001",))
    text = card(manifest, "org/x", "2026.11.post1", [one])
    assert "| 2026.11 | 2026.11.post1 | 2026-11-20 | wrong split \\| here (taken down: 2401.00001) |" in text
    assert (
        text.index("| 2026.11.post1 | replaces 2026.11")
        < text.index("| 2026.11 | new field |")
        < text.index("## Errata")
    )
    assert text.index("## Errata") < text.index("## How to cite")
    assert "## Errata" not in card(manifest)


def test_a_note_is_about_a_revision(dataset: Path, command: Command) -> None:
    code, _, errors = command("push", dataset, "--repo", "org/academiceval", "--note", "wrong")
    assert (code, "--replaces" in errors) == (1, True)


@pytest.mark.parametrize("is_link", [False, True])
def test_a_paper_that_is_listed_beside_a_round_is_not_pushed(
    is_link: bool, command: Command, hub: Hub, beside: Rounds, tmp_path: Path
) -> None:
    folder, victim = beside[0], _victim(beside[0])
    place = tmp_path
    if is_link:
        place = tmp_path / "links"
        place.mkdir()
        folder = place / "academiceval"
        folder.symlink_to(beside[0])
    (place / TAKEDOWNS).write_text(json.dumps({"id": victim}) + "\n")
    code, _, err = command("push", folder, "--repo", REPO, "--yes")
    assert (code, f"shows {victim}, which the takedowns.jsonl next to it lists" in err) == (1, True), err
    assert not hub.repos
