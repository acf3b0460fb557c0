"""`academiceval push`: a dataset folder -> one commit and one tag on the Hub, which nothing moves afterwards.

Killed at any point and started again, it ends in the same state: the commit is known by its mark, the tag by its name,
and each is made only if it does not exist.
"""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

from builder.dataset.audit import audit, check
from builder.dataset.card import PLOT
from builder.dataset.publishable import publishable, refuse_lacking, without_papers
from builder.round.allowed import allowed_by
from builder.round.takedowns import TAKEDOWNS, Erratum, Takedown
from hub_scripts.errors import HubError, UnreachableError
from hub_scripts.hub import checks
from hub_scripts.hub.benchmark import EVAL
from hub_scripts.hub.checks import Contents, verify
from hub_scripts.hub.notices import (
    Notices,
    Replaced,
    by_own_ids,
    listed_beside,
    notices_with,
    plot_of,
    read_notices,
    revision_order,
)
from hub_scripts.hub.repo import MAIN, Refs, Repo
from hub_scripts.hub.staging import (
    Staged,
    newest,
    obsolete_paths,
    publish,
    published_commit,
    show_results,
    stage,
    tell_main,
)
from hub_scripts.hub.uploads import NOTHING_UPLOADED, gone, refuse_secrets, unchanged_paths
from lm_eval_tasks.base.contract import MANIFEST, Licenses
from lm_eval_tasks.base.errors import DatasetError
from lm_eval_tasks.base.manifest import Manifest
from lm_eval_tasks.families.rounds import read_manifest


def publishable_copy(source: Path, licenses: Licenses) -> Path:
    """Return the folder to upload: the publishable copy next to a round, made again if it is not of this very round."""
    manifest = read_manifest(source)
    copy_record = manifest.publishable
    refuse_lacking(source, manifest)
    if licenses == "all" or (copy_record and copy_record.licenses == licenses):
        return source
    if copy_record:
        raise HubError(f"{source} was made with --licenses {copy_record.licenses}, not {licenses}; push its round")
    copy = source.resolve().with_name(f"{source.resolve().name}-publishable")
    try:
        there = read_manifest(copy)
    except DatasetError:  # there is none, or one of another release
        there = None
    if there is not None:
        if there.publishable is None:
            raise HubError(f"{copy} exists and is not a publishable copy; move it away")
        # But for what is shown of the rows, and the hashes of the files next to the data.
        copied = replace(
            there, configurations=there.publishable.original, publishable=None, examples={}, other_files={}
        )
        if there.publishable.licenses == licenses and copied == replace(manifest, examples={}, other_files={}):
            return copy
    publishable(source, copy, licenses)
    return copy


@dataclass(frozen=True, slots=True)
class Ready:
    """A dataset folder that passed all checks that need no network.

    Attributes:
        folder: what is uploaded: the round, or its publishable copy.
        contents: what its rows show.
        licenses: which texts may be shown.
    """

    folder: Path
    manifest: Manifest
    contents: Contents
    licenses: Licenses


@dataclass(frozen=True, slots=True)
class HowToPush:
    """What else is asked of a push.

    Attributes:
        yes: whether anything is uploaded.
        private: whether a repository that is created is.
        plot: an SVG file with results, which the card shows; a revision that is published already gets it on main.
    """

    yes: bool = False
    private: bool = False
    plot: Path | None = None


@dataclass(frozen=True, slots=True)
class Published:
    """What a repository has when a push begins.

    Attributes:
        refs: its branches and tags; none where it does not exist.
        last: the manifest of the round on main; None if there is none.
    """

    refs: Refs
    last: Manifest | None
    notices: Notices

    @property
    def head(self) -> str:
        """The newest commit of main; "" where there is none."""
        return self.refs.branches.get(MAIN, "")


def push(
    source: Path, repo_id: str, licenses: Licenses, how: HowToPush, *, replaces: Replaced | None = None
) -> Iterator[str]:
    """Check a dataset folder, and publish it if that is asked; yields lines to show as it goes.

    Args:
        replaces: the revision that it takes the place of, under the next `.postN`; None for a round's first.

    Raises:
        BuildError: a check failed, the token may not write, somebody else pushed meanwhile, or the Hub does not answer.
    """
    repo = Repo(repo_id)
    plot = plot_of(how.plot)
    if how.yes:
        repo.check_write()
    ready = checked_folder(source, licenses)
    yield from _summary(ready)
    try:
        refs = Repo(repo_id, patient=how.yes).refs()
    except UnreachableError as err:
        if how.yes:
            raise
        refuse_secrets(stage(ready.folder, repo_id, "", Notices(plot=plot)).files)
        yield f"{err}: so it is not known what is there already, what would change, and what was taken down there"
        yield NOTHING_UPLOADED
        return
    published = _published(repo, refs)
    listed = by_own_ids(listed_beside(source), ready.manifest)
    if replaces is None:
        _refuse_listed(ready, listed)
        entry, notices, mark = None, published.notices, ""
    else:
        mark = replaces.mark_of(ready.folder)
        entry, notices = notices_with(
            repo, published.refs.tags, published.notices, replaced=replaces, mark=mark, listed=listed
        )
        yield from _unknown_takedowns(ready, listed, published.notices)
        ready = _replacing(ready, entry, published.notices.taken_down | {takedown.id for takedown in listed})
    checks.check_contents(ready.folder, ready.contents, licenses, notices.taken_down, repo_id)
    name = entry.replacement if entry else ""
    shown = replace(notices, plot=plot)
    staged = stage(ready.folder, repo_id, published.head, shown, mark=mark, revision=name)
    yield from _plan(repo, staged, ready.manifest, published)
    if entry:
        yield f"{ready.folder} replaces {entry.revision} as {entry.replacement}; its tag stays ({entry.reason})"
    if EVAL in staged.files:
        yield f"{EVAL}: `inspect eval hf/{repo_id}` will run SCALAR; docs/publish.md says what a leaderboard of the Hub needs"
    if not how.yes:
        yield NOTHING_UPLOADED
        return
    if refs is None:
        repo.create(how.private)
        published = _published(repo, repo.existing_refs())
        staged = replace(staged, base=published.head)
    yield from _publish(repo, staged, published, entry, notices)
    yield from verify(repo, staged.revision)


def checked_folder(source: Path, licenses: Licenses) -> Ready:
    """Make all checks that need no network; a BuildError says which failed."""
    original = checks.check_files(source)
    check(audit(source, original.configurations), allowed_by(original))
    folder = publishable_copy(source, licenses)
    manifest = checks.check_files(folder)
    checks.check_card(folder, manifest)
    contents = checks.contents(folder, manifest, licenses)
    checks.check_loading(folder, manifest)
    return Ready(folder, manifest, contents, licenses)


def _published(repo: Repo, refs: Refs | None) -> Published:
    if refs is None:
        return Published(Refs({}, {}), None, Notices())
    head = repo.head()
    return Published(refs, newest(repo, head), read_notices(repo, head))


def _refuse_listed(ready: Ready, listed: Sequence[Takedown]) -> None:
    if shown := sorted({takedown.id for takedown in listed} & ready.contents.papers):
        raise HubError(
            f"{ready.folder} shows {', '.join(shown[:3])}, which the takedowns.jsonl next to it lists; build the round "
            "again, or push it with --replaces if it was published"
        )


def _unknown_takedowns(ready: Ready, listed: Sequence[Takedown], notices: Notices) -> Iterator[str]:
    """Name the papers that are newly taken down and that the folder does not show."""
    fresh = {takedown.id for takedown in listed} - notices.taken_down
    for id_ in sorted(fresh - ready.contents.papers):
        yield f"warning: {TAKEDOWNS} names {id_}, which is the id of no paper that {ready.folder} shows"


def _replacing(ready: Ready, entry: Erratum, taken_down: Set[str]) -> Ready:
    """Return the folder, or a copy next to it without the rows of papers that were taken down; a HubError if it is of another round."""
    if not entry.replacement.startswith(f"{ready.manifest.round}."):
        raise HubError(f"{ready.folder} is round {ready.manifest.round}, which cannot replace {entry.revision}")
    shown = ready.contents.papers & taken_down
    if not shown:
        return ready
    whole = ready.folder.resolve()
    folder = whole.with_name(f"{whole.name}-without-taken-down")
    without_papers(whole, folder, shown, entry.replacement)
    manifest = read_manifest(folder)
    return Ready(folder, manifest, checks.contents(folder, manifest, ready.licenses), ready.licenses)


def _publish(
    repo: Repo, staged: Staged, published: Published, entry: Erratum | None, notices: Notices
) -> Iterator[str]:
    """Make the commit and the tag; an older round gets its tag without main, which is told of the replacement."""
    last = published.last
    is_newest = last is None or revision_order(staged.revision) >= revision_order(last.published_as)
    commit = publish(repo, staged, MAIN if is_newest else f"round-{staged.revision}")
    if entry and last and not is_newest:
        tell_main(repo, published.refs, last, notices, entry=entry, mark=staged.mark)
    if last and last.published_as == staged.revision:
        show_results(repo, staged)
    word = "published already" if staged.revision in published.refs.tags else "published"
    yield f"{word}: {repo.id}, revision {staged.revision}, commit {commit}"
    if entry and entry.papers:
        yield f"older tags may still show {', '.join(entry.papers)}: they never move; remove them on the Hub's own pages"


def _summary(ready: Ready) -> Iterator[str]:
    files = ready.manifest.files.values()
    licenses = ready.contents.licenses
    complete = sum(licenses.values())
    rows = sum(file.rows for file in files)
    yield (
        f"{ready.folder}: {len(files)} data files, {sum(file.bytes for file in files) / 1e6:.1f} MB, {rows} rows, {complete} "
        f"of them complete and {rows - complete} by id"
    )
    if 2 * complete < rows:
        yield (
            f"warning: {complete} of {rows} rows are complete, the others are listed by id: without `academiceval fill` "
            + ("nobody can evaluate on this round" if not complete else "scores are of a small subset")
        )
    counts = ", ".join(f"{name} {n} rows" for name, n in licenses.items())
    yield f"licences ({ready.licenses}): {counts or 'no row is whole'}"
    yield "checked: hashes, audit, licences, card, load_dataset of every configuration"


def _plan(repo: Repo, staged: Staged, manifest: Manifest, published: Published) -> Iterator[str]:
    """Say what the push would change; a HubError if it would overwrite files that are not a round's, move a tag, or upload a secret."""
    last = published.last
    there = repo.files(staged.base) if staged.base else {}
    same = unchanged_paths(there, staged.files)
    ours = {*last.files, *last.other_files, MANIFEST} if last else set()
    if overwritten := sorted((there.keys() & staged.files.keys()) - same - ours):
        raise HubError(
            f"{repo.id} has files of its own that the round would overwrite: {', '.join(overwritten[:3])}; move them away there, "
            "or push to another repository"
        )
    refuse_secrets(staged.files)
    if not staged.base:
        yield f"{repo.id} does not exist yet and would be created; revision {staged.revision}, {len(staged.files)} files"
        return
    if published_commit(repo, staged, published.refs):
        yield f"{repo.id} has revision {staged.revision} already: 0 files to upload"
        if PLOT in staged.files:
            is_on_main = last and last.published_as == staged.revision
            yield f"the plot {'goes to main' if is_on_main else 'is left out: main has another revision'}"
        return
    obsolete = obsolete_paths(there, staged, last)
    yield (
        f"{repo.id}, revision {staged.revision}, {f'after {last.published_as}' if last else 'the first'}: "
        f"{len(staged.files) - len(same)} files to upload, {len(same)} unchanged, {len(obsolete)} to remove"
    )
    if others := sorted(set(gone(there, staged.files)) - set(obsolete)):
        yield f"  {len(others)} files there are not of a round and stay: {', '.join(others[:3])}"
    before, after = _rows(last) if last else {}, _rows(manifest)
    for name in sorted(before.keys() | after.keys()):
        if before.get(name, 0) != after.get(name, 0):
            yield f"  {name}: {before.get(name, 0)} -> {after.get(name, 0)} rows"


def _rows(manifest: Manifest) -> dict[str, int]:
    return {
        configuration.name: configuration.samples for configuration in manifest.configurations if configuration.samples
    }
