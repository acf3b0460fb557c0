"""A dataset folder as it will be in its repository, its data unchanged and the card and lists of now; and its commit and tag, made once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from builder.dataset.card import CARD, PLOT, card
from builder.round.takedowns import ERRATA, TAKEDOWNS, Erratum, json_lines
from hub_scripts.errors import HubError
from hub_scripts.hub.benchmark import EVAL, eval_yaml
from hub_scripts.hub.notices import Notices
from hub_scripts.hub.repo import MAIN, Change, Refs, Repo
from hub_scripts.hub.uploads import Content, digest, gone, unchanged_paths
from lm_eval_tasks.base.contract import MANIFEST
from lm_eval_tasks.base.files import sha256_of, sha256_of_bytes
from lm_eval_tasks.base.manifest import Manifest, place_of
from lm_eval_tasks.base.manifest_file import manifest_bytes
from lm_eval_tasks.families.rounds import parse_manifest, read_manifest


@dataclass(frozen=True, slots=True)
class Staged:
    """What a revision contains, or how it differs from the commit before.

    Attributes:
        base: the commit that it was made for.
        mark: a line by which its commit is known again.
        files: path -> content.
    """

    revision: str
    base: str
    mark: str
    files: Mapping[str, Content]


def stage(folder: Path, repo: str, base: str, notices: Notices, *, mark: str = "", revision: str = "") -> Staged:
    """Put together what is to be uploaded, with the data where it is; by default the folder's own revision, and a mark that only it has."""
    manifest = read_manifest(folder)
    manifest = replace(manifest, revision=revision or manifest.published_as)
    kept = [PLOT] if PLOT in manifest.other_files and not notices.plot else []
    data: dict[str, Content] = {path: place_of(folder, path) for path in [*manifest.files, *kept]}
    mark = mark or f"Folder: {sha256_of(folder / MANIFEST)}"
    return Staged(manifest.published_as, base, mark, data | files_beside(manifest, repo, notices))


def files_beside(manifest: Manifest, repo: str, notices: Notices) -> dict[str, Content]:
    """Return the files next to the data: card, lists, a new plot, and the manifest with their hashes and that of an older plot."""
    revision = manifest.published_as
    plots = {PLOT: notices.plot} if notices.plot else {}
    listed = {name: known for name, known in manifest.other_files.items() if name == PLOT}
    listed |= {name: sha256_of_bytes(content) for name, content in plots.items()}
    files = {**plots, CARD: card(replace(manifest, other_files=listed), repo, revision, notices.errata).encode()}
    if benchmark := eval_yaml(manifest):
        files[EVAL] = benchmark.encode()
    if notices.errata:
        files[ERRATA] = json_lines(notices.errata)
    if notices.takedowns:
        files[TAKEDOWNS] = json_lines(notices.takedowns)
    hashes = listed | {name: sha256_of_bytes(content) for name, content in files.items()}
    return {**files, MANIFEST: manifest_bytes(replace(manifest, revision=revision, other_files=hashes))}


def newest(repo: Repo, head: str) -> Manifest | None:
    """Return the manifest of what main contains; None if that is not one of our datasets."""
    data = repo.read(MANIFEST, head)
    return None if data is None else parse_manifest(data, f"the {MANIFEST} of {repo.id}")


def publish(repo: Repo, staged: Staged, branch: str = MAIN) -> str:
    """Make the commit and the tag of a revision, as far as they do not exist, and return the commit's id; a HubError if the revision is
    published with other contents, or the branch moved meanwhile. A branch that is not main starts at the base, and is removed at the end.
    """
    refs = repo.existing_refs()
    commit = published_commit(repo, staged, refs)
    if commit is None:
        parent = staged.base if branch == MAIN else refs.branches.get(branch, staged.base)
        if branch not in refs.branches:
            repo.branch(branch, parent)
        commit = repo.find(staged.mark, branch) or repo.commit(_change(repo, staged, parent), branch, parent)
        repo.tag(staged.revision, commit)
    if branch != MAIN and branch in repo.existing_refs().branches:
        repo.delete_branch(branch)
    return commit


def published_commit(repo: Repo, staged: Staged, refs: Refs) -> str | None:
    """Return the commit of a revision that is published, None if it is not; a HubError if it is with other contents."""
    commit = refs.tags.get(staged.revision)
    if commit and repo.find(staged.mark, staged.revision) != commit:
        raise HubError(
            f"{repo.id}: {staged.revision} is published with other contents and a published tag never moves; give the "
            f"round another name, or replace it with `academiceval push --replaces {staged.revision}`"
        )
    return commit


def show_results(repo: Repo, staged: Staged) -> None:
    """Put a new plot on main, which has the revision's data already, and the files beside these that go with it."""
    if PLOT not in staged.files:
        return
    head = repo.head()
    files = {path: content for path, content in staged.files.items() if isinstance(content, bytes)}
    if PLOT not in unchanged_paths(repo.files(head), files):
        mark = f"Results: {digest(files[PLOT])['sha256']}"
        repo.commit(Change(f"Results on {staged.revision}", mark, files), MAIN, head)


def tell_main(repo: Repo, refs: Refs, last: Manifest, notices: Notices, *, entry: Erratum, mark: str) -> None:
    """Note on main, which keeps its name and data, that an older revision was replaced."""
    if repo.find(mark, MAIN) is None:
        change = Change(f"Errata of {entry.revision}", mark, files_beside(last, repo.id, notices))
        repo.commit(change, MAIN, refs.branches[MAIN])


def _change(repo: Repo, staged: Staged, parent: str) -> Change:
    there = repo.files(parent)
    delete = obsolete_paths(there, staged, newest(repo, parent) if there else None)
    return Change(f"Revision {staged.revision}", staged.mark, staged.files, delete)


def obsolete_paths(there: Iterable[str], staged: Staged, last: Manifest | None) -> list[str]:
    """Return the files of the round `last` that a commit has and the staged revision lacks; whatever else is there is not ours."""
    ours = {*last.files, *last.other_files} if last else set()
    return [path for path in gone(there, staged.files) if path in ours]
