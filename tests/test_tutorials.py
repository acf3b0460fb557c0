"""The tutorials and the README, typed as they stand: each command of a page is run, one after another, in one folder."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers import hub_server as hub_servers
from tests.helpers import openai_server
from tests.helpers.hub_server import Hub

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
TUTORIALS = ROOT / "docs" / "tutorials"
# What each page needs of the pages before it.
BEFORE = {"publish": ("academiceval init --source sample", "academiceval run round.toml --quiet")}
# Commands that need what a test does not have: packages from the network, weights, a GPU.
LEFT_OUT = re.compile(r"^pip install|pretrained=ORG/MODEL")
# Of the README: other programs' commands, what the tutorials type too, and what takes minutes.
LEFT_OUT_OF_README = re.compile(
    rf"{LEFT_OUT.pattern}|^(?!academiceval )|^academiceval (?:link-tasks|bundle|init|run|update|status|metrics)\b"
)


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """The language and text of each fenced block."""
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        yield match[1], match[2]


@pytest.fixture
def hub() -> Iterator[Hub]:
    with hub_servers.serve() as serving:
        yield serving


@pytest.mark.parametrize("page", sorted(TUTORIALS.glob("*.md")), ids=lambda page: page.stem)
def test_every_command_of_a_tutorial_runs(page: Path, tmp_path: Path, hub: Hub) -> None:
    count = 0
    with openai_server.serve(lambda body: "We study how readers read.") as server:

        def run(line: list[str]) -> None:
            nonlocal count
            _run(line, tmp_path, hub if page.stem == "publish" else None)
            count += 1

        for line in BEFORE.get(page.stem, ()):
            run(_command(line, server.url))
        for language, text in blocks(page):
            if language == "python":
                run([sys.executable, "-c", text.replace("my-org/", "org/")])
                continue
            for line in text.strip().splitlines():
                if not LEFT_OUT.search(line):
                    run(_command(line, server.url))
    assert count >= 5, "no commands were found"


def test_the_commands_of_the_readme_run(tmp_path: Path, hub: Hub, dataset: Path, world: Path) -> None:
    shutil.copytree(dataset, tmp_path / "academiceval")
    for kind, name in (("pdf", "paper.pdf"), ("html", "page.html")):
        shutil.copyfile(next((world / "work").rglob(f"*.{kind}")), tmp_path / name)
    ran = []
    with openai_server.serve(lambda body: "[[1]]") as server:
        for place, model in (
            ("lead", "lead"),
            ("random-sentence", "random-sentence"),
            ("model-a", "lead"),
            ("model-b", "random-sentence"),
        ):
            metadata = '{"bertscore_model": "none", "split": "all", "model_cutoff": "2026-08"}'
            line = f"academiceval eval --model {model} --tasks academiceval_title_10k --metadata '{metadata}' --output results/{place}"
            _run(_command(line, server.url), tmp_path, None)
        for _, text in blocks(ROOT / "README.md"):
            for line in text.strip().splitlines():
                if not LEFT_OUT_OF_README.search(line):
                    at_hub = line.startswith(("academiceval push", "academiceval verify"))
                    whole = f"{line.partition(' #')[0]} --yes" if line.startswith("academiceval push") else line
                    _run(_command(whole.replace("ORG/", "org/"), server.url), tmp_path, hub if at_hub else None)
                    ran.append(line.split()[1])
    assert ran == ["eval", "compare", "judge", "report", "contamination", "extract", "push", "verify"]


def _run(line: list[str], place: Path, hub: Hub | None) -> None:
    at_hub = {"HF_ENDPOINT": hub.url, "HF_TOKEN": "hf_write"} if hub else {"HF_HUB_OFFLINE": "1"}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    environment |= {**at_hub, "HF_HOME": str(place / "home"), "PYTHONPATH": str(ROOT), "OPENAI_API_KEY": "made-up"}
    done = subprocess.run(line, cwd=place, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{line}: {done.stdout[-500:]}\n{done.stderr[-1500:]}"


def _command(line: str, server: str) -> list[str]:
    """A line of a page for the Hub and the model server of this test."""
    line = line.partition(" #")[0].replace("my-org/", "org/").replace("http://127.0.0.1:8000/v1", server)
    name, *arguments = shlex.split(line)
    assert name == "academiceval", f"{line}: not a command of ours"
    return [sys.executable, "-m", "builder.cli", *arguments]
