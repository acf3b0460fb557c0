"""A month in one command: over a made-up arXiv, a Hub and a model server on this machine, with kills."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hub_scripts.results.leaderboard import FILE
from tests.helpers import hub_server as hub_servers
from tests.helpers import openai_server
from tests.helpers.hub_server import Hub
from tests.helpers.month import Place, make_place
from tests.helpers.papers import SMALL_ROUND

pytestmark = pytest.mark.slow

# More of them by hand: KILLS=20.
KILLS = int(os.environ.get("KILLS", "3"))
Command = Callable[..., tuple[int, str, str]]
ROUND = SMALL_ROUND.format(settings='["Abs-9K", "Title-10K"]')
LIVE = """
repo = "org/academiceval"
results_repo = "org/results"
space = "org/board"
max_cost = 10.0
[judge]
model = "judge-a"
base_url = "{url}"
prices = "prices.toml"
"""
PRICES = """
["made-up"]
input = 1.0
output = 2.0
["judge-a"]
input = 1.0
output = 2.0
"""
OWN = """
model: local-chat-completions
model_args: {{model: made-up, base_url: "{url}/chat/completions", num_concurrent: 4}}
apply_chat_template: true
tasks: [academiceval_abs_9k]
prices: prices.toml
metadata: {{bertscore_model: none}}
"""


def _answer(body: dict[str, Any]) -> dict[str, Any]:
    """Of a model a text, of the judge a verdict; with usage, so that both cost something."""
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
    text = openai_server.FIRST_WINS if body["model"] == "judge-a" else "We study how readers read."
    return {"content": text, "usage": usage}


@pytest.fixture(scope="module")
def server() -> Iterator[openai_server.Server]:
    with openai_server.serve(_answer) as serving:
        yield serving


def _place(path: Path, hub: Hub, url: str) -> Place:
    texts = {
        "round.toml": ROUND,
        "live.toml": LIVE.format(url=url),
        "prices.toml": PRICES,
        "own.yaml": OWN.format(url=url),
        "lead.yaml": "model: lead\ntasks: [academiceval_abs_9k]\nmetadata: {bertscore_model: none}\n",
        "models.toml": '[lead]\nconfig = "lead.yaml"\n[own]\nconfig = "own.yaml"\ncard = "org/own"\n',
    }
    return make_place(path, hub, texts)


# A file of results has its hash in its name, and times in its content.
_ADDRESS = re.compile(rb"-[0-9a-f]{8}(?=\.json)")


def _on(hub: Hub) -> dict[str, dict[str, str | bytes]]:
    """Repository -> path -> what its readers see."""
    return {
        name: {
            path: _ADDRESS.sub(b"", blob.data) if path == "README.md" else blob.sha256
            for path, blob in repo.resolve("main").tree.items()
            if not path.startswith("own/") and "results" not in path
        }
        for name, repo in sorted(hub.repos.items())
    }


@pytest.mark.long
def test_a_month_killed_anywhere_ends_as_one_that_was_not(tmp_path: Path, server: openai_server.Server) -> None:
    month = ("--round", "2026.11", "--yes")
    with hub_servers.serve() as hub:
        place = _place(tmp_path / "month", hub, server.url)
        code, out, errors = place.live(*month[:2])
        assert (code, "this is the plan" in out) == (0, True), errors
        assert not hub.log
        assert not (place.path / "work").exists()
        assert not (place.path / "results").exists()
        code, out, errors = place.live(*month)
        assert code == 0, errors
        expected, undisturbed = _on(hub), place.results()
        assert set(expected) == {
            "datasets/org/academiceval",
            "datasets/org/results",
            "models/org/own",
            "spaces/org/board",
        }
        # A leaderboard is for SCALAR alone, which this round does not have.
        assert FILE not in hub.repos["models/org/own"].resolve("main").tree
        # Nothing is new: nothing is asked, nothing is written.
        hub.log.clear()
        asked = len(server.requests)
        code, out, errors = place.live(*month)
        assert (code, "nothing is new" in out, hub.log, len(server.requests)) == (0, True, [], asked), errors

        shutil.rmtree(place.path)
        hub.reset()
        place = _place(tmp_path / "month", hub, server.url)
        rng = random.Random(7)
        for _ in range(KILLS):
            process = place.start(*month)
            time.sleep(rng.uniform(0.5, 12.0))
            process.send_signal(signal.SIGKILL)
            process.communicate()
        code, out, errors = place.live(*month)
        assert code == 0, errors
        found = _on(hub)
    assert {name: found[name].keys() for name in found} == {name: expected[name].keys() for name in expected}
    assert {
        f"{name}/{path}" for name in found for path in found[name] if found[name][path] != expected[name][path]
    } == set()
    assert place.results() == undisturbed


@pytest.mark.long
def test_a_model_that_fails_keeps_nobody_else_back(tmp_path: Path, server: openai_server.Server) -> None:
    with hub_servers.serve() as hub:
        place = _place(tmp_path / "month", hub, server.url)
        (place.path / "live.toml").write_text('results_repo = "org/results"\nmax_cost = 0.0000001\n')
        code, out, errors = place.live("--round", "2026.11", "--yes")
        assert (code, errors.count("error: round 2026.11 is not finished")) == (1, 1), errors
        assert "evaluate own (ended with exit code 1)" in errors
        assert "publish own (needs evaluate own)" in errors
        assert (place.path / "results" / "2026.11" / "lead" / "results_lead.json").is_file()
        assert (place.path / "site" / "index.html").is_file()
        assert "| evaluate lead | done |" in (place.path / "results" / "2026.11" / "live.md").read_text()
        # A higher bound, and the month comes to its end.
        (place.path / "live.toml").write_text('results_repo = "org/results"\nmax_cost = 10\n')
        code, out, errors = place.live("--round", "2026.11", "--yes")
        assert code == 0, errors
        assert "evaluate lead" not in out
        assert "own" in (place.path / "site" / "index.html").read_text()


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("live.toml", "repo = 1\n", "live.toml: `repo` is 1"),
        ("live.toml", "rounds = 1\n", "unknown key `rounds`; did you mean `round`?"),
        ("live.toml", "round = [", "is not valid TOML"),
        ("models.toml", '["a/b"]\nconfig = "lead.yaml"\n', "must be fit for a folder"),
        ("models.toml", '[a]\nconfig = "gone.yaml"\n', "gone.yaml cannot be read"),
        ("models.toml", '[a]\nconfig = "lead.yaml"\ncard = "org/a"\n', "must name a results_repo"),
        ("lead.yaml", "- 1\n", "contains no options"),
        ("lead.yaml", "[" * 5000, "is not YAML"),
        ("lead.yaml", "seed: !!timestamp x\n", "is not YAML"),
        (
            "lead.yaml",
            "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9) if i else 1}]\n" for i in range(9)),
            "has aliases",
        ),
        ("lead.yaml", "model: leed\ntasks: academiceval_abs_9k\n", "did you mean lead?"),
        ("lead.yaml", "model: lead\ntasks: academiceval_abs_9k\nmetadata: {split: tset}\n", "did you mean 'test'?"),
        ("lead.yaml", "model: lead\ntasks: academiceval_abs_9k\nseed: x\n", "--seed 'x'"),
        ("models.toml", '[a]\nconfig = "lead.yaml"\n[A]\nconfig = "lead.yaml"\n', "would share a folder"),
        ("models.toml", "a = " + "[" * 5000, "is not valid TOML"),
        ("live.toml", "max_cost = " + "9" * 5000, "is not valid TOML"),
        ("live.toml", 'models = "\\u0000"\n', "is not a value that can be used"),
        ("live.toml", '[judge]\nmodel = "a"\nprices = "gone.toml"\n', "gone.toml, are not there"),
        ("lead.yaml", "model: lead\n", "lacks `tasks`"),
        ("lead.yaml", "model: lead\ntasks: academiceval_abs_9\n", "did you mean 'academiceval_abs_9k'?"),
        ("round.toml", "", "round.toml"),
    ],
)
def test_files_that_cannot_be_used(file: str, text: str, says: str, tmp_path: Path, command: Command) -> None:
    with hub_servers.serve() as hub:
        place = _place(tmp_path / "month", hub, "http://127.0.0.1:9")
    (place.path / "live.toml").write_text('repo = "org/academiceval"\n')
    (place.path / "models.toml").write_text('[lead]\nconfig = "lead.yaml"\n')
    (place.path / file).write_text(text)
    code, _, errors = command("live", place.path / "live.toml", "--round", "2026.11")
    assert (code, errors.count("\n")) == (1, 1), errors
    assert says in errors
    assert not (place.path / "work").exists()


@pytest.mark.parametrize("part", ["limit: 2", "metadata: {split: all}"])
def test_published_scores_are_of_all_test_papers(part: str, tmp_path: Path, command: Command) -> None:
    with hub_servers.serve() as hub:
        place = _place(tmp_path / "month", hub, "http://127.0.0.1:9")
    (place.path / "lead.yaml").write_text(f"model: lead\ntasks: academiceval_abs_9k\n{part}\n")
    code, _, errors = command("live", place.path / "live.toml", "--round", "2026.11")
    assert (code, "but published scores are those of all test papers" in errors) == (1, True), errors


@pytest.mark.long
def test_an_older_month_is_not_given_a_newer_ones_papers(tmp_path: Path, server: openai_server.Server) -> None:
    with hub_servers.serve() as hub:
        place = _place(tmp_path / "month", hub, server.url)
        (place.path / "live.toml").write_text("")
        (place.path / "models.toml").write_text('[lead]\nconfig = "lead.yaml"\n')
        samples = place.path / "results" / "2026.11" / "lead"
        before = ""
        for name in ("2026.11", "2026.12", "2026.11"):
            code, _, errors = place.live("--round", name, "--yes", "-q")
            assert code == 0, errors
            before = before or next(samples.glob("samples_*")).read_text()
        assert next(samples.glob("samples_*")).read_text() == before
        assert '"round": "2026.11"' in before
        (place.path / "results" / "2026.11" / "live.json").write_text("[]")
        code, _, errors = place.live("--round", "2026.11", "--yes")
        assert (code, "is not the state of a month" in errors) == (1, True)


def test_a_missing_file_is_named(tmp_path: Path, command: Command) -> None:
    code, _, errors = command("live", tmp_path / "live.toml")
    assert (code, "live.toml: No such file or directory" in errors) == (1, True)
