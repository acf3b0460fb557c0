"""What is staged -> one commit and one tag, each made only if it does not exist."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hub_scripts.errors import ConflictError
from hub_scripts.hub.file_hashes import gone
from hub_scripts.hub.repo import MAIN, Change, Repo
from hub_scripts.hub.staging import Staged, newest

if TYPE_CHECKING:
    from builder.dataset.manifest import Manifest


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
    """The files of the round that a commit has and the staged revision lacks; whatever else is there is not ours.

    Args:
        there: the paths in the commit.
        last: its manifest, if it is a round.
    """
    ours = {*last.files, *last.other_files} if last else set()
    return [path for path in gone(there, staged.files) if path in ours]
