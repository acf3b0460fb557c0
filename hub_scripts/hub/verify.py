"""`academiceval verify`: whether the Hub serves what the manifest says, seen as a new user would see it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from builder.dataset.folder import file_differences, unlisted_files
from builder.dataset.manifest import Manifest, read_manifest
from builder.errors import BuildError
from hub_scripts.errors import DifferenceError, HubError
from hub_scripts.hub import checks
from hub_scripts.hub.loading import counts_of, load_counts, stream_counts
from hub_scripts.hub.repo import MAIN, Repo
from lm_eval_tasks.base.progress import progress


def verify(repo: Repo, revision: str) -> Iterator[str]:
    """Download a revision into a fresh cache and compare it; yields lines to show.

    Raises:
        DifferenceError: it differs; the message lists how.
        HubError: there is no such revision, or the Hub does not answer.
    """
    refs = repo.existing_refs()
    if revision not in refs.tags | refs.branches:
        raise HubError(f"{repo.id} has no revision {revision}; there are {', '.join(sorted(refs.tags)) or 'no tags'}")
    with tempfile.TemporaryDirectory() as cache:
        folder = repo.snapshot(revision, Path(cache) / "snapshot")
        problems = list(differences(repo, revision, folder, Path(cache)))
        manifest = None if problems else read_manifest(folder)
        others = sorted(set(unlisted_files(folder, manifest)) - checks.OF_THE_REPOSITORY) if manifest else []
    if problems:
        listed = "".join(f"\n  {problem}" for problem in problems)
        raise DifferenceError(
            f"{repo.id} at {revision} is not what its manifest says ({len(problems)} differences):{listed}"
        )
    yield f"verified: {repo.id} at {revision}: every hash, every configuration loaded and streamed, all counts"
    if others:
        yield f"{len(others)} files there are not of the round: {', '.join(others[:5])}"


def differences(repo: Repo, revision: str, folder: Path, cache: Path) -> Iterator[str]:
    """One sentence for each difference.

    Args:
        folder: of the revision, as it was downloaded.
    """
    try:
        manifest = read_manifest(folder)
    except BuildError as err:
        yield str(err)
        return
    if revision != MAIN and manifest.published_as != revision:
        yield f"the manifest is of revision {manifest.published_as}"
    yield from file_differences(folder, manifest)
    try:
        checks.check_card(folder, manifest)
    except BuildError as err:
        yield str(err)
        return
    yield from _load(repo, revision, manifest, cache)


def _load(repo: Repo, revision: str, manifest: Manifest, cache: Path) -> Iterator[str]:
    """Load and stream every configuration."""
    for name, expected in progress(sorted(counts_of(manifest).items()), "verify"):
        try:
            loaded = load_counts(repo.id, name, cache / name, revision)
            streamed = stream_counts(repo.id, name, ("id",), revision)
        except DifferenceError as err:
            yield str(err)
            continue
        for way, counts in (("loaded", loaded), ("streamed", streamed)):
            if counts != expected:
                yield f"{name} {way} has {counts} rows, but the manifest says {expected}"
