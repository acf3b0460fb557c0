"""A dataset folder as it will be in its repository: the data unchanged, the card and the lists next to it as of now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from builder.dataset.card import CARD, Publication, card
from builder.dataset.manifest import (
    MANIFEST,
    Manifest,
    manifest_bytes,
    parse_manifest,
    place_of,
    read_manifest,
)
from builder.round.takedowns import ERRATA, TAKEDOWNS, Erratum, Takedown, json_lines, parse_errata, parse_takedowns
from hub_scripts.hub.benchmark import EVAL, eval_yaml
from hub_scripts.hub.file_hashes import Content
from lm_eval_tasks.base.files import sha256_of, sha256_of_bytes

if TYPE_CHECKING:
    from hub_scripts.hub.repo import Repo


@dataclass(frozen=True, slots=True)
class Notices:
    """The lists that a repository carries along from revision to revision."""

    errata: Sequence[Erratum] = ()
    takedowns: Sequence[Takedown] = ()

    @property
    def taken_down(self) -> frozenset[str]:
        return frozenset(takedown.id for takedown in self.takedowns)


@dataclass(frozen=True, slots=True)
class Staged:
    """What a revision contains, or how it differs from the commit before.

    Attributes:
        base: the commit that it was made for.
        mark: a line by which its commit is known again.
        files: path -> content.
        replaces_all: whether files that are not named are removed.
    """

    revision: str
    base: str
    mark: str
    files: Mapping[str, Content]
    replaces_all: bool = True


def read_notices(repo: Repo, revision: str) -> Notices:
    """The lists at a revision."""
    takedowns = repo.read(TAKEDOWNS, revision) or b""
    return Notices(parse_errata(repo.read(ERRATA, revision)), parse_takedowns(takedowns, f"{TAKEDOWNS} of {repo.id}"))


def stage(folder: Path, repo: str, base: str, notices: Notices, mark: str = "", revision: str = "") -> Staged:
    """Put together what is to be uploaded; the data stays where it is.

    Args:
        mark: by default one that only this folder has.
        revision: by default the folder's own.
    """
    manifest = read_manifest(folder)
    manifest = replace(manifest, revision=revision or manifest.published_as)
    data: dict[str, Content] = {path: place_of(folder, path) for path in manifest.files}
    mark = mark or f"Folder: {sha256_of(folder / MANIFEST)}"
    return Staged(manifest.published_as, base, mark, data | files_beside(manifest, repo, notices))


def files_beside(manifest: Manifest, repo: str, notices: Notices) -> dict[str, Content]:
    """The files next to the data: card, lists, and the manifest that contains their hashes."""
    revision = manifest.published_as
    files = {CARD: card(manifest, Publication(repo, revision, notices.errata)).encode()}
    if benchmark := eval_yaml(manifest):
        files[EVAL] = benchmark.encode()
    if notices.errata:
        files[ERRATA] = json_lines(notices.errata)
    if notices.takedowns:
        files[TAKEDOWNS] = json_lines(notices.takedowns)
    hashes = {name: sha256_of_bytes(content) for name, content in files.items()}
    return {**files, MANIFEST: manifest_bytes(replace(manifest, revision=revision, other_files=hashes))}


def newest(repo: Repo, head: str) -> Manifest | None:
    """The manifest of what main contains; None if that is not one of our datasets.

    Raises:
        FolderError: it cannot be read.
    """
    data = repo.read(MANIFEST, head)
    return None if data is None else parse_manifest(data, f"the {MANIFEST} of {repo.id}")
