"""The documentation as a site: it builds without a warning, asks nobody for anything, and its reference is whole."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from builder.cli import all_commands
from lm_eval_tasks.tasks.catalogue import task_names

ROOT = Path(__file__).resolve().parents[1]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("docs") / "site"
    done = build(ROOT, place)
    assert done.returncode == 0, done.stderr
    return place


def build(folder: Path, place: Path) -> subprocess.CompletedProcess[str]:
    """Build the site as `make docs` does."""
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "mkdocs", "build", "-d", str(place)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_a_link_that_leads_nowhere_fails_the_build(tmp_path: Path) -> None:
    for name in ("docs", "benchmarks/results.md", "mkdocs.yml", *map(str, ROOT.glob("*.md"))):
        source, target = ROOT / name, tmp_path / (ROOT / name).relative_to(ROOT)
        target.parent.mkdir(exist_ok=True)
        shutil.copytree(source, target) if source.is_dir() else shutil.copyfile(source, target)
    with (tmp_path / "docs" / "scale.md").open("a") as page:
        page.write("[a](nosuchpage.md) [b](../nosuch.md) [c](publish.md#nosuchheading)\n")
    done = build(tmp_path, tmp_path / "site")
    assert done.returncode == 1
    for target in ("nosuchpage.md", "nosuch.md", "#nosuchheading"):
        assert re.search(rf"WARNING.*scale\.md.*{target}", done.stderr), (target, done.stderr)


def test_every_page_is_in_the_navigation(site: Path) -> None:
    start = (site / "index.html").read_text()
    files = (path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md"))
    # What a repository shows for a folder is the folder's page.
    pages = {file.with_suffix(".html").as_posix().replace("README.html", "index.html") for file in files}
    assert pages <= set(re.findall(r'href="([\w./-]+\.html)"', start))


def test_every_link_leads_to_a_file(site: Path) -> None:
    for page in site.rglob("*.html"):
        for target in re.findall(r'(?:href|src)="(?!https?:|mailto:|data:)([^"#?]+)', page.read_text()):
            place = site / target.lstrip("/") if target.startswith("/") else page.parent / target
            assert place.exists(), (page.name, target)


def test_nothing_comes_from_another_server(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert not re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="https?://[^"]*"', page.read_text()), page


def test_the_reference_names_everything(site: Path) -> None:
    pages = {name: (site / "reference" / f"{name}.html").read_text() for name in ("tasks", "commands")}
    for name in task_names():
        assert name in pages["tasks"], name
    assert "<code>round</code>" in (site / "keys.html").read_text()
    for name in all_commands().parsers:
        assert f"academiceval {name}" in pages["commands"], name
