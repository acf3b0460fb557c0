"""A repository on the Hub, and requests that may be repeated: the only code here that opens a connection itself.

A request that changes something and whose answer is lost may have been carried out. So before it is repeated, the
repository is read, and if the change is there, it counts as done.
"""

import tempfile
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError
from huggingface_hub.hf_api import RepoFile

from hub_scripts.errors import AccessError, HubError
from hub_scripts.hub.faults import FAULTS, FaultError, ask_with_retries, lacks_xet, understand
from hub_scripts.hub.uploads import Content
from lm_eval_tasks.compat.huggingface_hub import use_lfs, uses_xet

_T = TypeVar("_T")
MAIN = "main"


@dataclass(frozen=True, slots=True)
class Refs:
    """Branch or tag -> the commit it names."""

    branches: dict[str, str]
    tags: dict[str, str]


@dataclass(frozen=True, slots=True)
class Change:
    """What one commit does.

    Attributes:
        add: path -> its new content.
        delete: paths to remove.
        mark: a line in the commit's description by which it is known again.
    """

    title: str
    mark: str
    add: Mapping[str, Content]
    delete: Collection[str] = ()


class Repo:
    """One repository, ORG/NAME, of a dataset or a model; one that is not patient asks once, and not again where that may help."""

    def __init__(self, id_: str, repo_type: str = "dataset", *, patient: bool = True) -> None:
        if id_.count("/") != 1 or not all(id_.split("/")):
            raise HubError(f"{id_!r} is not a repository; give ORG/NAME")
        self.id, self.repo_type, self._patient = id_, repo_type, patient
        self._api = HfApi(library_name="academiceval")

    def check_write(self) -> None:
        """Raise an AccessError if the token may not write to the repository."""
        name, namespaces, role, permissions = self._ask(lambda: _read_user(self._api.whoami()))
        namespace = self.id.split("/")[0]
        if namespace not in namespaces:
            raise AccessError(f"{self.id}: the token's user {name} does not belong to {namespace}")
        if role == "read":
            raise AccessError(f"{self.id}: the token can only read; make one with write permission")
        if role == "fineGrained" and not _may_write(permissions, self.id):
            raise AccessError(f"{self.id}: the token has no write permission for it; grant it repo.write")

    def refs(self) -> Refs | None:
        """Return the branches and tags; None if there is no such repository."""

        def read() -> Refs | None:
            try:
                refs = self._api.list_repo_refs(self.id, repo_type=self.repo_type)
            except FAULTS as err:
                if understand(err, self.id).status == 404:
                    return None
                raise
            return Refs(
                {ref.name: ref.target_commit for ref in refs.branches},
                {ref.name: ref.target_commit for ref in refs.tags},
            )

        return self._ask(read)

    def existing_refs(self) -> Refs:
        """Return the branches and tags; a HubError if there is no such repository."""
        refs = self.refs()
        if refs is None:
            raise HubError(f"{self.id} does not exist, or the token cannot see it")
        return refs

    def head(self) -> str:
        """Return the newest commit of main; a HubError if there is none."""
        if MAIN not in (branches := self.existing_refs().branches):
            raise HubError(f"{self.id} has no branch {MAIN}")
        return branches[MAIN]

    def create(self, private: bool) -> None:
        """Create the repository if it does not exist."""
        if self.refs() is None:
            self._ask(lambda: self._api.create_repo(self.id, repo_type=self.repo_type, private=private), self.refs)

    def files(self, revision: str) -> dict[str, str]:
        """Return the path -> hash of its content, `sha256:...` of large files and `git:...` of others."""

        def listed() -> list[object]:
            return list(self._api.list_repo_tree(self.id, recursive=True, revision=revision, repo_type=self.repo_type))

        files = [entry for entry in self._ask(listed) if isinstance(entry, RepoFile)]
        return {file.path: f"sha256:{file.lfs.sha256}" if file.lfs else f"git:{file.blob_id}" for file in files}

    def read(self, path: str, revision: str) -> bytes | None:
        """Return a small file's content; None if the revision does not have it."""

        def download() -> bytes | None:
            with tempfile.TemporaryDirectory() as fresh:
                try:
                    return Path(
                        self._api.hf_hub_download(
                            self.id, path, revision=revision, repo_type=self.repo_type, cache_dir=fresh
                        )
                    ).read_bytes()
                except LocalEntryNotFoundError:
                    raise  # the Hub did not say whether it has the file
                except EntryNotFoundError:
                    return None

        return self._ask(download, moves_files=True)

    def snapshot(self, revision: str, cache: Path) -> Path:
        """Download a revision and say where it lies below the cache."""
        return Path(
            self._ask(
                lambda: self._api.snapshot_download(
                    self.id, revision=revision, repo_type=self.repo_type, cache_dir=cache
                ),
                moves_files=True,
            )
        )

    def commit(self, change: Change, branch: str, parent: str) -> str:
        """Make one commit on top of `parent` and return its id; a HubError, and no change, if the branch has moved on meanwhile."""

        def done() -> str | None:
            if self.existing_refs().branches.get(branch) == parent:
                return None
            commit = self.find(change.mark, branch)
            if commit is None:
                raise HubError(f"somebody else has pushed to {self.id} meanwhile; nothing was changed, try again")
            return commit

        return self._ask(lambda: self._send(change, branch, parent), done, moves_files=True)

    def propose(self, change: Change, parent: str) -> str:
        """Open a pull request with one commit, unless one with its title is open, and return its address."""
        return self._ask(
            lambda: self._send(change, MAIN, parent, as_proposal=True),
            lambda: self.proposal_address(change),
            moves_files=True,
        )

    def proposal_address(self, change: Change) -> str | None:
        """Return the address of the open pull request with a change's title; None if there is none."""
        discussions = self._ask(
            lambda: list(
                self._api.get_repo_discussions(
                    self.id, repo_type=self.repo_type, discussion_type="pull_request", discussion_status="open"
                )
            )
        )
        return next((discussion.url for discussion in discussions if discussion.title == change.title), None)

    def _send(self, change: Change, branch: str, parent: str, *, as_proposal: bool = False) -> str:
        """Ask for a commit or a pull request once; by LFS if the Hub turns out to have no Xet storage."""
        operations: list[CommitOperationAdd | CommitOperationDelete] = [
            *(CommitOperationAdd(path, content) for path, content in sorted(change.add.items())),
            *(CommitOperationDelete(path) for path in sorted(change.delete)),
        ]
        try:
            commit = self._api.create_commit(
                self.id,
                operations,
                commit_message=change.title,
                commit_description=change.mark,
                repo_type=self.repo_type,
                revision=branch,
                parent_commit=parent,
                create_pr=as_proposal,
            )
        except FAULTS as err:
            if not uses_xet() or not lacks_xet(err):
                raise
            use_lfs()
            return self._send(change, branch, parent, as_proposal=as_proposal)
        return str(commit.pr_url if as_proposal else commit.oid)

    def find(self, mark: str, revision: str) -> str | None:
        """Return the commit that carries a mark, among those up to a revision."""
        commits = self._ask(lambda: self._api.list_repo_commits(self.id, revision=revision, repo_type=self.repo_type))
        return next((commit.commit_id for commit in commits if mark in commit.message), None)

    def tag(self, name: str, commit: str) -> None:
        """Give a commit a tag for good; a HubError if it names another commit."""

        def done() -> bool | None:
            current = self.existing_refs().tags.get(name)
            if current not in (None, commit):
                raise HubError(f"{self.id}: the tag {name} is taken by {current}; a published tag never moves")
            return True if current else None

        self._ask(lambda: self._api.create_tag(self.id, tag=name, revision=commit, repo_type=self.repo_type), done)

    def branch(self, name: str, commit: str) -> None:
        """Begin a branch at a commit, if there is none of that name."""
        self._ask(
            lambda: self._api.create_branch(self.id, branch=name, revision=commit, repo_type=self.repo_type),
            lambda: name in self.existing_refs().branches or None,
        )

    def delete_branch(self, name: str) -> None:
        """Remove a branch, if it exists."""
        self._ask(
            lambda: self._api.delete_branch(self.id, branch=name, repo_type=self.repo_type),
            lambda: name not in self.existing_refs().branches or None,
        )

    def _ask(
        self, call: Callable[[], _T], done: Callable[[], _T | None] = lambda: None, *, moves_files: bool = False
    ) -> _T:
        """Ask, and ask again if that may help, unless `done` finds that a change was carried out."""
        try:
            return ask_with_retries(
                call,
                self.id,
                caught=FAULTS,
                done=lambda fault: done() if fault.again or fault.status in (404, 412) else None,
                moves_files=moves_files,
                patient=self._patient,
            )
        except FaultError as err:
            raise err.error from err.__cause__


def _read_user(who: dict[str, Any]) -> tuple[str, set[str], str, dict[str, Any]]:
    """Return name, namespaces, the token's role, and what a fine-grained one may do."""
    token = who.get("auth", {}).get("accessToken") or {}
    namespaces = {who["name"], *(organization["name"] for organization in who.get("orgs", ()))}
    return who["name"], namespaces, str(token.get("role")), token.get("fineGrained", {})


def _may_write(permissions: Mapping[str, list[Mapping[str, object]]], repo: str) -> bool:
    # A fine-grained token names the repository, or who owns it.
    names = {repo, f"datasets/{repo}", repo.split("/")[0]}
    return any(
        scope.get("entity", {}).get("name") in names and "repo.write" in scope.get("permissions", ())  # type: ignore[attr-defined,operator]
        for scope in permissions.get("scoped", ())
    )
