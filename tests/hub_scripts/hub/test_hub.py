"""push, verify and yank against a Hub on this machine, with the real client."""

from __future__ import annotations

import copy
import json
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pytest
from hub_scripts.hub.space import push_site
from huggingface_hub import HfFileSystem

from builder.dataset import folder as folders
from builder.dataset.card import Publication, card
from builder.dataset.errata import Erratum, parse_errata
from builder.dataset.importers.imported import finish_import
from builder.dataset.manifest import Configuration, parse_manifest, read_carried, read_manifest
from builder.dataset.write import ConfigurationWriter
from builder.errors import FolderError
from builder.round.audit import AuditTable
from hub_scripts.errors import DifferenceError, SecretError
from hub_scripts.hub.loading import load_counts
from tests.helpers.hub_server import Fault, Hub, hub_environment
from tests.helpers.places import BIN

pytestmark = pytest.mark.slow

REPO = "org/academiceval"
KEY = f"datasets/{REPO}"
Command = Callable[..., tuple[int, str, str]]


def _tree(hub: Hub, revision: str, key: str = KEY) -> dict[str, str]:
    return {path: blob.sha256 for path, blob in hub.repos[key].resolve(revision).tree.items()}


def _text(hub: Hub, path: str, revision: str = "main", key: str = KEY) -> str:
    return hub.repos[key].resolve(revision).tree[path].data.decode()


def _writes(hub: Hub) -> list[str]:
    return [path for method, path in hub.log if method in ("POST", "PUT", "DELETE") and "paths-info" not in path]


@pytest.fixture(scope="module")
def states() -> dict[int, Any]:
    """How many rounds were published -> what the Hub then holds."""
    return {}


def _begin(count: int, states: dict[int, Any], command: Command, hub: Hub, two_rounds: tuple[Path, Path]) -> None:
    """Publish the first rounds, or put what that came to into the Hub again."""
    if count not in states:
        for folder in two_rounds[:count]:
            assert command("push", folder, "--repo", REPO, "--yes")[0] == 0
        states[count] = hub.repos.copy(), hub.large.copy()
    repos, large = copy.deepcopy(states[count])
    hub.repos.update(repos)
    hub.large.update(large)


@pytest.fixture
def first(states: dict[int, Any], command: Command, hub: Hub, two_rounds: tuple[Path, Path]) -> None:
    """The Hub holds the first round."""
    _begin(1, states, command, hub, two_rounds)


@pytest.fixture
def both(states: dict[int, Any], command: Command, hub: Hub, two_rounds: tuple[Path, Path]) -> None:
    """The Hub holds both rounds."""
    _begin(2, states, command, hub, two_rounds)


def test_two_rounds_side_by_side(command: Command, hub: Hub, two_rounds: tuple[Path, Path], tmp_path: Path) -> None:
    code, out, _ = command("push", two_rounds[0], "--repo", REPO)
    assert code == 0
    assert "does not exist yet and would be created" in out
    assert "nothing was uploaded" in out
    assert not hub.repos
    assert not _writes(hub)

    for folder in two_rounds:
        code, out, err = command("push", folder, "--repo", REPO, "--yes")
        assert (code, err) == (0, ""), err
        assert "verified" in out

    repo = hub.repos[KEY]
    assert [one.title for one in repo.history("main")] == ["Revision 2026.12", "Revision 2026.11", "initial commit"]
    assert repo.branches == {"main": repo.tags["2026.12"]}
    for name in repo.tags:
        manifest = parse_manifest(_text(hub, "manifest.json", name).encode(), name)
        listed = {path: file.sha256 for path, file in manifest.files.items()} | manifest.other_files
        tree = _tree(hub, name)
        assert {path: tree[path] for path in listed} == listed
        assert tree.keys() - listed.keys() == {"manifest.json", ".gitattributes"}
        assert re.search(
            rf'^load_dataset\("{REPO}", "[\w-]+", revision="{name}"\)$', _text(hub, "README.md", name), re.MULTILINE
        )

    cache = str(tmp_path / "cache")
    loaded = {
        name: datasets.load_dataset(REPO, "Intro-28K-G-ids", revision=name, cache_dir=cache) for name in repo.tags
    }
    assert {name: set(one["train"]["round"]) for name, one in loaded.items()} == {n: {n} for n in repo.tags}


@pytest.mark.usefixtures("first")
def test_pushing_again_changes_nothing(command: Command, hub: Hub, two_rounds: tuple[Path, Path]) -> None:
    before = dict(hub.repos[KEY].tags), len(hub.repos[KEY].commits)
    code, out, _ = command("push", two_rounds[0], "--repo", REPO, "--yes")
    assert code == 0
    assert "0 files to upload" in out
    assert (dict(hub.repos[KEY].tags), len(hub.repos[KEY].commits)) == before


@pytest.mark.usefixtures("first")
def test_a_published_name_never_moves(command: Command, hub: Hub, two_rounds: tuple[Path, Path]) -> None:
    before = dict(hub.repos[KEY].tags)
    code, _, err = command("push", two_rounds[0], "--repo", REPO, "--licenses", "noncommercial", "--yes")
    assert code == 1
    assert "published with other contents" in err
    assert hub.repos[KEY].tags == before
    assert len(hub.repos[KEY].commits) == 2


@pytest.mark.long
def test_an_older_round_gets_its_tag_and_leaves_main(command: Command, hub: Hub, two_rounds: tuple[Path, Path]) -> None:
    for folder in reversed(two_rounds):
        assert command("push", folder, "--repo", REPO, "--yes")[0] == 0
    repo = hub.repos[KEY]
    assert set(repo.tags) == {"2026.11", "2026.12"}
    assert repo.branches == {"main": repo.tags["2026.12"]}


@pytest.mark.usefixtures("first")
def test_what_is_uploaded_may_be(command: Command, hub: Hub, two_rounds: tuple[Path, Path], tmp_path: Path) -> None:
    for path, blob in hub.repos[KEY].resolve("main").tree.items():
        if path.endswith(".parquet") and "-ids/" not in path:
            rows = pa.parquet.read_table(pa.BufferReader(blob.data)).to_pylist()
            shown = {text["license"] for row in rows for text in (row, *row["demonstrations"])}
            assert all("creativecommons.org" in one and "-nc" not in one and "-nd" not in one for one in shown)
    code, out, _ = command("push", two_rounds[1], "--repo", REPO, "--licenses", "all")
    assert code == 0
    assert "0 by id" in out
    wide = tmp_path / "wide"
    assert command("publishable", two_rounds[0], "-o", wide, "--licenses", "noncommercial")[0] == 0
    code, _, err = command("push", wide, "--repo", REPO)
    assert code == 1
    assert "was made with --licenses noncommercial" in err


def test_the_copys_place_may_be_taken(
    command: Command, two_rounds: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hub: Hub
) -> None:
    for name in ("round", "round-publishable"):
        shutil.copytree(two_rounds[0], tmp_path / name)
    monkeypatch.chdir(tmp_path / "round")
    code, _, err = command("push", ".", "--repo", REPO)
    assert (code, "is not a publishable copy; move it away" in err) == (1, True)
    shutil.rmtree(tmp_path / "round-publishable")
    assert command("push", ".", "--repo", REPO)[0] == 0
    assert (tmp_path / "round-publishable" / "manifest.json").is_file()
    assert not hub.repos


@pytest.mark.parametrize(
    ("token", "says"),
    [("hf_read", "can only read"), ("hf_other", "does not belong to org"), ("hf_wrong", "did not accept the token")],
)
def test_a_token_that_may_not_write_is_told_first(
    token: str, says: str, command: Command, hub: Hub, two_rounds: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", token)
    code, out, err = command("push", two_rounds[0], "--repo", REPO, "--yes")
    assert (code, out) == (1, "")
    assert says in err
    assert token not in err
    assert not _writes(hub)


def test_a_token_of_one_repository_is_enough_for_it(
    command: Command, hub: Hub, two_rounds: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_fine")
    assert command("push", two_rounds[0], "--repo", REPO, "--yes")[0] == 0
    code, _, err = command("push", two_rounds[0], "--repo", "org/other", "--yes")
    assert code == 1
    assert "grant it repo.write" in err


def _damaged(source: Path, place: Path, how: str) -> Path:
    shutil.copytree(source, place)
    data = sorted(place.rglob("*.parquet"))[0]
    if how == "flipped":
        content = bytearray(data.read_bytes())
        content[len(content) // 2] ^= 1
        data.write_bytes(content)
    elif how == "missing":
        data.unlink()
    elif how == "unlisted":
        (place / "notes.txt").write_text("mine")
    else:
        (place / "README.md").write_text("# mine")
    return place


@pytest.mark.parametrize("how", ["flipped", "missing", "unlisted", "card"])
def test_a_folder_that_was_changed_is_refused(
    how: str, command: Command, hub: Hub, two_rounds: tuple[Path, Path], tmp_path: Path
) -> None:
    place = _damaged(two_rounds[0], tmp_path / "changed", how)
    code, _, err = command("push", place, "--repo", REPO, "--yes")
    assert code == 1
    assert "is not what its manifest.json says" in err
    assert not hub.repos


def test_a_round_that_breaches_its_audit_is_refused(
    command: Command, hub: Hub, two_rounds: tuple[Path, Path], tmp_path: Path
) -> None:
    place = tmp_path / "strict"
    shutil.copytree(two_rounds[0], place)
    strict = AuditTable(length_outlier=0.0, long_run=0.0)
    manifest = read_manifest(place)
    folders.finish(place, replace(manifest, allowed=strict), read_carried(place, manifest))
    code, _, err = command("push", place, "--repo", REPO, "--yes")
    assert code == 1
    assert "the audit found" in err
    assert not hub.repos


def _flip(hub: Hub, path: str, revision: str) -> None:
    blob = hub.repos[KEY].resolve(revision).tree[path]
    blob.data = blob.data[:-9] + bytes([blob.data[-9] ^ 1]) + blob.data[-8:]


@pytest.mark.usefixtures("first")
@pytest.mark.parametrize("kind", [".parquet", "README.md"])
def test_verify_finds_one_flipped_byte(kind: str, command: Command, hub: Hub) -> None:
    path = next(path for path in hub.repos[KEY].resolve("main").tree if path.endswith(kind))
    _flip(hub, path, "2026.11")
    code, _, err = command("verify", REPO, "--revision", "2026.11")
    assert code == 1
    assert f"{path} has changed" in err


@pytest.mark.usefixtures("first")
def test_verify_lists_what_is_missing_and_what_is_too_much(command: Command, hub: Hub) -> None:
    tree = hub.repos[KEY].resolve("main").tree
    gone = sorted(path for path in tree if path.startswith("Abs-9K-ids/"))[0]
    tree["stray.txt"] = tree.pop(gone)
    code, _, err = command("verify", REPO, "--revision", "2026.11")
    assert code == 1
    assert f"{gone} is missing" in err
    # What somebody else put there is not a fault of the round.
    assert "stray.txt" not in err
    assert err.count("Abs-9K-ids") >= 2
    code, _, err = command("verify", REPO, "--revision", "2025.01")
    assert code == 1
    assert "has no revision 2025.01; there are 2026.11" in err
    code, _, err = command("verify", "org/nothing")
    assert code == 1
    assert "org/nothing does not exist" in err


@pytest.mark.parametrize(
    "content", [b"{", b"[]", b'{"format": 1}', b'{"format": 1, "round": "x", "files": {"../../etc/passwd": {}}}']
)
def test_a_manifest_that_is_none_of_ours(content: bytes, command: Command, hub: Hub) -> None:
    from huggingface_hub import HfApi

    HfApi().create_repo(REPO, repo_type="dataset")
    HfApi().upload_file(path_or_fileobj=content, path_in_repo="manifest.json", repo_id=REPO, repo_type="dataset")
    code, _, err = command("verify", REPO)
    assert (code, "manifest.json" in err) == (1, True)
    code, _, err = command("yank", REPO, "--yes", "--reason", "x")
    assert code == 1
    assert "manifest.json" in err


def _large(place: Path, megabytes: int) -> Path:
    """A dataset folder with a file that does not compress."""
    rng = random.Random(1)
    with folders.replacing(place) as building:
        writer = ConfigurationWriter(building, Configuration("Abs-9K", "abs", "full"))
        for i in range(megabytes):
            writer.add(
                "test",
                {
                    "id": f"2601.{i:05d}v1",
                    "title": f"Paper {i}",
                    "abstract": f"the of and to in is we {i}",
                    "authors": [f"A {i}", rng.randbytes(1 << 20).decode("latin-1")],
                    "primary_category": "cs.LG",
                    "categories": ["cs.LG"],
                    "published": "2026-10-01",
                    "updated": "2026-10-01",
                    "license": "http://creativecommons.org/licenses/by/4.0/",
                    "content": "the of and to in is we that for with " * 100,
                    "demonstrations": [],
                    "target": f"the of and to in is we {i}",
                    "input_tokens": 9,
                    "target_tokens": 9,
                    "round": "2026.10",
                },
            )
        finish_import(building, "2026.10", "made up", [writer.close()], [])
    return place


@pytest.mark.parametrize("without_xet", [True, False], ids=["LFS", "Xet"])
def test_large_files_both_ways(
    without_xet: bool, command: Command, hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", without_xet)
    place = _large(tmp_path / "large", 20)
    assert sum(file.bytes for file in read_manifest(place).files.values()) > 20e6
    code, out, err = command("push", place, "--repo", REPO, "--licenses", "all", "--yes")
    assert (code, err) == (0, ""), err
    assert "verified" in out
    assert any("xet-write-token" in path for _, path in hub.log) != without_xet
    assert len(hub.large) == 1


def test_a_hub_without_xet(
    command: Command, hub: Hub, two_rounds: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", False)
    hub.fault = lambda number, method, path: Fault(404) if "xet-write-token" in path else None
    code, out, err = command("push", two_rounds[0], "--repo", REPO, "--yes")
    assert (code, err) == (0, ""), err
    assert "verified" in out


@pytest.mark.long
def test_the_environment_alone_says_where_and_who(
    hub_server: Hub, two_rounds: tuple[Path, Path], tmp_path: Path
) -> None:
    hub_server.reset()
    env = hub_environment(hub_server.url, tmp_path / "home")
    push = [str(BIN / "academiceval"), "push", str(two_rounds[0]), "--repo", REPO, "--yes"]
    done = subprocess.run(push, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "verified" in done.stdout
    assert "hf_write" not in done.stdout + done.stderr


def test_a_machine_that_is_told_to_stay_offline(
    command: Command, hub: Hub, two_rounds: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    code, _, err = command("push", two_rounds[0], "--repo", REPO, "--yes")
    assert (code, "HF_HUB_OFFLINE is set" in err) == (1, True), err


@pytest.mark.usefixtures("both")
def test_yank_the_newest(command: Command, hub: Hub) -> None:
    repo, old = hub.repos[KEY], dict(hub.repos[KEY].tags)
    yank = ("yank", REPO, "--yes", "--revision", "2026.12", "--reason", "abstracts | leak")
    code, out, err = command(*yank)
    assert (code, err) == (0, ""), err
    assert "verified: org/academiceval at 2026.12.post1" in out
    assert {name: repo.tags[name] for name in old} == old
    assert repo.branches == {"main": repo.tags["2026.12.post1"]}
    before, after = _tree(hub, "2026.12"), _tree(hub, "2026.12.post1")
    assert {path for path in after if before.get(path) != after[path]} == {
        "README.md",
        "manifest.json",
        "errata.jsonl",
        "croissant.json",
        ".zenodo.json",
    }
    card = _text(hub, "README.md")
    assert "| 2026.12 | 2026.12.post1 |" in card
    assert "| 2026.12.post1 | replaces 2026.12: abstracts \\| leak |" in card
    assert len(re.findall(rf'load_dataset\("{REPO}", "[\w-]+", revision="2026.12.post1"\)', card)) == 1
    assert json.loads(_text(hub, "errata.jsonl"))["reason"] == "abstracts | leak"

    commits = len(repo.commits)
    assert command(*yank)[0] == 0
    assert len(repo.commits) == commits
    assert command("yank", REPO, "--yes", "--reason", "more")[0] == 0
    assert set(repo.tags) == {*old, "2026.12.post1", "2026.12.post2"}
    assert _text(hub, "README.md").count("## Errata") == 1


@pytest.mark.usefixtures("both")
def test_yank_an_older_one(command: Command, hub: Hub) -> None:
    repo, old = hub.repos[KEY], dict(hub.repos[KEY].tags)
    code, _, err = command("yank", REPO, "--yes", "--revision", "2026.11", "--reason", "wrong split")
    assert (code, err) == (0, ""), err
    assert {name: repo.tags[name] for name in old} == old
    assert list(repo.branches) == ["main"]
    assert json.loads(_text(hub, "manifest.json"))["revision"] == "2026.12"
    assert "| 2026.11 | 2026.11.post1 |" in _text(hub, "README.md")
    assert _tree(hub, "2026.11.post1").keys() - _tree(hub, "2026.11").keys() == {"errata.jsonl"}
    assert command("verify", REPO)[0] == 0
    code, _, err = command("yank", REPO, "--yes", "--revision", "2024.01", "--reason", "x")
    assert code == 1
    assert "has no revision 2024.01" in err


@pytest.mark.usefixtures("first")
@pytest.mark.long
def test_the_errata_stay_with_the_rounds_to_come(command: Command, hub: Hub, two_rounds: tuple[Path, Path]) -> None:
    assert command("yank", REPO, "--yes", "--reason", "wrong split")[0] == 0
    assert command("push", two_rounds[1], "--repo", REPO, "--yes")[0] == 0
    assert "| 2026.11 | 2026.11.post1 |" in _text(hub, "README.md")
    assert "errata.jsonl" in _tree(hub, "2026.12")


def test_take_a_paper_down(command: Command, hub: Hub, two_rounds: tuple[Path, Path], tmp_path: Path) -> None:
    assert command("push", two_rounds[0], "--repo", REPO, "--licenses", "all", "--yes")[0] == 0
    rows = datasets.load_dataset(str(two_rounds[0]), "Intro-28K-G", split="train", cache_dir=str(tmp_path / "a"))
    victim = rows[0]["demonstrations"][0]["id"].rpartition("v")[0]
    takedowns = tmp_path / "takedowns.jsonl"
    yank = ("yank", REPO, "--yes", "--reason", "asked for", "--paper", victim, "--takedowns", takedowns)
    code, out, err = command(*yank)
    assert (code, err) == (0, ""), err
    assert "taken_down" in out
    for name in ("Abs-9K", "Intro-28K-G"):
        loaded = datasets.load_dataset(REPO, name, revision="2026.11.post1", cache_dir=str(tmp_path / "b"))
        for row in (row for split in loaded.values() for row in split):
            assert victim not in {one["id"].rpartition("v")[0] for one in (row, *row["demonstrations"])}
    assert json.loads(takedowns.read_text())["id"] == victim == json.loads(_text(hub, "takedowns.jsonl"))["id"]
    commits = len(hub.repos[KEY].commits)
    assert command(*yank)[0] == 0
    assert len(hub.repos[KEY].commits) == commits

    for fault in (False, True):  # a Hub that does not say whether there is a list
        hub.fault = lambda number, method, path, fault=fault: (  # type: ignore[misc]
            Fault(403) if fault and method == "HEAD" and path.endswith("takedowns.jsonl") else None
        )
        code, _, err = command("push", two_rounds[1], "--repo", REPO, "--yes")
        assert code == 1
        assert ("the token may not do this" if fault else f"shows {victim}, which {REPO} has taken down") in err
    assert victim in _text(hub, "takedowns.jsonl")


def test_what_was_taken_down_does_not_come_back(
    command: Command, hub: Hub, two_rounds: tuple[Path, Path], tmp_path: Path
) -> None:
    for folder in two_rounds:
        assert command("push", folder, "--repo", REPO, "--licenses", "all", "--yes")[0] == 0
    rows = datasets.load_dataset(str(two_rounds[0]), "Abs-9K", split="train", cache_dir=str(tmp_path / "a"))
    victim = rows[0]["id"].rpartition("v")[0]
    lists = ("--takedowns", tmp_path / "takedowns.jsonl")
    assert command("yank", REPO, "--yes", "--reason", "asked for", "--paper", victim, *lists)[0] == 0
    code, _, err = command("yank", REPO, "--yes", "--revision", "2026.11", "--reason", "wrong split")
    assert (code, err) == (0, ""), err
    for name in ("Abs-9K", "Intro-28K-G"):
        loaded = datasets.load_dataset(REPO, name, revision="2026.11.post1", cache_dir=str(tmp_path / "b"))
        for row in (row for split in loaded.values() for row in split):
            assert victim not in {one["id"].rpartition("v")[0] for one in (row, *row["demonstrations"])}
    assert json.loads(_text(hub, "manifest.json"))["revision"] == "2026.12.post1"
    assert victim in _text(hub, "takedowns.jsonl", "2026.11.post1")
    code, _, err = command("yank", REPO, "--yes", "--revision", "2026.11", "--reason", "something else")
    assert code == 1
    assert "2026.11 was already replaced by 2026.11.post1" in err


@pytest.mark.usefixtures("both")
def test_a_takedown_needs_papers_that_are_shown_and_the_newest(command: Command, hub: Hub, tmp_path: Path) -> None:
    code, _, err = command("yank", REPO, "--yes", "--reason", "x", "--paper", "nonsense")
    assert (code, "'nonsense' is not the id of a paper" in err) == (1, True)
    lists = tmp_path / "list.jsonl"
    code, _, err = command(
        "yank", REPO, "--yes", "--revision", "2026.11", "--reason", "x", "--paper", "2401.00001", "--takedowns", lists
    )
    assert (code, "newest revision with texts, 2026.12, not from 2026.11" in err) == (1, True), err
    commits = len(hub.repos[KEY].commits)
    code, _, err = command("yank", REPO, "--yes", "--reason", "x", "--paper", "2401.00001", "--takedowns", lists)
    assert (code, "no row of 2026.12 shows 2401.00001" in err) == (1, True), err
    assert not lists.exists()
    assert len(hub.repos[KEY].commits) == commits


def test_what_is_not_ours_stays(command: Command, hub: Hub, two_rounds: tuple[Path, Path], tmp_path: Path) -> None:
    from huggingface_hub import HfApi

    assert command("push", two_rounds[0], "--repo", REPO, "--yes", "--licenses", "all")[0] == 0
    HfApi().upload_file(path_or_fileobj=b"mine", path_in_repo="LICENSE", repo_id=REPO, repo_type="dataset")
    code, out, err = command("push", two_rounds[1], "--repo", REPO)
    assert (code, "1 files there are not of a round and stay: LICENSE" in out) == (0, True), err
    rows = datasets.load_dataset(str(two_rounds[0]), "Abs-9K", split="train", cache_dir=str(tmp_path / "a"))
    victim = rows[0]["id"].rpartition("v")[0]
    lists = tmp_path / "takedowns.jsonl"
    lists.write_text('{"id": "2401.00001v2", "note": "by hand"}')
    lists.chmod(0o640)
    yank = ("yank", REPO, "--yes", "--reason", "asked for", "--paper", victim, "--takedowns", lists)
    code, out, err = command(*yank)
    assert (code, err) == (0, ""), err
    assert "1 files there are not of the round: LICENSE" in out
    assert _text(hub, "LICENSE") == "mine"
    first, second = lists.read_text().splitlines()
    assert first == '{"id": "2401.00001v2", "note": "by hand"}'
    assert json.loads(second)["id"] == victim
    assert lists.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    "line", ['{"revision": ["a"]}', "[1]", "5", '{"revision": 1, "replacement": null, "date": "", "reason": ""}']
)
def test_errata_that_are_none(line: str) -> None:
    with pytest.raises(FolderError, match=r"errata\.jsonl cannot be read"):
        parse_errata(line.encode())


def test_errata_are_on_the_card(two_rounds: tuple[Path, Path]) -> None:
    manifest = replace(read_manifest(two_rounds[0]), changes={"2026.11": "new field"})
    one = Erratum("2026.11", "2026.11.post1", "2026-11-20", "wrong\nsplit | here", ("2401.00001",))
    text = card(manifest, Publication("org/x", "2026.11.post1", [one]))
    assert "| 2026.11 | 2026.11.post1 | 2026-11-20 | wrong split \\| here (taken down: 2401.00001) |" in text
    assert (
        text.index("| 2026.11.post1 | replaces 2026.11")
        < text.index("| 2026.11 | new field |")
        < text.index("## Errata")
    )
    assert text.index("## Errata") < text.index("## How to cite")
    assert "## Errata" not in card(manifest)


SECRET = "hf_abcdefghijklmnopqrstuvwxyz"


@pytest.mark.long
def test_a_site_or_a_round_with_a_key_is_not_uploaded(
    command: Command, hub: Hub, dataset: Path, tmp_path: Path
) -> None:
    assert command("report", dataset, "-o", tmp_path / "site")[0] == 0
    (tmp_path / "site" / "rounds.html").write_text(f"see https://me:{SECRET}@example.org/")
    with pytest.raises(SecretError, match=r"rounds\.html contains a user and password in an address"):
        list(push_site(tmp_path / "site", "org/space", yes=True))
    shutil.copytree(dataset, tmp_path / "ds")
    manifest = read_manifest(dataset)
    changed = replace(manifest, changes={"2026.11": f"made with {SECRET}"})
    folders.finish(tmp_path / "ds", changed, read_carried(dataset, manifest))
    code, _, err = command("push", tmp_path / "ds", "--repo", REPO, "--yes")
    assert code == 1
    assert "contains a Hugging Face token" in err
    assert SECRET not in err
    assert not any("commit" in path for path in _writes(hub))


def test_a_revision_that_was_missing_a_moment_ago(
    command: Command, hub: Hub, two_rounds: tuple[Path, Path], tmp_path: Path
) -> None:
    """The client remembers by thread number what it did not find, and numbers are used again."""
    command("push", two_rounds[0], "--repo", REPO, "--yes")
    revision = hub.repos[KEY].tags["2026.11"]
    asked = f"/api/{KEY}/revision/{revision}"
    HfFileSystem.clear_instance_cache()
    hub.fault = lambda number, method, path: (
        Fault(404, headers=(("X-Error-Code", "RevisionNotFound"),)) if (method, path) == ("GET", asked) else None
    )
    with pytest.raises(DifferenceError):
        load_counts(REPO, "Abs-9K-ids", tmp_path / "cache", revision)
    hub.fault = lambda number, method, path: None
    assert load_counts(REPO, "Abs-9K-ids", tmp_path / "cache", revision)["test"]
