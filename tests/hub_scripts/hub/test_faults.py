"""What may go wrong between here and the Hub, at every request: faults, lost answers, other people, kills."""

from __future__ import annotations

import os
import re
import shutil
import signal
import threading
from collections.abc import Callable
from http.server import ThreadingHTTPServer
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import HfApi

from builder.round.takedowns import TAKEDOWNS
from hub_scripts.errors import HubError, UnreachableError
from hub_scripts.hub import faults
from hub_scripts.hub import push as pushing
from hub_scripts.hub.checks import verify
from hub_scripts.hub.notices import Replaced
from hub_scripts.hub.push import HowToPush, Ready, checked_folder, push
from hub_scripts.hub.repo import Repo
from standins.hub_server import Fault, Hub, hub_settings
from standins.serving import JsonHandler, serving
from tests.helpers.served import Command

pytestmark = pytest.mark.slow

REPO = "org/academiceval"
KEY = f"datasets/{REPO}"
# The kinds of requests that a push makes before it verifies.
STEPS = (
    "GET /api/whoami-v2",
    "GET /refs",
    "POST /api/repos/create",
    "GET /tree/",
    "GET /commits/",
    "HEAD /resolve/",
    "POST /validate-yaml",
    "POST /preupload/",
    "POST /objects/batch",
    "PUT /__large/",
    "POST /objects/verify",
    "POST /commit/",
    "POST /tag/",
)
FAULTS = {
    "401": Fault(401),
    "403": Fault(403),
    "409": Fault(409),
    "429": Fault(429, headers=(("Retry-After", "1"),)),
    "500": Fault(500),
    "504 after it was done": Fault(504, applied=True),
    "dropped": Fault(0),
    "dropped after it was done": Fault(0, applied=True),
}


@pytest.fixture(scope="module")
def ready(two_rounds: tuple[Path, Path]) -> Ready:
    """A folder to upload whose checks have passed."""
    return checked_folder(two_rounds[0], "redistributable")


@pytest.fixture
def quick(ready: Ready, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """A push without its local checks and its verification; what it says."""
    _shorten(ready, monkeypatch.setattr)
    return lambda yes=True: "\n".join(push(ready.folder, REPO, "redistributable", HowToPush(yes=yes)))


def every(number: int, cases: list[tuple[Any, ...]]) -> list[pytest.ParameterSet]:
    """Cases of a matrix, of which one in so many is tried by default and the others on request."""
    return [pytest.param(*case, marks=() if i % number == 0 else pytest.mark.long) for i, case in enumerate(cases)]


def _shorten(ready: Ready, replace: Callable[[object, str, object], None]) -> None:
    replace(pushing, "checked_folder", lambda source, licenses: ready)
    replace(pushing, "verify", lambda repo, revision: iter(()))


def _matches(step: str, method: str, path: str) -> bool:
    wanted, _, part = step.partition(" ")
    return method == wanted and part in path


def _state(hub: Hub) -> Any:
    """All that a later reader can see: tags and branches, of each the commits with their titles and files, and whether main has its last."""
    repo = hub.repos[KEY]
    histories = {
        name: [(one.title, {path: blob.sha256 for path, blob in one.tree.items()}) for one in repo.history(name)]
        for name in (*repo.tags, *repo.branches)
    }
    on_main = {one.id for one in repo.history("main")}
    ends = {name: commit in on_main for name, commit in (repo.tags | repo.branches).items()}
    return sorted(repo.tags), sorted(repo.branches), histories, ends


@pytest.fixture
def undisturbed(states: dict[str, Any], hub: Hub, quick: Callable[[], str]) -> Any:
    """The state that a push without faults ends in."""
    if "undisturbed" not in states:
        quick()
        states["undisturbed"] = _state(hub)
        hub.reset()
    return states["undisturbed"]


def _disturb(hub: Hub, step: str, fault: Fault, which: int = 0) -> list[str]:
    """Let one of the requests of a kind meet a fault; the list is of those that were made."""
    seen: list[str] = []

    def answer(number: int, method: str, path: str) -> Fault | None:
        if not _matches(step, method, path):
            return None
        seen.append(path)
        return fault if len(seen) == which + 1 else None

    hub.fault = answer
    return seen


def _untouched(hub: Hub) -> bool:
    return KEY not in hub.repos or len(hub.repos[KEY].history("main")) == 1


def test_the_steps_are_those_of_a_push(hub: Hub, quick: Callable[[], str]) -> None:
    quick()
    for method, path in hub.log:
        if path == "/api/agent-harnesses":
            continue  # the client asks it once, for its own ends
        assert any(_matches(step, method, path) for step in STEPS), (method, path)
    for step in STEPS:
        assert any(_matches(step, method, path) for method, path in hub.log), step


@pytest.mark.parametrize(("fault", "step"), every(7, list(product(FAULTS, STEPS))))
def test_one_fault(step: str, fault: str, hub: Hub, quick: Callable[[], str], undisturbed: Any) -> None:
    """A push that meets one fault ends well, or says in a sentence why not; the next one ends in the same state."""
    seen = _disturb(hub, step, FAULTS[fault])
    try:
        quick()
    except HubError as err:
        assert fault in ("401", "403", "409"), err
        assert REPO in str(err)
        assert "\n" not in str(err)
        assert _untouched(hub) or _state(hub)[2]["main"] == undisturbed[2]["main"]
        if "tag" not in step:
            assert _untouched(hub) or not hub.repos[KEY].tags or _state(hub) == undisturbed
    else:
        assert _state(hub) == undisturbed
    assert seen
    quick()
    assert _state(hub) == undisturbed


# Kinds of requests of a verification, and which of them: the download of files, load_dataset, streaming.
VERIFYING = (
    ("GET /refs", 0),
    ("GET /revision/", 0),
    ("HEAD .parquet", 0),
    ("GET .parquet", 0),
    ("GET .parquet", 20),
    ("GET /manifest.json", 0),
    ("HEAD /resolve/2026.11/README.md", 0),
    ("HEAD /academiceval.py", 3),
)


@pytest.mark.parametrize(
    ("step", "which", "fault"), every(5, [(*step, fault) for step in VERIFYING for fault in ("500", "dropped")])
)
def test_a_fault_while_verifying_is_no_difference(
    step: str, which: int, fault: str, hub: Hub, quick: Callable[[], str]
) -> None:
    quick()
    seen = _disturb(hub, step, FAULTS[fault], which)
    assert "every hash" in "".join(verify(Repo(REPO), "2026.11"))
    assert len(seen) > which


def test_a_hub_that_goes_away_while_verifying_is_no_difference(hub: Hub, quick: Callable[[], str]) -> None:
    quick()
    hub.fault = lambda n, method, path: Fault(0) if path.endswith("/academiceval.py") else None
    with pytest.raises(UnreachableError, match="does not answer"):
        list(verify(Repo(REPO), "2026.11"))


@pytest.mark.parametrize("step", ["POST /commit/", "POST /tag/", "POST /api/repos/create", "GET /refs"])
def test_a_hub_that_stays_away(step: str, hub: Hub, quick: Callable[[], str]) -> None:
    hub.fault = lambda number, method, path: Fault(503) if _matches(step, method, path) else None
    with pytest.raises(HubError, match="answered 503"):
        quick()


def test_waits_as_long_as_it_is_told(hub: Hub, quick: Callable[[], str], monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)
    _disturb(hub, "POST /tag/", Fault(429, headers=(("Retry-After", "77"),)))
    quick()
    assert 77.0 in waits


def test_somebody_else_pushes_meanwhile(hub: Hub, quick: Callable[[], str]) -> None:
    def intrude() -> None:
        repo = hub.repos[KEY]
        hub.fault = lambda number, method, path: None
        repo.add("main", "by hand", "", dict(repo.resolve("main").tree))

    def fault(number: int, method: str, path: str) -> Fault | None:
        if _matches("POST /preupload/", method, path):
            intrude()
        return None

    Repo(REPO).create(private=False)
    hub.fault = fault
    with pytest.raises(HubError, match="somebody else has pushed"):
        quick()
    assert [one.title for one in hub.repos[KEY].history("main")] == ["by hand", "initial commit"]
    assert not hub.repos[KEY].tags
    quick()
    assert [one.title for one in hub.repos[KEY].history("main")][:2] == ["Revision 2026.11", "by hand"]


def test_a_tag_that_somebody_else_took(hub: Hub, quick: Callable[[], str]) -> None:
    Repo(REPO).create(private=False)
    repo = hub.repos[KEY]

    def fault(number: int, method: str, path: str) -> Fault | None:
        if _matches("POST /tag/", method, path):
            repo.tags["2026.11"] = repo.history("main")[-1].id
        return None

    hub.fault = fault
    with pytest.raises(HubError, match="a published tag never moves"):
        quick()
    assert repo.tags["2026.11"] == repo.history("main")[-1].id


def _child(url: str, home: Path, ready: Ready, replaces: Replaced | None) -> None:
    """In a process of its own: a push."""
    import importlib

    for target, value in hub_settings(url, home).items():
        module, _, name = target.rpartition(".")
        setattr(importlib.import_module(module), name, value)
    os.environ["HF_TOKEN"] = "hf_write"
    _shorten(ready, setattr)
    list(push(ready.folder, REPO, "redistributable", HowToPush(yes=True), replaces=replaces))


def _killed_at(
    hub: Hub, number: int, applied: bool, ready: Ready, home: Path, replaces: Replaced | None = None
) -> bool:
    """Push in a child that is killed at one of its requests; whether it came that far."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["hub_scripts.hub.push", "tests.hub_scripts.hub.test_faults"])
    child = context.Process(target=_child, args=(hub.url, home, ready, replaces))
    killed: list[int] = []

    def kill() -> None:
        assert child.pid is not None
        killed.append(child.pid)
        os.kill(child.pid, signal.SIGKILL)
        child.join()

    start = len(hub.log)
    hub.fault = lambda n, method, path: Fault(0, applied=applied, call=kill) if n - start == number else None
    child.start()
    child.join()
    hub.fault = lambda n, method, path: None
    if not killed:
        assert child.exitcode == 0
    return bool(killed)


def _writes_only(hub: Hub) -> list[int]:
    """The numbers of the requests that may change something."""
    reads = re.compile(r"validate-yaml|preupload|objects/batch|objects/verify|paths-info")
    return [i for i, (method, path) in enumerate(hub.log) if method not in ("GET", "HEAD") and not reads.search(path)]


@pytest.mark.parametrize("applied", every(2, [(False,), (True,)]))
def test_killed_at_every_step_of_a_push(
    applied: bool, hub: Hub, ready: Ready, quick: Callable[[], str], tmp_path: Path
) -> None:
    quick()
    wanted, numbers = _state(hub), _writes_only(hub)
    for number in numbers:
        hub.reset()
        assert _killed_at(hub, number, applied, ready, tmp_path / "home")
        quick()
        assert _state(hub) == wanted, number


@pytest.mark.usefixtures("both")
@pytest.mark.parametrize(
    ("revision", "applied", "each"),
    every(
        5,
        [
            ("2026.11", False, 4),
            ("2026.11", False, 1),
            ("2026.12", False, 1),
            ("2026.11", True, 1),
            ("2026.12", True, 1),
        ],
    ),
)
def test_killed_at_every_step_of_a_replacement(
    revision: str,
    applied: bool,
    each: int,
    hub: Hub,
    two_rounds: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The newest round, and an older one of which main is told; in both a paper is taken down."""
    folder = tmp_path / "round" / "academiceval"
    shutil.copytree(two_rounds[("2026.11", "2026.12").index(revision)], folder)
    whole = checked_folder(folder, "redistributable")
    paper = sorted(whole.contents.papers)[0]
    (tmp_path / "round" / TAKEDOWNS).write_text(f'{{"id": "{paper}"}}\n')
    _shorten(whole, monkeypatch.setattr)
    replaces = Replaced(revision, "wrong split")
    before = hub.save()

    def resume() -> None:
        list(push(whole.folder, REPO, "redistributable", HowToPush(yes=True), replaces=replaces))

    resume()
    # That a large file was sent is nothing that anybody sees; the test of a push has those requests too.
    wanted = _state(hub)
    numbers = [number for number in _writes_only(hub) if "/__large/" not in hub.log[number][1]]
    assert f"{revision}.post1" in wanted[0]
    assert paper in hub.files(KEY, f"{revision}.post1")[TAKEDOWNS].data.decode()
    # Commit and tag; of an older round also its branch, and main's commit.
    assert len(numbers) >= (2 if revision == "2026.12" else 5)
    for number in numbers[::each]:
        hub.load(before)
        assert _killed_at(hub, number, applied, whole, tmp_path / "home", replaces)
        resume()
        assert _state(hub) == wanted, number


@pytest.mark.parametrize(("deadline", "options"), [("DEADLINE", {}), ("DEADLINE_OF_QUESTIONS", {"moves_files": False})])
def test_a_hub_that_drips_is_given_up(deadline: str, options: dict[str, bool], monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte every tenth of a second ends no wait for the next byte; the request ends all the same, a question sooner than an upload."""
    monkeypatch.setattr(faults, deadline, 0.05)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    ended = threading.Event()
    with pytest.raises(faults.FaultError, match="does not answer"):
        faults.ask_with_retries(lambda: ended.wait(60), "org/x", caught=faults.FAULTS, **options)
    ended.set()


def test_without_a_network_only_short_waits_are_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask() -> None:
        raise httpx_error() from OSError(-2, "Name or service not known")

    httpx_error = type(
        "ConnectError", (faults.HTTPError,), {"__init__": lambda self: Exception.__init__(self, "no name")}
    )
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)
    with pytest.raises(
        faults.FaultError, match=r"the Hub, https?://\S+, cannot be found \(no name\); check the network"
    ):
        faults.ask_with_retries(ask, "org/x", caught=faults.FAULTS)
    assert waits == list(faults.WAITS[:3])


@pytest.mark.parametrize(
    "answer", [b"[]", b"null", b'{"foo": [1, 2]}', b"<html>", b"\xff\x00", b'{"branches": [{}], "tags": []}']
)
@pytest.mark.usefixtures("hub")
def test_a_server_that_is_not_the_hub(answer: bytes, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    class Other(JsonHandler):
        def do_GET(self) -> None:
            self.send(200, answer)

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Other)) as url:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", url)
        code, _, err = command("verify", REPO, "--revision", "2026.11")
    assert (code, err.count("\n")) == (1, 1), err
    assert f"{url} answered, but not as the Hub does" in err


def test_a_first_push_overwrites_nobodys_files(hub: Hub, quick: Callable[..., str]) -> None:
    HfApi().create_repo(REPO, repo_type="dataset")
    HfApi().upload_file(path_or_fileobj=b"mine", path_in_repo="README.md", repo_id=REPO, repo_type="dataset")
    for yes in (False, True):
        with pytest.raises(HubError, match=r"README\.md"):
            quick(yes=yes)
    assert set(hub.files(KEY)) - {".gitattributes"} == {"README.md"}


def test_a_token_of_one_repository_is_enough_for_it(
    hub: Hub, quick: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused for others: tests/hub_scripts/hub/test_hub.py."""
    monkeypatch.setenv("HF_TOKEN", "hf_fine")
    quick()
    assert set(hub.repos[KEY].tags) == {"2026.11"}
    assert "every hash" in "".join(verify(Repo(REPO), "2026.11"))
