"""`academiceval push`: a dataset folder -> one commit and one tag on the Hub, which nothing moves afterwards.

Killed at any point and started again, it ends in the same state: the commit is known by its mark, the tag by its name,
and each is made only if it does not exist.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from builder.dataset.audit import audit, check
from builder.dataset.publishable import publishable, without_papers
from builder.round.allowed import allowed_by
from hub_scripts.errors import HubError, UnreachableError
from hub_scripts.hub import checks
from hub_scripts.hub.benchmark import EVAL
from hub_scripts.hub.checks import Contents, verify
from hub_scripts.hub.repo import MAIN, Repo
from hub_scripts.hub.staging import (
    Notices,
    Staged,
    listed_beside,
    newest,
    notices_with,
    obsolete_paths,
    order,
    publish,
    read_notices,
    stage,
    tell_main,
)
from hub_scripts.hub.uploads import gone, refuse_secrets, unchanged_paths
from lm_eval_tasks.base.contract import MANIFEST, Licenses
from lm_eval_tasks.base.errors import DatasetError
from lm_eval_tasks.base.files import sha256_of, sha256_of_bytes
from lm_eval_tasks.base.manifest import Manifest
from lm_eval_tasks.base.text import is_valid
from lm_eval_tasks.families.rounds import read_manifest


def publishable_copy(source: Path, licenses: Licenses) -> Path:
    """The folder to upload: the publishable copy next to a round, made again if it is not of this very round."""
    manifest = read_manifest(source)
    copy_record = manifest.publishable
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
        # But for the hashes of the files next to the data.
        original = replace(there, configurations=there.publishable.original, publishable=None, other_files={})
        if there.publishable.licenses == licenses and original == replace(manifest, other_files={}):
            return copy
    publishable(source, copy, licenses)
    return copy


def push(
    source: Path,
    repo_id: str,
    licenses: Licenses,
    *,
    yes: bool = False,
    private: bool = False,
    replaces: str = "",
    note: str = "",
) -> Iterator[str]:
    """Check a dataset folder, and publish it if `yes` says so; yields lines to show as it goes.

    Args:
        replaces: the revision that it takes the place of, under the next `.postN`; "" for a round's first.
        note: why, for the errata on the card.

    Raises:
        BuildError: a check failed, the token may not write, somebody else pushed meanwhile, or the Hub does not answer.
    """
    if replaces and not (note.strip() and is_valid(note)):
        raise HubError("--replaces needs --note TEXT: what was wrong, for the errata on the card")
    repo = Repo(repo_id)
    if yes:
        repo.check_write()
    folder, manifest, contents = checked_folder(source, licenses)
    yield from _summary(folder, manifest, contents, licenses)
    try:
        refs = Repo(repo_id, patient=yes).refs()
    except UnreachableError as err:
        if yes:
            raise
        refuse_secrets(stage(folder, repo_id, "", Notices(), "", manifest.published_as).files)
        yield f"{err}: so it is not known what is there already, what would change, and what was taken down there"
        yield "nothing was uploaded; add --yes to publish"
        return
    if refs is None and yes and not replaces:
        repo.create(private)
        refs = repo.existing_refs()
    head = repo.head() if refs else ""
    last = newest(repo, head) if head else None
    notices = read_notices(repo, head) if head else Notices()
    revision, mark, entry = manifest.published_as, "", None
    listed = listed_beside(source)
    listed_ids = {takedown.id for takedown in listed}
    if replaces:
        taken_down = notices.taken_down | listed_ids
        # By which the commits of the replacement by this folder are known again.
        mark = f"Replaces: {sha256_of_bytes('|'.join((replaces, note, sha256_of(folder / MANIFEST))))}"
        entry, notices = notices_with(repo, refs, notices, replaces, note, mark, listed)
        revision = entry.replacement
        if not revision.startswith(f"{manifest.round}."):
            raise HubError(f"{folder} is round {manifest.round}, which cannot replace {replaces}")
        if gone_since := contents.papers & taken_down:
            whole = folder.resolve()
            folder = whole.with_name(f"{whole.name}-without-taken-down")
            without_papers(whole, folder, gone_since, revision)
            manifest = read_manifest(folder)
            contents = checks.contents(folder, manifest, licenses)
            yield f"without {', '.join(sorted(gone_since))}, taken down: {folder}"
    elif shown := sorted(listed_ids & contents.papers):
        raise HubError(
            f"{folder} shows {', '.join(shown[:3])}, which the takedowns.jsonl next to it lists; build the round again, or push it "
            "with --replaces if it was published"
        )
    checks.check_contents(folder, contents, licenses, notices.taken_down, repo_id)
    staged = stage(folder, repo_id, head, notices, mark, revision)
    there = repo.files(staged.base) if staged.base else {}
    same = unchanged_paths(there, staged.files)
    if last is None and (others := sorted((there.keys() & staged.files.keys()) - same)):
        raise HubError(
            f"{repo.id} has files of its own that the round would overwrite: {', '.join(others[:3])}; move them away there, or push to "
            "another repository"
        )
    refuse_secrets(staged.files)
    yield from _plan(repo, staged, there, same, manifest, last)
    if entry:
        yield f"{revision} replaces {entry.revision}, whose tag stays ({entry.reason})"
    if EVAL in staged.files:
        yield f"{EVAL}: `inspect eval hf/{repo_id}` will run SCALAR; docs/publish.md says what a leaderboard of the Hub needs"
    if not yes:
        yield "nothing was uploaded; add --yes to publish"
        return
    word = "published already" if refs and staged.revision in refs.tags else "published"
    # An older round gets its tag without main.
    branch = MAIN if last is None or order(revision) >= order(last.published_as) else f"round-{revision}"
    commit = publish(repo, staged, branch)
    if entry and last and branch != MAIN:
        tell_main(repo, head, last, notices, entry, mark)
    yield f"{word}: {repo_id}, revision {staged.revision}, commit {commit}"
    if entry and entry.papers:
        yield f"older tags may still show {', '.join(entry.papers)}: they never move; remove them on the Hub's own pages"
    yield from verify(repo, staged.revision)


def checked_folder(source: Path, licenses: Licenses) -> tuple[Path, Manifest, Contents]:
    """The folder to upload, its manifest and what its rows show, after all checks that need no network; a BuildError says which failed."""
    original = checks.check_files(source)
    check(audit(source, original.configurations), allowed_by(original))
    folder = publishable_copy(source, licenses)
    manifest = checks.check_files(folder)
    checks.check_card(folder, manifest)
    contents = checks.contents(folder, manifest, licenses)
    checks.check_loading(folder, manifest)
    return folder, manifest, contents


def _summary(folder: Path, manifest: Manifest, contents: Contents, licenses: Licenses) -> Iterator[str]:
    files = manifest.files.values()
    complete = sum(contents.licenses.values())
    rows = sum(file.rows for file in files)
    yield (
        f"{folder}: {len(files)} data files, {sum(file.bytes for file in files) / 1e6:.1f} MB, {rows} rows, {complete} of them "
        f"complete and {rows - complete} by id"
    )
    if 2 * complete < rows:
        yield (
            f"warning: {complete} of {rows} rows are complete, the others are listed by id: without `academiceval fill` "
            + ("nobody can evaluate on this round" if not complete else "scores are of a small subset")
        )
    yield f"licences ({licenses}): {', '.join(f'{name} {n} rows' for name, n in contents.licenses.items()) or 'no row is whole'}"
    yield "checked: hashes, audit, licences, card, load_dataset of every configuration"


def _plan(
    repo: Repo,
    staged: Staged,
    there: Mapping[str, str],
    same: Collection[str],
    manifest: Manifest,
    last: Manifest | None,
) -> Iterator[str]:
    """What the push would change of the files that are there, some of which are the same as they would be."""
    if not staged.base:
        yield f"{repo.id} does not exist yet and would be created; revision {staged.revision}, {len(staged.files)} files"
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
