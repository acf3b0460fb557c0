"""What is looked at before a dataset folder goes to the Hub; nothing here asks the network."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from huggingface_hub import DatasetCard

from builder.dataset.audit import audit, check
from builder.dataset.folder import MANIFEST, OTHER_FILES, read_manifest
from builder.dataset.publishable import publishable
from builder.progress import progress
from builder.round.licenses import Licenses, allows
from builder.round.tables import AuditTable
from builder.round.takedowns import bare
from hub_scripts.errors import CheckError
from hub_scripts.hub.loading import Count, counts_of, load_counts
from hub_scripts.hub.repo import ATTRIBUTES
from lm_eval_tasks.files import sha256_of

CARD = "README.md"
_DATA_FILE = re.compile(r"[\w.-]+/(train|validation|test)-[0-9a-f]+-\d+-of-\d+\.parquet")


@dataclass(frozen=True, slots=True)
class Contents:
    """What the rows of a folder show.

    Attributes:
        papers: bare ids of the papers with texts, or hashes of texts, in it.
        licenses: licence -> rows with texts, by the paper's own licence.
        unlicensed: up to three rows of which a text lacks the licence.
    """

    papers: frozenset[str]
    licenses: dict[str, int]
    unlicensed: tuple[str, ...]


def publishable_copy(source: Path, licenses: Licenses) -> Path:
    """The folder to upload: the publishable copy beside a round, made anew where it is not of this very round.

    Raises:
        CheckError: the folder is such a copy with more than these licences allow, or the copy's place is taken.
    """
    manifest = read_manifest(source)
    if licenses == "all" or manifest.get("licenses") == licenses:
        return source
    if "original_files" in manifest:
        raise CheckError(f"{source} was made with --licenses {manifest['licenses']}, not {licenses}; push its round")
    copy = source.resolve().with_name(f"{source.resolve().name}-publishable")
    if (copy / MANIFEST).is_file():
        known = read_manifest(copy)
        if "original_files" not in known:
            raise CheckError(f"{copy} exists and is no publishable copy; move it away")
        if (
            {**manifest, **{name: known.get(name) for name in _COPY_OWN}} == known
            and known["licenses"] == licenses
            and known["original_files"] == manifest["files"]
        ):
            return copy
    publishable(source, copy, licenses)
    return copy


_COPY_OWN = ("files", "original_files", "licenses", "publishable", OTHER_FILES)


def sound_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a folder, which may come from anybody.

    Raises:
        CheckError: it does not list data files as ours do.
    """
    manifest = read_manifest(folder)
    files = manifest.get("files")
    if not isinstance(manifest.get("round"), str) or not isinstance(files, dict):
        raise CheckError(f"{folder / MANIFEST} names no round or no files; build the folder again")
    for path, facts in files.items():
        if not _DATA_FILE.fullmatch(path) or not {"sha256", "rows", "bytes"} <= set(facts):
            raise CheckError(
                f"{folder / MANIFEST} lists {path!r}, which is no data file of ours; build the folder again"
            )
    return manifest


def check_files(folder: Path) -> dict[str, Any]:
    """The manifest of a folder that holds what it says and nothing else.

    Raises:
        CheckError: a file is missing, changed or not listed.
    """
    manifest = sound_manifest(folder)
    wrong = list(file_differences(folder, manifest))
    if wrong:
        raise CheckError(f"{folder} is not what its {MANIFEST} says: {'; '.join(wrong[:5])}; build it again")
    return manifest


def file_differences(folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    """One sentence for each file that is missing, changed or not listed."""
    listed = {path: facts["sha256"] for path, facts in manifest["files"].items()} | manifest.get(OTHER_FILES, {})
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - {
        MANIFEST,
        ATTRIBUTES,
    }
    for path in progress(sorted(listed), "hashes"):
        if path not in there:
            yield f"{path} is missing"
        elif sha256_of(folder / path) != listed[path]:
            yield f"{path} has other bytes"
    for path in sorted(there - set(listed)):
        yield f"{path} is not listed"


def check_audit(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Audit the round again, from its files.

    Raises:
        builder.errors.AuditError: it has more of something than its round allows.
    """
    check(audit(folder, manifest["files"]), AuditTable.model_validate(manifest.get("config", {}).get("audit", {})))


def check_card(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Look whether the card's configurations name every data file.

    Raises:
        CheckError: the front matter cannot be read, or disagrees with the manifest.
    """
    try:
        data = DatasetCard.load(folder / CARD).data.to_dict()
        named = {path for one in data["configs"] for part in one["data_files"] for path in part["path"]}
    except (OSError, ValueError, KeyError, TypeError) as err:
        raise CheckError(
            f"{folder / CARD} has no front matter that can be read ({err}); build the folder again"
        ) from err
    if named != set(manifest["files"]):
        odd = sorted(named ^ set(manifest["files"]))
        raise CheckError(f"{folder / CARD} and {MANIFEST} disagree about {', '.join(odd[:3])}; build the folder again")


def check_loading(folder: Path, manifest: Mapping[str, Any]) -> dict[str, Count]:
    """Load every configuration as a user would, in a cache of its own; configuration -> split -> rows.

    Raises:
        CheckError: one cannot be loaded, or has another number of rows than the manifest says.
    """
    expected = counts_of(manifest["files"])
    with tempfile.TemporaryDirectory() as cache:
        for name in progress(sorted(expected), "load"):
            found = load_counts(str(folder.resolve()), name, Path(cache) / name)
            if found != expected[name]:
                raise CheckError(f"{folder}: load_dataset of {name} gives {found}, not {expected[name]}")
    return expected


def contents(folder: Path, manifest: Mapping[str, Any], licenses: Licenses) -> Contents:
    """Look at the ids and licences of every row."""
    papers: set[str] = set()
    counted: Counter[str] = Counter()
    unlicensed: list[str] = []
    for path in progress(sorted(manifest["files"]), "licences"):
        names = pq.read_schema(folder / path).names
        inner = "candidates" if "candidates" in names else "demonstrations"
        own = [name for name in ("id", "paper_id", "license") if name in names]
        shown = [f"{inner}.list.element.{name}" for name in ("id", "license")]
        for row in pq.ParquetFile(folder / path).read([*own, *shown]).to_pylist():
            papers.update(bare(name) for name in (row.get("paper_id", row["id"]), *(one["id"] for one in row[inner])))
            if "texts" in names:
                continue
            counted[row["license"]] += 1
            if not all(allows(one, licenses) for one in (row["license"], *(one["license"] for one in row[inner]))):
                unlicensed.append(f"{path.split('/')[0]} {row['id']}")
    return Contents(frozenset(papers), dict(sorted(counted.items())), tuple(unlicensed[:3]))


def check_contents(folder: Path, found: Contents, licenses: Licenses, taken_down: frozenset[str], repo: str) -> None:
    """Raise a CheckError where a text lacks the licence, or was taken down from the repository."""
    if found.unlicensed:
        raise CheckError(f"{folder}: {', '.join(found.unlicensed)} hold texts that {licenses} does not allow")
    if again := sorted(found.papers & taken_down):
        raise CheckError(
            f"{folder} shows {', '.join(again[:3])}, which {repo} has taken down; put its takedowns.jsonl beside "
            "round.toml and build the round again"
        )
