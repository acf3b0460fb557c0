"""`academiceval push`: a dataset folder -> one commit and one tag on the Hub, which nothing moves afterwards.

Killed at any point and started again, it ends in the same state: the commit is known by its mark, the tag by its name,
and each is made only if it does not exist.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from builder.dataset.audit import audit, check
from builder.dataset.card import CARD
from builder.dataset.folder import add_report_card
from builder.dataset.manifest import SEALED, parse_report_card, read_manifest
from builder.dataset.takedown import without_papers
from hub_scripts.errors import CheckError, DifferenceError
from hub_scripts.hub import checks
from hub_scripts.hub.benchmark import EVAL
from hub_scripts.hub.file_hashes import gone, unchanged_paths
from hub_scripts.hub.publishable_copy import publishable_copy
from hub_scripts.hub.publishing import obsolete_paths, publish
from hub_scripts.hub.repo import MAIN, Repo
from hub_scripts.hub.revisions import order
from hub_scripts.hub.sealing import differences_from_seal, seal_of
from hub_scripts.hub.secret_scan import refuse_secrets
from hub_scripts.hub.staging import Notices, Staged, newest, read_notices, stage
from hub_scripts.hub.verify import verify

if TYPE_CHECKING:
    from builder.dataset.manifest import Manifest
    from builder.round.licenses import Shown
    from hub_scripts.hub.checks import Contents


def push(
    source: Path,
    repo_id: str,
    licenses: Shown,
    *,
    yes: bool = False,
    private: bool = False,
    report_card: Path | None = None,
) -> Iterator[str]:
    """Check a dataset folder, and publish it if `yes` says so; yields lines to show as it goes.

    Raises:
        BuildError: a check failed, the token may not write, somebody else pushed meanwhile, or the Hub does not answer.
    """
    repo = Repo(repo_id)
    if report_card:
        # A kill between card and manifest leaves a folder that only this repairs.
        card = parse_report_card(_content(report_card), str(report_card))
        if yes:
            checks.check_files(source, frozenset({CARD}))
            add_report_card(source, card)
        else:
            yield f"{report_card}: {len(card)} metrics would be added to the card"
    if yes:
        repo.check_write()
    folder, manifest, contents = checked_folder(source, licenses)
    yield from _summary(folder, manifest, contents, licenses)
    refs = repo.refs()
    if refs is None and yes:
        repo.create(private)
        refs = repo.existing_refs()
    head = repo.head() if refs else ""
    last = newest(repo, head) if head else None
    has_texts = last is not None and last.round == manifest.round and not last.revision.endswith(SEALED)
    if refs and manifest.revision.endswith(SEALED) and (has_texts or manifest.round in refs.tags):
        raise CheckError(
            f"{repo_id} already has the texts of {manifest.round}; a round is sealed before they are published"
        )
    notices = read_notices(repo, head) if head else Notices()
    seal = seal_of(manifest) if refs and seal_of(manifest) in refs.tags else None
    if seal and (gone_since := contents.papers & notices.taken_down):
        folder = _without(folder, gone_since, manifest)
        manifest = read_manifest(folder)
        contents = checks.contents(folder, manifest, licenses)
        yield f"without {', '.join(sorted(gone_since))}, taken down since {seal}: {folder}"
    checks.check_contents(folder, contents, licenses, notices.taken_down, repo_id)
    staged = stage(folder, repo_id, head, notices)
    refuse_secrets(staged.files)
    if seal:
        _check_seal(repo, seal, source, notices)
    yield from _plan(repo, staged, manifest, last)
    if EVAL in staged.files:
        yield f"{EVAL}: `inspect eval hf/{repo_id}` will run SCALAR; docs/publish.md says what a leaderboard of the Hub needs"
    if not yes:
        yield "nothing was uploaded; add --yes to publish"
        return
    word = "published already" if refs and staged.revision in refs.tags else "published"
    commit = publish(repo, staged, _branch(staged.revision, last))
    yield f"{word}: {repo_id}, revision {staged.revision}, commit {commit}"
    yield from verify(repo, staged.revision)


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as err:
        raise CheckError(f"{file} cannot be read: {err.strerror}") from err


def _without(folder: Path, papers: Collection[str], manifest: Manifest) -> Path:
    """The copy of a round, next to it, that no longer shows some papers."""
    copy = folder.resolve().with_name(f"{folder.resolve().name}-without-taken-down")
    without_papers(folder, copy, papers, manifest.revision)
    return copy


def _check_seal(repo: Repo, seal: str, folder: Path, notices: Notices) -> None:
    """Raise a DifferenceError if a folder is not what was sealed, before anything is published."""
    with tempfile.TemporaryDirectory() as cache:
        differences = list(differences_from_seal(repo.snapshot(seal, Path(cache)), folder, notices.taken_down))
    if differences:
        raise DifferenceError(
            f"{folder} is not what {repo.id} has as {seal}: {'; '.join(differences[:3])}; push the folder that was sealed"
        )


def checked_folder(source: Path, licenses: Shown) -> tuple[Path, Manifest, Contents]:
    """The folder to upload, after all checks that need no network: folder, manifest, what its rows show.

    Raises:
        BuildError: which check failed, and why.
    """
    original = checks.check_files(source)
    check(audit(source, original.configurations), original.allowed)
    folder = publishable_copy(source, licenses)
    manifest = checks.check_files(folder)
    checks.check_card(folder, manifest)
    contents = checks.contents(folder, manifest, licenses)
    checks.check_loading(folder, manifest)
    return folder, manifest, contents


def _branch(revision: str, last: Manifest | None) -> str:
    """Main for what is newest; an older round gets its tag without it."""
    if last is None or order(revision) >= order(last.published_as):
        return MAIN
    return f"round-{revision}"


def _summary(folder: Path, manifest: Manifest, contents: Contents, licenses: Shown) -> Iterator[str]:
    files = manifest.files.values()
    complete = sum(contents.licenses.values())
    rows = sum(file.rows for file in files)
    size = sum(file.bytes for file in files) / 1e6
    yield f"{folder}: {len(files)} data files, {size:.1f} MB, {rows} rows, {complete} of them complete and {rows - complete} by id"
    if licenses == "none":
        yield f"sealed: every row is there by id, with the hashes of its texts, as {manifest.published_as}"
        return
    if 2 * complete < rows:
        yield (
            f"warning: {complete} of {rows} rows are complete, the others are listed by id: without `academiceval fill` "
            + ("nobody can evaluate on this round" if not complete else "scores are of a small subset")
        )
    yield f"licences ({licenses}): {', '.join(f'{name} {n} rows' for name, n in contents.licenses.items()) or 'no row is whole'}"
    yield "checked: hashes, audit, licences, card, load_dataset of every configuration"


def _plan(repo: Repo, staged: Staged, manifest: Manifest, last: Manifest | None) -> Iterator[str]:
    """What the push would change."""
    if not staged.base:
        yield f"{repo.id} does not exist yet and would be created; revision {staged.revision}, {len(staged.files)} files"
        return
    there = repo.files(staged.base)
    same = list(unchanged_paths(there, staged.files))
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
