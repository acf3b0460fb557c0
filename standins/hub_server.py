"""A loopback server that speaks as much of the Hub's HTTP API as its client needs, with faults on demand.

https://huggingface.co/docs/hub/api; large files as in https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md.
"""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import os
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from standins.serving import JsonHandler, serving
from standins.xet_store import XetStore

ROOT = Path(__file__).resolve().parents[1]
BIG = 10 << 20  # bytes from which any file is a large one
USERS = {
    "hf_write": {"name": "ann", "role": "write", "orgs": ["org", "ORG", "my-org"]},
    "hf_read": {"name": "ann", "role": "read", "orgs": ["org"]},
    "hf_other": {"name": "bob", "role": "write", "orgs": []},
    "hf_fine": {"name": "ann", "role": "fineGrained", "orgs": ["org"], "scoped": ["org/academiceval"]},
}


@dataclass
class Blob:
    """One file's content; `large` ones are kept by their sha256 and named by a pointer."""

    data: bytes
    large: bool

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @property
    def oid(self) -> str:
        data = f"version 1\noid sha256:{self.sha256}\nsize {len(self.data)}\n".encode() if self.large else self.data
        return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


@dataclass
class Commit:
    id: str
    parent: str | None
    title: str
    message: str
    tree: dict[str, Blob]


@dataclass
class Repository:
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    commits: dict[str, Commit] = field(default_factory=dict)
    # Titles of open pull requests, and the paths that each would change.
    proposals: list[str] = field(default_factory=list)
    proposed: list[set[str]] = field(default_factory=list)

    def add(self, branch: str, title: str, message: str, tree: dict[str, Blob]) -> str:
        parent = self.branches.get(branch)
        facts = [parent, title, message, sorted((path, blob.oid) for path, blob in tree.items())]
        id_ = hashlib.sha1(json.dumps(facts).encode()).hexdigest()
        self.commits[id_] = Commit(id_, parent, title, message, tree)
        self.branches[branch] = id_
        return id_

    def resolve(self, revision: str) -> Commit:
        id_ = self.branches.get(revision) or self.tags.get(revision) or revision
        if id_ not in self.commits:
            raise Answer(404, {"error": f"Invalid rev id: {revision}"}, {"X-Error-Code": "RevisionNotFound"})
        return self.commits[id_]

    def history(self, revision: str) -> list[Commit]:
        one: Commit | None = self.resolve(revision)
        found = []
        while one is not None:
            found.append(one)
            one = self.commits.get(one.parent or "")
        return found


class Answer(Exception):
    """What to send; raised when nothing more is to be done."""

    def __init__(self, status: int, body: Any = b"", headers: dict[str, str] | None = None) -> None:
        self.status, self.headers = status, headers or {}
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()


@dataclass(frozen=True)
class Fault:
    """Done to a request instead of answering it.

    Attributes:
        status: to answer; 0 drops the connection.
        applied: whether the request is carried out first, so that only its answer is lost.
        call: done at that point, e.g. to kill the client.
    """

    status: int
    applied: bool = False
    headers: tuple[tuple[str, str], ...] = ()
    call: Callable[[], None] | None = None


@dataclass
class Hub:
    """The server's state.

    Attributes:
        fault: (number of the request from 0, method, path) -> what to do to it.
        log: method and path of every request.
    """

    url: str = ""
    repos: dict[str, Repository] = field(default_factory=dict)
    large: dict[str, bytes] = field(default_factory=dict)
    log: list[tuple[str, str]] = field(default_factory=list)
    fault: Callable[[int, str, str], Fault | None] = lambda number, method, path: None
    xet: XetStore = field(default_factory=XetStore)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def reset(self) -> None:
        """Go back to an empty Hub without faults."""
        self.repos.clear()
        self.large.clear()
        self.log.clear()
        self.fault = lambda number, method, path: None

    def save(self) -> tuple[dict[str, Repository], dict[str, bytes]]:
        """Return a copy of all that it holds, for `load`."""
        return copy.deepcopy((self.repos, self.large))

    def load(self, saved: tuple[dict[str, Repository], dict[str, bytes]]) -> None:
        """Hold what was saved, and nothing else."""
        self.reset()
        self.repos, self.large = copy.deepcopy(saved)

    def forget_datasets(self) -> None:
        """Drop all repositories but those of models."""
        self.repos = {key: repo for key, repo in self.repos.items() if key.startswith("models/")}

    def add_model(self, id_: str, folder: Path) -> None:
        """Add a model repository with the files of a folder."""
        tree = {path.name: Blob(path.read_bytes(), False) for path in sorted(folder.iterdir())}
        repo = self.repos[f"models/{id_}"] = Repository()
        repo.add("main", "initial commit", "", {".gitattributes": Blob(b"", False), **tree})

    def files(self, kind_and_id: str, revision: str = "main") -> dict[str, Blob]:
        """Return the path -> content of what a reader of a revision sees."""
        return self.repos[kind_and_id].resolve(revision).tree

    def repo(self, kind_and_id: str) -> Repository:
        if kind_and_id not in self.repos:
            raise Answer(404, {"error": "Repository not found"}, {"X-Error-Code": "RepoNotFound"})
        return self.repos[kind_and_id]


_REPO = r"/api/(models|datasets)/([\w.-]+/[\w.-]+)"
_GIT = r"/(?:(datasets)/)?([\w.-]+/[\w.-]+?)"


class Requests:
    """One method for each kind of request; each raises its Answer."""

    def __init__(self, hub: Hub, token: str, query: dict[str, list[str]], body: bytes, headers: Any) -> None:
        self.hub, self.token, self.query, self.body, self.headers = hub, token, query, body, headers

    def whoami(self) -> None:
        if self.token not in USERS:
            raise Answer(401, {"error": "Invalid credentials in Authorization header"})
        user = USERS[self.token]
        token: dict[str, Any] = {"displayName": "t", "role": user["role"]}
        if "scoped" in user:
            names = user["scoped"]
            token["fineGrained"] = {
                "scoped": [
                    {"entity": {"type": "dataset", "name": name}, "permissions": ["repo.write"]} for name in names
                ]
            }
        orgs = [{"name": name} for name in user["orgs"]]
        raise Answer(200, {"type": "user", "name": user["name"], "orgs": orgs, "auth": {"accessToken": token}})

    def may_write(self, repo: str) -> None:
        user = USERS.get(self.token)
        if user is None:
            raise Answer(401, {"error": "Invalid username or password."})
        if user["role"] == "read" or repo.split("/")[0] not in (user["name"], *user["orgs"]):
            raise Answer(403, {"error": "Forbidden: you must use a write token to upload to a repository."})

    def create(self) -> None:
        asked = json.loads(self.body)
        id_ = f"{asked['organization']}/{asked['name']}"
        self.may_write(id_)
        key, url = f"{asked.get('type', 'model')}s/{id_}", f"{self.hub.url}/{id_}"
        if key in self.hub.repos:
            raise Answer(409, {"error": "You already created this repo", "url": url})
        repo = self.hub.repos[key] = Repository()
        lfs = "".join(f"*.{kind} filter=lfs diff=lfs merge=lfs -text\n" for kind in ("parquet", "zst", "png"))
        repo.add("main", "initial commit", "", {".gitattributes": Blob(lfs.encode(), False)})
        raise Answer(200, {"url": url})

    def validate(self) -> None:
        raise Answer(200, {"errors": [], "warnings": []})

    def info(self, kind: str, id_: str, revision: str = "main") -> None:
        commit = self.hub.repo(f"{kind}/{id_}").resolve(revision)
        files = [{"rfilename": path} for path in sorted(commit.tree)]
        raise Answer(200, {"id": id_, "sha": commit.id, "private": False, "siblings": files, "tags": []})

    def refs(self, kind: str, id_: str) -> None:
        repo = self.hub.repo(f"{kind}/{id_}")
        listed = {
            name: [{"name": k, "ref": f"refs/{where}/{k}", "targetCommit": v} for k, v in sorted(refs.items())]
            for name, where, refs in (("branches", "heads", repo.branches), ("tags", "tags", repo.tags))
        }
        raise Answer(200, {**listed, "converts": []})

    def add_ref(self, kind: str, id_: str, what: str, name: str) -> None:
        self.may_write(id_)
        repo, asked = self.hub.repo(f"{kind}/{id_}"), json.loads(self.body or b"{}")
        refs = repo.tags if what == "tag" else repo.branches
        new = asked["tag"] if what == "tag" else name
        start = repo.resolve(name if what == "tag" else asked.get("startingPoint") or "main")
        if new in refs:
            raise Answer(409, {"error": "Reference exists already"})
        refs[new] = start.id
        raise Answer(200, {})

    def drop_branch(self, kind: str, id_: str, name: str) -> None:
        self.may_write(id_)
        if self.hub.repo(f"{kind}/{id_}").branches.pop(name, None) is None:
            raise Answer(404, {"error": "no such branch"}, {"X-Error-Code": "RevisionNotFound"})
        raise Answer(200, {})

    def commits(self, kind: str, id_: str, revision: str) -> None:
        found = self.hub.repo(f"{kind}/{id_}").history(revision)
        raise Answer(
            200,
            [
                {
                    "id": one.id,
                    "title": one.title,
                    "message": one.message,
                    "date": "2026-11-20T00:00:00.000Z",
                    "authors": [],
                }
                for one in found
            ],
        )

    def tree(self, kind: str, id_: str, revision: str, path: str | None) -> None:
        tree, below = self.hub.repo(f"{kind}/{id_}").resolve(revision).tree, (path or "").strip("/")
        inside = {name: blob for name, blob in tree.items() if not below or name.startswith(f"{below}/")}
        deep = self.query.get("recursive", ["false"])[0].lower() in ("true", "1")
        cut = len(below) + 1 if below else 0
        entries = [_entry(name, blob) for name, blob in inside.items() if deep or "/" not in name[cut:]]
        folders = {name[: i + cut] for name in inside for i in _slashes(name[cut:], deep)}
        entries += [
            {"type": "directory", "path": name, "oid": hashlib.sha1(name.encode()).hexdigest(), "size": 0}
            for name in folders
        ]
        if below and not inside:
            raise Answer(404, {"error": "not found"}, {"X-Error-Code": "EntryNotFound"})
        raise Answer(200, sorted(entries, key=lambda entry: str(entry["path"])))

    def paths(self, kind: str, id_: str, revision: str) -> None:
        tree = self.hub.repo(f"{kind}/{id_}").resolve(revision).tree
        if "json" in (self.headers.get("Content-Type") or ""):
            asked = json.loads(self.body)["paths"]
        else:
            asked = parse_qs(self.body.decode()).get("paths", [])
        found = [_entry(path, tree[path]) for path in asked if path in tree]
        folders = [path for path in asked if any(name.startswith(f"{path}/") for name in tree)]
        found += [{"type": "directory", "path": path, "oid": "0" * 40, "size": 0} for path in folders]
        raise Answer(200, found)

    def preupload(self, kind: str, id_: str, revision: str) -> None:
        if self.query.get("create_pr") != ["1"]:
            self.may_write(id_)
        commit = self.hub.repo(f"{kind}/{id_}").resolve(revision)
        found = []
        for file in json.loads(self.body)["files"]:
            large = file["path"].endswith((".parquet", ".zst", ".png")) or file["size"] > BIG
            there = commit.tree.get(file["path"])
            known = {"oid": there.sha256 if there.large else there.oid} if there else {}
            found.append(
                {"path": file["path"], "uploadMode": "lfs" if large else "regular", "shouldIgnore": False, **known}
            )
        raise Answer(200, {"files": found, "commitOid": commit.id})

    def batch(self, kind: str | None, id_: str) -> None:
        self.may_write(id_)
        found = []
        for one in json.loads(self.body)["objects"]:
            known = one["oid"] in self.hub.large
            put = {
                "upload": {"href": f"{self.hub.url}/__large/{one['oid']}"},
                "verify": {"href": f"{self.hub.url}/{kind or 'models'}/{id_}.git/info/lfs/objects/verify"},
            }
            found.append({"oid": one["oid"], "size": one["size"], **({} if known else {"actions": put})})
        raise Answer(200, {"transfer": "basic", "objects": found})

    def put(self, sha256: str) -> None:
        if hashlib.sha256(self.body).hexdigest() != sha256:
            raise Answer(400, b"other bytes than announced")
        self.hub.large[sha256] = self.body
        raise Answer(200)

    def verify(self, kind: str | None, id_: str) -> None:
        raise Answer(200 if json.loads(self.body)["oid"] in self.hub.large else 404, {})

    def discussions(self, kind: str, id_: str) -> None:
        titles = self.hub.repo(f"{kind}/{id_}").proposals
        found = [
            {
                "num": number,
                "title": title,
                "status": "open",
                "isPullRequest": True,
                "author": {"name": "ann"},
                "createdAt": "2026-11-20T00:00:00.000Z",
                "repo": {"name": id_, "type": kind.removesuffix("s")},
            }
            for number, title in enumerate(titles, 1)
        ]
        raise Answer(200, {"discussions": found, "count": len(found), "start": 0})

    def commit(self, kind: str, id_: str, branch: str) -> None:
        repo = self.hub.repo(f"{kind}/{id_}")
        if self.query.get("create_pr") == ["1"]:
            titles = repo.proposals
            titles.append(json.loads(self.body.splitlines()[0])["value"]["summary"])
            repo.proposed.append({json.loads(line)["value"].get("path") for line in self.body.splitlines()[1:]})
            address = f"{self.hub.url}/{id_}"
            made = {"commitOid": "0" * 40, "commitUrl": f"{address}/commit/{'0' * 40}"}
            raise Answer(200, {"success": True, **made, "pullRequestUrl": f"{address}/discussions/{len(titles)}"})
        self.may_write(id_)
        lines = [json.loads(line) for line in self.body.splitlines() if line.strip()]
        header = lines[0]["value"]
        if header.get("parentCommit") not in (None, repo.resolve(branch).id):
            raise Answer(412, {"error": "A commit has happened since. Please refresh and try again."})
        tree = dict(repo.resolve(branch).tree)
        for line in lines[1:]:
            value = line["value"]
            if line["key"] == "file":
                tree[value["path"]] = Blob(base64.b64decode(value["content"]), False)
            elif line["key"] == "lfsFile":
                if value["oid"] not in self.hub.large:
                    raise Answer(400, {"error": "an LFS pointer points to a file that does not exist"})
                tree[value["path"]] = Blob(self.hub.large[value["oid"]], True)
            elif line["key"] == "deletedFile":
                if tree.pop(value["path"], None) is None:
                    raise Answer(
                        404, {"error": "A file with this name doesn't exist"}, {"X-Error-Code": "EntryNotFound"}
                    )
            else:
                raise Answer(400, {"error": f"unknown {line['key']}"})
        commit = repo.add(branch, header["summary"], header.get("description", ""), tree)
        raise Answer(200, {"success": True, "commitOid": commit, "commitUrl": f"{self.hub.url}/{id_}/commit/{commit}"})

    def xet_token(self, kind: str, id_: str) -> None:
        self.may_write(id_)
        store, end = f"{self.hub.url}/__xet", "4102444800"
        headers = {"X-Xet-Cas-Url": store, "X-Xet-Token-Expiration": end, "X-Xet-Access-Token": "xet"}
        raise Answer(200, {"casUrl": store, "exp": int(end), "accessToken": "xet"}, headers)

    def xorb(self, hash_: str) -> None:
        self.hub.xet.add_xorb(hash_, self.body)
        raise Answer(200, {"was_inserted": True})

    def shard(self) -> None:
        self.hub.large.update(self.hub.xet.files(self.body))
        raise Answer(200, {"result": 1})

    def resolve(self, kind: str | None, id_: str, revision: str, path: str) -> None:
        commit = self.hub.repo(f"{kind or 'models'}/{id_}").resolve(revision)
        if path not in commit.tree:
            raise Answer(404, {"error": "Entry not found"}, {"X-Error-Code": "EntryNotFound"})
        blob = commit.tree[path]
        headers = {
            "X-Repo-Commit": commit.id,
            "Accept-Ranges": "bytes",
            "ETag": f'"{blob.sha256 if blob.large else blob.oid}"',
        }
        match = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        if not match:
            raise Answer(200, blob.data, {**headers, "Content-Type": "application/octet-stream"})
        start, end = int(match[1]), min(int(match[2] or len(blob.data)), len(blob.data) - 1)
        if start > end:
            raise Answer(416, b"", {"Content-Range": f"bytes */{len(blob.data)}"})
        headers["Content-Range"] = f"bytes {start}-{end}/{len(blob.data)}"
        raise Answer(206, blob.data[start : end + 1], headers)


_ROUTES: tuple[tuple[str, str, Callable[..., None]], ...] = (
    ("GET", r"/api/whoami-v2", Requests.whoami),
    ("POST", r"/api/repos/create", Requests.create),
    ("POST", r"/api/validate-yaml", Requests.validate),
    ("GET", _REPO, Requests.info),
    ("GET", _REPO + r"/revision/([^/]+)", Requests.info),
    ("GET", _REPO + r"/refs", Requests.refs),
    ("POST", _REPO + r"/(tag|branch)/([^/]+)", Requests.add_ref),
    ("DELETE", _REPO + r"/branch/([^/]+)", Requests.drop_branch),
    ("GET", _REPO + r"/commits/([^/]+)", Requests.commits),
    ("GET", _REPO + r"/tree/([^/]+)(/.*)?", Requests.tree),
    ("POST", _REPO + r"/paths-info/([^/]+)", Requests.paths),
    ("POST", _REPO + r"/preupload/([^/]+)", Requests.preupload),
    ("POST", _REPO + r"/commit/([^/]+)", Requests.commit),
    ("GET", _REPO + r"/discussions", Requests.discussions),
    ("POST", _GIT + r"\.git/info/lfs/objects/batch", Requests.batch),
    ("POST", _GIT + r"\.git/info/lfs/objects/verify", Requests.verify),
    ("PUT", r"/__large/([0-9a-f]{64})", Requests.put),
    ("GET", _REPO + r"/xet-write-token/[^/]+", Requests.xet_token),
    ("POST", r"/__xet/v1/xorbs/default/([0-9a-f]{64})", Requests.xorb),
    ("POST", r"/__xet/v1/shards", Requests.shard),
    ("GET", _GIT + r"/resolve/([^/]+)/(.+)", Requests.resolve),
)


def _entry(path: str, blob: Blob) -> dict[str, Any]:
    large = {"lfs": {"oid": blob.sha256, "size": len(blob.data), "pointerSize": 100}} if blob.large else {}
    return {"type": "file", "path": path, "oid": blob.oid, "size": len(blob.data), **large}


def _slashes(name: str, deep: bool) -> list[int]:
    found = [i for i, letter in enumerate(name) if letter == "/"]
    return found if deep else found[:1]


class Handler(JsonHandler):
    """Looks for a fault, then for the method that answers."""

    hub: Hub

    def handle_any(self) -> None:
        body = self._body()
        with self.hub.lock:
            number = len(self.hub.log)
            self.hub.log.append((self.command, self.path))
            fault = self.hub.fault(number, self.command, self.path)
            answer = None if fault and not fault.applied else self._answer(body)
        if fault is not None:
            if fault.call:
                fault.call()
            if fault.status == 0:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            answer = Answer(fault.status, {"error": f"fault {fault.status}"}, dict(fault.headers))
        assert answer is not None
        self.send(answer.status, answer.body, answer.headers)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = handle_any

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        data = b""
        while size := int(self.rfile.readline(), 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return data

    def _answer(self, body: bytes) -> Answer:
        split = urlsplit(self.path)
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        requests = Requests(self.hub, token, parse_qs(split.query), body, self.headers)
        method = "GET" if self.command == "HEAD" else self.command
        for wanted, pattern, answer in _ROUTES:
            if method == wanted and (match := re.fullmatch(pattern, split.path)):
                groups = [unquote(group) if group is not None else None for group in match.groups()]
                try:
                    answer(requests, *groups)
                except Answer as given:
                    return given
        return Answer(404, {"error": f"no such page: {self.command} {self.path}"})


@contextmanager
def serve() -> Iterator[Hub]:
    """Serve on a free loopback port."""
    hub = Hub()
    handler = type("OneHandler", (Handler,), {"hub": hub})
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), handler)) as hub.url:
        yield hub


def hub_environment(url: str, home: Path) -> dict[str, str]:
    """Return the environment of a process that takes this Hub for the real one, and may write to it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    return kept | {
        "HF_ENDPOINT": url,
        "HF_TOKEN": "hf_write",
        "HF_HOME": str(home),
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "PYTHONPATH": str(ROOT),
        "OPENAI_API_KEY": "made-up",
    }


def hub_settings(url: str, home: Any) -> dict[str, Any]:
    """Return what the clients read from the environment when they are imported."""
    return {
        "huggingface_hub.constants.HF_HUB_OFFLINE": False,
        "huggingface_hub.constants.HF_HUB_DISABLE_XET": True,
        "huggingface_hub.constants.ENDPOINT": url,
        "huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE": url + "/{repo_id}/resolve/{revision}/{filename}",
        "huggingface_hub.constants.HF_HUB_CACHE": str(home / "hub"),
        "huggingface_hub.constants.HF_XET_CACHE": str(home / "xet"),
        "datasets.config.HF_ENDPOINT": url,
        "datasets.config.HF_HUB_OFFLINE": False,
        "datasets.config.HF_DATASETS_CACHE": str(home / "datasets"),
    }
