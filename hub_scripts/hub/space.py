"""A report's site -> a static Space on the Hub."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hub_scripts.hub.file_hashes import ATTRIBUTES, Content, digest, gone, unchanged_paths
from hub_scripts.hub.repo import MAIN, Change, Repo
from hub_scripts.hub.secret_scan import refuse_secrets
from lm_eval_tasks.core.files import sha256_of_bytes
from lm_eval_tasks.core.progress import progress

# The samples are many and large together: as large files, they are not part of the commit itself.
_LARGE = "data/** filter=lfs diff=lfs merge=lfs -text\n"


def push_site(site: Path, repo_id: str, *, yes: bool) -> Iterator[str]:
    """Make the Space show this site and nothing else; yields lines to show. The same site again changes nothing.

    Args:
        yes: do it; otherwise only say what would be done.

    Raises:
        SecretError: a file of the site contains one.
        HubError: no permission, somebody else pushed meanwhile, or the Hub does not answer.
    """
    files: dict[str, Content] = {
        path.relative_to(site).as_posix(): path for path in sorted(site.rglob("*")) if path.is_file()
    }
    refuse_secrets(files)
    repo = Repo(repo_id, "space")
    if yes:
        repo.check_write()
        repo.create(private=False, space_sdk="static")
        _mark_large(repo)
    refs = repo.refs()
    head = refs.branches[MAIN] if refs else ""
    there = repo.files(head) if refs else {}
    same = set(unchanged_paths(there, files))
    fresh = {path: content for path, content in files.items() if path not in same}
    obsolete = gone(there, files)
    if not fresh and not obsolete:
        yield f"{repo_id} already shows this site"
        return
    if not yes:
        yield f"{repo_id}: {len(fresh)} files new, {len(obsolete)} removed"
        yield "nothing was uploaded; add --yes to publish"
        return
    hashes = [f"{path} {digest(content)['sha256']}" for path, content in progress(sorted(fresh.items()), "hashes")]
    mark = f"Site: {sha256_of_bytes(chr(10).join([*hashes, *obsolete]))}"
    commit = repo.commit(Change("New report", mark, fresh, obsolete), MAIN, head)
    yield f"published: {repo_id}, {len(fresh)} files new, {len(obsolete)} removed, commit {commit}"


def _mark_large(repo: Repo) -> None:
    head = repo.head()
    text = (repo.read(ATTRIBUTES, head) or b"").decode()
    if _LARGE not in text:
        content = (text + _LARGE).encode()
        mark = f"Attributes: {sha256_of_bytes(content)}"
        repo.commit(Change("Samples are large files", mark, {ATTRIBUTES: content}), MAIN, head)
