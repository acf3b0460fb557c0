"""A dataset folder as it will be in its repository, its data unchanged and the card and lists of now; and its commit and tag, made once.

`academiceval push --replaces`: the entry of a revision that takes the place of another one, whose tag stays.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from builder.dataset.card import CARD, card
from builder.round.takedowns import ERRATA, TAKEDOWNS, Erratum, Takedown, json_lines, parse_errata, parse_takedowns
from hub_scripts.errors import HubError
from hub_scripts.hub.benchmark import EVAL, eval_yaml
from hub_scripts.hub.repo import MAIN, Change, Refs, Repo
from hub_scripts.hub.uploads import Content, gone
from lm_eval_tasks.base.contract import MANIFEST
from lm_eval_tasks.base.files import sha256_of, sha256_of_bytes
from lm_eval_tasks.base.manifest import Manifest, manifest_bytes, place_of
from lm_eval_tasks.families.rounds import parse_manifest, read_manifest


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
    """

    revision: str
    base: str
    mark: str
    files: Mapping[str, Content]


def read_notices(repo: Repo, revision: str) -> Notices:
    """The lists at a revision."""
    return Notices(
        parse_errata(repo.read(ERRATA, revision)),
        parse_takedowns(repo.read(TAKEDOWNS, revision) or b"", f"{TAKEDOWNS} of {repo.id}"),
    )


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
    """Make the commit and the tag of a revision, as far as they do not exist, and return the commit's id; a HubError if the revision is
    published with other contents, or the branch moved meanwhile. A branch that is not main starts at the base, and is removed at the end.
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
        raise HubError(
            f"{repo.id}: {staged.revision} is published with other contents and a published tag never moves; give the "
            f"round another name, or replace it with `academiceval push --replaces {staged.revision}`"
        )
    if branch != MAIN and branch in repo.existing_refs().branches:
        repo.delete_branch(branch)
    return commit


def _change(repo: Repo, staged: Staged, parent: str) -> Change:
    there = repo.files(parent)
    delete = obsolete_paths(there, staged, newest(repo, parent) if there else None)
    return Change(f"Revision {staged.revision}", staged.mark, staged.files, delete)


def obsolete_paths(there: Iterable[str], staged: Staged, last: Manifest | None) -> list[str]:
    """The files of the round `last` that a commit has and the staged revision lacks; whatever else is there is not ours."""
    ours = {*last.files, *last.other_files} if last else set()
    return [path for path in gone(there, staged.files) if path in ours]


_NAME = re.compile(r"(\d{4})\.(\d{2})(?:\.post(\d+))?")


def order(name: str) -> tuple[int, int, int]:
    """A key by which revisions are sorted, oldest first; other names come before all."""
    match = _NAME.fullmatch(name)
    return (int(match[1]), int(match[2]), int(match[3] or 0)) if match else (0, 0, 0)


def replacement(name: str, taken: Iterable[str]) -> str:
    """The name of what replaces a revision: `.post1`, or the first free number."""
    base = name.partition(".post")[0]
    used = [order(other)[2] for other in taken if other.partition(".post")[0] == base]
    return f"{base}.post{max([0, *used]) + 1}"


def listed_beside(folder: Path) -> list[Takedown]:
    """The papers in the `takedowns.jsonl` next to a dataset folder or a link to it, where builds look for it; none without one."""
    places = sorted({parent.resolve() / TAKEDOWNS for parent in (folder.absolute().parent, folder.resolve().parent)})
    return [entry for place in places if place.is_file() for entry in parse_takedowns(place.read_bytes(), str(place))]


def notices_with(
    repo: Repo, refs: Refs | None, notices: Notices, replaces: str, note: str, mark: str, listed: Sequence[Takedown]
) -> tuple[Erratum, Notices]:
    """The entry of the replacement, and the repository's lists with it and with newly taken down papers; a HubError if there is no such
    revision, or it was replaced already. A call that was killed is known by its mark or by its entry, and gets the same name again.
    """
    tags = refs.tags if refs else {}
    if replaces not in tags:
        raise HubError(f"{repo.id} has no revision {replaces}; there are {', '.join(sorted(tags)) or 'no tags'}")
    fresh = tuple(sorted({takedown.id for takedown in listed} - notices.taken_down))
    for name, commit in tags.items():
        if name.startswith(f"{replaces.partition('.post')[0]}.post") and repo.find(mark, name) == commit:
            there = read_notices(repo, commit)
            [entry] = [erratum for erratum in there.errata if erratum.replacement == name]
            return entry, there if entry in notices.errata else _added(notices, entry, listed)
    successor = next((erratum for erratum in notices.errata if erratum.revision == replaces), None)
    if successor and (successor.reason != note or successor.replacement in tags):
        raise HubError(
            f"{replaces} was already replaced by {successor.replacement}; replace {successor.replacement} if that is wrong too"
        )
    if successor:
        return successor, notices
    name = replacement(replaces, {*tags, *(erratum.replacement for erratum in notices.errata)})
    entry = Erratum(replaces, name, datetime.now(UTC).date().isoformat(), note, fresh)
    return entry, _added(notices, entry, listed)


def _added(notices: Notices, entry: Erratum, listed: Sequence[Takedown]) -> Notices:
    fresh = {takedown.id: takedown for takedown in listed if takedown.id not in notices.taken_down}
    taken_down = [
        Takedown(id_, given.date or entry.date, given.reason or entry.reason, entry.replacement)
        for id_, given in fresh.items()
    ]
    return Notices([*notices.errata, entry], [*notices.takedowns, *taken_down])


def tell_main(repo: Repo, head: str, last: Manifest, notices: Notices, entry: Erratum, mark: str) -> None:
    """Note on main, which keeps its name and data, that an older revision was replaced."""
    if repo.find(mark, MAIN) is None:
        repo.commit(Change(f"Errata of {entry.revision}", mark, files_beside(last, repo.id, notices)), MAIN, head)
