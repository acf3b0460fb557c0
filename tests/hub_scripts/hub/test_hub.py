"""push and verify against a Hub on this machine, with the real client."""

from __future__ import annotations

import random
import re
import shutil
from dataclasses import replace
from pathlib import Path

import datasets
import pyarrow as pa
import pytest
from huggingface_hub import HfFileSystem

from builder.dataset import folder as folders
from builder.dataset.folder import finish_import
from builder.dataset.publishable import publishable
from builder.families.writer import ConfigurationWriter
from builder.round.allowed import AuditTable
from hub_scripts.errors import DifferenceError
from hub_scripts.hub.checks import load_counts
from lm_eval_tasks.base.manifest import ListedConfiguration
from lm_eval_tasks.families.rounds import parse_manifest, read_manifest
from standins.hub_server import Fault, Hub
from tests.helpers.served import Command

pytestmark = pytest.mark.slow

REPO = "org/academiceval"
KEY = f"datasets/{REPO}"


def _writes(hub: Hub) -> list[str]:
    return [path for method, path in hub.log if method in ("POST", "PUT", "DELETE") and "paths-info" not in path]


@pytest.mark.usefixtures("both")
def test_two_rounds_side_by_side(hub: Hub, tmp_path: Path) -> None:
    repo = hub.repos[KEY]
    assert [one.title for one in repo.history("main")] == ["Revision 2026.12", "Revision 2026.11", "initial commit"]
    assert repo.branches == {"main": repo.tags["2026.12"]}
    for name in repo.tags:
        manifest = parse_manifest(hub.files(KEY, name)["manifest.json"].data, name)
        listed = {path: file.sha256 for path, file in manifest.files.items()} | manifest.other_files
        tree = {path: blob.sha256 for path, blob in hub.files(KEY, name).items()}
        assert {path: tree[path] for path in listed} == listed
        assert tree.keys() - listed.keys() == {"manifest.json", ".gitattributes"}
        assert re.search(
            rf'^load_dataset\("{REPO}", "[\w-]+", revision="{name}"\)$',
            hub.files(KEY, name)["README.md"].data.decode(),
            re.MULTILINE,
        )
        cache = str(tmp_path / "cache")
        loaded = datasets.load_dataset(REPO, "Intro-28K-G-ids", revision=name, cache_dir=cache)
        assert set(loaded["train"]["round"]) == {name}
    assert set(repo.tags) == {"2026.11", "2026.12"}


@pytest.mark.usefixtures("first")
def test_a_published_name_never_moves(command: Command, hub: Hub, two_rounds: tuple[Path, Path]) -> None:
    before = dict(hub.repos[KEY].tags), len(hub.repos[KEY].commits)
    line = ("push", two_rounds[0], "--repo", REPO, "--yes")
    code, out, _ = command(*line)
    assert (code, "0 files to upload" in out) == (0, True)
    code, _, err = command(*line, "--licenses", "noncommercial")
    assert (code, "published with other contents" in err) == (1, True)
    assert "published with other contents" in command(*line[:-1], "--licenses", "noncommercial")[2]
    assert (dict(hub.repos[KEY].tags), len(hub.repos[KEY].commits)) == before


@pytest.mark.long
def test_an_older_round_gets_its_tag_and_leaves_main(command: Command, hub: Hub, two_rounds: tuple[Path, Path]) -> None:
    for folder in reversed(two_rounds):
        assert command("push", folder, "--repo", REPO, "--yes")[0] == 0
    repo = hub.repos[KEY]
    assert set(repo.tags) == {"2026.11", "2026.12"}
    assert repo.branches == {"main": repo.tags["2026.12"]}


@pytest.mark.usefixtures("first")
def test_what_is_uploaded_may_be(command: Command, hub: Hub, two_rounds: tuple[Path, Path], tmp_path: Path) -> None:
    for path, blob in hub.files(KEY).items():
        if path.endswith(".parquet") and "-ids/" not in path:
            rows = pa.parquet.read_table(pa.BufferReader(blob.data)).to_pylist()
            shown = {text["license"] for row in rows for text in (row, *row["demonstrations"])}
            assert all("creativecommons.org" in one and "-nc" not in one and "-nd" not in one for one in shown)
    code, out, _ = command("push", two_rounds[1], "--repo", REPO, "--licenses", "all")
    assert code == 0
    assert "0 by id" in out
    wide = tmp_path / "wide"
    publishable(two_rounds[0], wide, "noncommercial")
    code, _, err = command("push", wide, "--repo", REPO)
    assert code == 1
    assert "was made with --licenses noncommercial" in err


@pytest.mark.usefixtures("first")
def test_the_card_shows_results(command: Command, hub: Hub, two_rounds: tuple[Path, Path], tmp_path: Path) -> None:
    """On main as soon as there are some, while the tag stays; a round that is pushed later shows its own alone."""
    plot, line = tmp_path / "kept.svg", ("push", two_rounds[0], "--repo", REPO, "--yes", "--plot")
    plot.write_text("no picture")
    code, _, err = command(*line, plot)
    assert (code, "is no SVG picture" in err) == (1, True)
    plot.write_text("<svg/>")
    hub.files(KEY)["results.svg"] = hub.files(KEY)["README.md"]
    assert "files of its own that the round would overwrite: results.svg" in command(*line, plot)[2]
    del hub.files(KEY)["results.svg"]
    tags, commits = dict(hub.repos[KEY].tags), []
    for _ in range(2):
        code, _, err = command(*line, plot)
        assert code == 0, err
        files = {path: blob.data.decode() for path, blob in hub.files(KEY).items() if path.endswith((".svg", ".md"))}
        assert files["results.svg"] == "<svg/>"
        assert "](results.svg)" in files["README.md"]
        assert dict(hub.repos[KEY].tags) == tags
        commits.append(len(hub.repos[KEY].commits))
    assert commits[0] == commits[1]
    code, _, err = command("verify", REPO)
    assert code == 0, err
    # Who moves what lies there to another repository moves the plot, too.
    for path, blob in hub.files(KEY).items():
        (tmp_path / "moved" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "moved" / path).write_bytes(blob.data)
    code, _, err = command("push", tmp_path / "moved", "--repo", "org/moved", "--licenses", "all", "--yes")
    assert code == 0, err
    assert command("push", two_rounds[1], "--repo", REPO, "--yes")[0] == 0
    assert "results.svg" not in hub.files(KEY)


def test_the_copys_place_may_be_taken(
    command: Command, two_rounds: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hub: Hub
) -> None:
    for name in ("round", "round-publishable"):
        shutil.copytree(two_rounds[0], tmp_path / name)
    monkeypatch.chdir(tmp_path / "round")
    code, _, err = command("push", ".", "--repo", REPO)
    assert (code, "is not a publishable copy; move it away" in err) == (1, True)
    shutil.rmtree(tmp_path / "round-publishable")
    code, out, _ = command("push", ".", "--repo", REPO)
    assert code == 0
    assert "does not exist yet and would be created" in out
    assert "nothing was uploaded" in out
    assert (tmp_path / "round-publishable" / "manifest.json").is_file()
    assert not hub.repos
    assert not _writes(hub)


@pytest.mark.parametrize(
    ("token", "repo", "says"),
    [
        ("hf_read", REPO, "can only read"),
        ("hf_other", REPO, "does not belong to org"),
        ("hf_wrong", REPO, "did not accept the token"),
        ("hf_fine", "org/other", "grant it repo.write"),
    ],
)
def test_a_token_that_may_not_write_is_told_first(
    token: str,
    repo: str,
    says: str,
    command: Command,
    hub: Hub,
    two_rounds: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HF_TOKEN", token)
    code, out, err = command("push", two_rounds[0], "--repo", repo, "--yes")
    assert (code, out) == (1, "")
    assert says in err
    assert token not in err
    assert not _writes(hub)


@pytest.mark.parametrize("how", ["flipped", "missing", "unlisted", "card"])
def test_a_folder_that_was_changed_is_refused(
    how: str, command: Command, hub: Hub, two_rounds: tuple[Path, Path], tmp_path: Path
) -> None:
    place = shutil.copytree(two_rounds[0], tmp_path / "changed")
    data = sorted(place.rglob("*.parquet"))[0]
    if how == "flipped":
        content = bytearray(data.read_bytes())
        content[len(content) // 2] ^= 1
        data.write_bytes(content)
    elif how == "missing":
        data.unlink()
    else:
        (place / {"unlisted": "notes.txt", "card": "README.md"}[how]).write_text("mine")
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
    folders.finish(place, replace(manifest, allowed=strict.model_dump(mode="json")))
    code, _, err = command("push", place, "--repo", REPO, "--yes")
    assert code == 1
    assert "the audit found" in err
    assert not hub.repos


@pytest.mark.usefixtures("first")
def test_verify_lists_what_has_changed_is_missing_and_is_too_much(command: Command, hub: Hub) -> None:
    tree = hub.files(KEY)
    changed = [next(path for path in tree if path.endswith(kind)) for kind in (".parquet", "README.md")]
    for path in changed:
        data = bytearray(tree[path].data)
        data[-9] ^= 1
        tree[path].data = bytes(data)
    gone = sorted(path for path in tree.keys() - {*changed} if path.startswith("Abs-9K-ids/"))[0]
    tree["stray.txt"] = tree.pop(gone)
    code, _, err = command("verify", REPO, "--revision", "2026.11")
    assert code == 1
    assert all(f"{path} has changed" in err for path in changed)
    assert f"{gone} is missing" in err
    # What somebody else put there is not a fault of the round.
    assert "stray.txt" not in err
    assert "load_dataset of Abs-9K-ids" in err
    code, _, err = command("verify", REPO, "--revision", "2025.01")
    assert code == 1
    assert "has no revision 2025.01; there are 2026.11" in err
    code, _, err = command("verify", "org/nothing")
    assert code == 1
    assert "org/nothing does not exist" in err


@pytest.mark.parametrize(
    "content", [b"{", b"[]", b'{"format": 1}', b'{"format": 1, "round": "x", "files": {"../../etc/passwd": {}}}']
)
def test_a_manifest_that_is_none_of_ours(
    content: bytes, command: Command, hub: Hub, two_rounds: tuple[Path, Path]
) -> None:
    from huggingface_hub import HfApi

    HfApi().create_repo(REPO, repo_type="dataset")
    HfApi().upload_file(path_or_fileobj=content, path_in_repo="manifest.json", repo_id=REPO, repo_type="dataset")
    for line in (("verify", REPO), ("push", two_rounds[0], "--repo", REPO, "--yes")):
        code, _, err = command(*line)
        assert (code, "manifest.json" in err) == (1, True), err
    assert hub.files(KEY).keys() == {".gitattributes", "manifest.json"}


@pytest.fixture(scope="module")
def large(two_rounds: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset folder with a file of 20 MB that does not compress."""
    place, rng = tmp_path_factory.mktemp("large") / "large", random.Random(1)
    row = pa.parquet.read_table(next((two_rounds[0] / "Abs-9K").glob("*.parquet"))).to_pylist()[0]
    authors = [rng.randbytes(1 << 20).decode("latin-1") for _ in range(20)]
    with folders.replacing(place) as building:
        writer = ConfigurationWriter(building, ListedConfiguration("Abs-9K", "abs", "full"))
        writer.add("test", {**row, "authors": authors, "demonstrations": [], "round": "2026.10"})
        finish_import(building, "2026.10", "made up", [writer.close()], [])
    assert sum(file.bytes for file in read_manifest(place).files.values()) > 20e6
    return place


@pytest.mark.parametrize(
    ("without_xet", "answer"),
    [(True, None), (False, None), (False, Fault(404))],
    ids=["LFS", "Xet", "a Hub without Xet"],
)
def test_large_files_both_ways(
    without_xet: bool, answer: Fault | None, command: Command, hub: Hub, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", without_xet)
    hub.fault = lambda number, method, path: answer if "xet-write-token" in path else None
    code, out, err = command("push", large, "--repo", REPO, "--licenses", "all", "--yes")
    assert (code, err) == (0, ""), err
    assert "verified" in out
    assert any("xet-write-token" in path for _, path in hub.log) != without_xet
    assert len(hub.large) == 1


def test_a_machine_that_is_told_to_stay_offline(
    command: Command, hub: Hub, two_rounds: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    code, _, err = command("push", two_rounds[0], "--repo", REPO, "--yes")
    assert (code, "HF_HUB_OFFLINE is set" in err) == (1, True), err
    code, out, err = command("push", two_rounds[0], "--repo", REPO)
    assert (code, "it is not known what is there already" in out) == (0, True), err
    assert "checked: hashes" in out


def test_a_dry_run_asks_a_hub_that_is_away_once(
    command: Command, hub: Hub, two_rounds: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)
    hub.fault = lambda number, method, path: Fault(503)
    code, out, err = command("push", two_rounds[0], "--repo", REPO)
    assert (code, "it is not known what is there already" in out) == (0, True), err
    assert not waits
    assert command("push", two_rounds[0], "--repo", REPO, "--yes")[0] == 1
    assert len(waits) > 3


SECRET = "hf_abcdefghijklmnopqrstuvwxyz"


@pytest.mark.long
def test_a_round_with_a_key_is_not_uploaded(command: Command, hub: Hub, dataset: Path, tmp_path: Path) -> None:
    shutil.copytree(dataset, tmp_path / "ds")
    manifest = read_manifest(dataset)
    changed = replace(manifest, changes={"2026.11": f"made with {SECRET}"})
    folders.finish(tmp_path / "ds", changed)
    code, _, err = command("push", tmp_path / "ds", "--repo", REPO, "--yes")
    assert code == 1
    assert "contains a Hugging Face token" in err
    assert SECRET not in err
    assert not any("commit" in path for path in _writes(hub))


@pytest.mark.usefixtures("first")
def test_a_revision_that_was_missing_a_moment_ago(hub: Hub, tmp_path: Path) -> None:
    """The client remembers by thread number what it did not find, and numbers are used again."""
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
