"""A dataset folder as it will be in its repository, its data unchanged and the card and lists of now; and its commit and tag, made once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from builder.dataset.card import CARD, card
from builder.dataset.manifest import MANIFEST, Manifest, manifest_bytes, parse_manifest, place_of, read_manifest
from builder.round.takedowns import ERRATA, TAKEDOWNS, Erratum, Takedown, json_lines, parse_errata, parse_takedowns
from hub_scripts.errors import ConflictError
from hub_scripts.hub.benchmark import EVAL, eval_yaml
from hub_scripts.hub.repo import MAIN, Change, Repo
from hub_scripts.hub.uploads import Content, gone
from lm_eval_tasks.base.files import sha256_of, sha256_of_bytes


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
    """Put together what is to be uploaded, with the data where it is; by default the folder's own revision, and a mark that only it has."""
    manifest = read_manifest(folder)
    manifest = replace(manifest, revision=revision or manifest.published_as)
    data: dict[str, Content] = {path: place_of(folder, path) for path in manifest.files}
    mark = mark or f"Folder: {sha256_of(folder / MANIFEST)}"
    return Staged(manifest.published_as, base, mark, data | files_beside(manifest, repo, notices))


def files_beside(manifest: Manifest, repo: str, notices: Notices) -> dict[str, Content]:
    """The files next to the data: card, lists, and the manifest that contains their hashes."""
    revision = manifest.published_as
    files = {CARD: card(manifest, repo, revision, notices.errata).encode()}
    if benchmark := eval_yaml(manifest):
        files[EVAL] = benchmark.encode()
    if notices.errata:
        files[ERRATA] = json_lines(notices.errata)
    if notices.takedowns:
        files[TAKEDOWNS] = json_lines(notices.takedowns)
    hashes = {name: sha256_of_bytes(content) for name, content in files.items()}
    return {**files, MANIFEST: manifest_bytes(replace(manifest, revision=revision, other_files=hashes))}


def newest(repo: Repo, head: str) -> Manifest | None:
    """The manifest of what main contains; None if that is not one of our datasets."""
    data = repo.read(MANIFEST, head)
    return None if data is None else parse_manifest(data, f"the {MANIFEST} of {repo.id}")


def publish(repo: Repo, staged: Staged, branch: str = MAIN) -> str:
    """Make the commit and the tag of a revision, as far as they do not exist, and return the commit's id.

    Args:
        branch: one that is not main starts at the base, and is removed once the tag exists.

    Raises:
        ConflictError: the revision is published with other contents, or the branch moved meanwhile.
    """
    refs = repo.existing_refs()
    commit = refs.tags.get(staged.revision)
    if commit is None:
        parent = staged.base if branch == MAIN else refs.branches.get(branch, staged.base)
        if branch not in refs.branches:
            repo.branch(branch, parent)
        commit = repo.find(staged.mark, branch) or repo.commit(_change(repo, staged, parent), branch, parent)
        repo.tag(staged.revision, commit)
    elif repo.find(staged.mark, staged.revision) != commit:
        raise ConflictError(
            f"{repo.id}: {staged.revision} is published with other contents and a published tag never moves; give the "
            f"round another name, or replace it with `academiceval push --replaces {staged.revision}`"
        )
    if branch != MAIN and branch in repo.existing_refs().branches:
        repo.delete_branch(branch)
    return commit


def _change(repo: Repo, staged: Staged, parent: str) -> Change:
    there = repo.files(parent) if staged.replaces_all else {}
    delete = obsolete_paths(there, staged, newest(repo, parent) if there else None)
    return Change(f"Revision {staged.revision}", staged.mark, staged.files, delete)


def obsolete_paths(there: Iterable[str], staged: Staged, last: Manifest | None) -> list[str]:
    """The files of the round `last` that a commit has and the staged revision lacks; whatever else is there is not ours."""
    ours = {*last.files, *last.other_files} if last else set()
    return [path for path in gone(there, staged.files) if path in ours]
