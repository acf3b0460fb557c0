"""A dataset folder as it will lie in its repository: the data as it is, the card and the lists beside it as of now."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builder.dataset.folder import MANIFEST, OTHER_FILES, manifest_bytes, read_manifest
from builder.round.takedowns import TAKEDOWNS, Takedown, parse_takedowns, takedown_lines
from hub_scripts.errors import HubError
from hub_scripts.hub.checks import CARD
from hub_scripts.hub.errata import ERRATA, Erratum, errata_lines, for_repository, parse_errata, with_errata
from hub_scripts.hub.repo import Content, Repo


@dataclass(frozen=True, slots=True)
class Notices:
    """The lists that a repository carries along from revision to revision."""

    errata: Sequence[Erratum] = ()
    takedowns: Sequence[Takedown] = ()

    @property
    def taken_down(self) -> frozenset[str]:
        return frozenset(one.id for one in self.takedowns)


@dataclass(frozen=True, slots=True)
class Staged:
    """What a revision holds, or what is other in it than in the commit before.

    Attributes:
        base: the commit that it was put together for.
        mark: a line by which its commit is known again.
        files: path -> content.
        whole: whether files that are not named go.
    """

    revision: str
    base: str
    mark: str
    files: Mapping[str, Content]
    whole: bool = True


def read_notices(repo: Repo, revision: str) -> Notices:
    """The lists at a revision."""
    taken = (repo.read(TAKEDOWNS, revision) or b"").decode()
    return Notices(parse_errata(repo.read(ERRATA, revision)), parse_takedowns(taken, f"{TAKEDOWNS} of {repo.id}"))


def revision_of(manifest: Mapping[str, Any]) -> str:
    """The name under which a folder is published."""
    return str(manifest.get("revision", manifest["round"]))


def stage(folder: Path, repo: str, base: str, notices: Notices, mark: str = "") -> Staged:
    """Put together what is to be uploaded; the data stays where it is.

    Args:
        mark: by default one that only this folder has.
    """
    manifest = read_manifest(folder)
    data: dict[str, Content] = {path: folder / path for path in manifest["files"]}
    card = (folder / CARD).read_text(encoding="utf-8")
    mark = mark or f"Folder: {hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest()}"
    return Staged(revision_of(manifest), base, mark, data | beside(card, manifest, repo, notices))


def beside(card: str, manifest: Mapping[str, Any], repo: str, notices: Notices) -> dict[str, Content]:
    """The files beside the data: card, lists, and the manifest that holds their hashes."""
    revision = revision_of(manifest)
    files = {CARD: with_errata(for_repository(card, repo, revision), notices.errata).encode()}
    if notices.errata:
        files[ERRATA] = errata_lines(notices.errata)
    if notices.takedowns:
        files[TAKEDOWNS] = takedown_lines(notices.takedowns).encode()
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    return {**files, MANIFEST: manifest_bytes({**manifest, "revision": revision, OTHER_FILES: hashes})}


def newest(repo: Repo, head: str) -> dict[str, Any] | None:
    """The manifest of what main holds; None where it holds no dataset of ours.

    Raises:
        HubError: it cannot be read.
    """
    data = repo.read(MANIFEST, head)
    if data is None:
        return None
    try:
        manifest = json.loads(data)
    except ValueError:
        manifest = None
    if not isinstance(manifest, dict) or not isinstance(manifest.get("files"), dict) or "round" not in manifest:
        raise HubError(f"the {MANIFEST} of {repo.id} is none of ours; repair it first")
    return manifest
