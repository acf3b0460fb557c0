"""What MkDocs adds to the pages in this folder: the pages at the root of the repository, and a reference that is read from the code."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import yaml
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from builder.cli import all_commands
from lm_eval_tasks.tasks.catalogue import tasks_path

ROOT = Path(__file__).resolve().parents[1]
# File of the repository -> page of the site.
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "project/changelog.md",
    "SECURITY.md": "project/security.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "benchmarks/results.md": "project/results.md",
}
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|#)([^)#\s]+)(#[^)\s]+)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in this folder."""
    os.environ["COLUMNS"] = "100"  # help texts as wide as a page, on any terminal
    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    made = {"tasks": _tasks(), "commands": _commands()}
    for name, lines in made.items():
        files.append(File.generated(config, f"reference/{name}.md", content="\n".join(lines) + "\n"))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links at the site's pages; a link to a file that only the repository has becomes text, and MkDocs reports one to nothing."""
    here = page.file.src_uri
    source = next((name for name, made in PAGES.items() if made == here), f"docs/{here}")
    known = {file.src_uri for file in files if not file.inclusion.is_excluded()}

    def pointed(link: re.Match[str]) -> str:
        image, text, target, anchor = link.groups()
        place = os.path.normpath(Path(source).parent / target)
        wanted = PAGES.get(place) or place.removeprefix("docs/")
        if wanted not in known:
            return text if (ROOT / place).exists() else link[0]
        return f"{image}[{text}]({os.path.relpath(wanted, Path(here).parent)}{anchor or ''})"

    return _LINK.sub(pointed, markdown)


# --- the reference


def _tasks() -> Iterator[str]:
    """Every task file."""
    yield from ("# Tasks", "", "[Evaluating a model](../evaluate.md) explains them.", "")
    yield from ("| task | called | setting | tags |", "| --- | --- | --- | --- |")
    groups = []
    for path in sorted(tasks_path().rglob("*.yaml")):
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_Plain)  # noqa: S506
        if "group" in content:
            groups.append(f"| `{content['group']}` | {', '.join(f'`{one}`' for one in content['task'])} |")
        else:
            given = content["dataset_kwargs"]
            yield f"| `{content['task']}` | {content['task_alias']} | {given['setting']} | {content.get('tag', '')} |"
    yield from ("", "## Groups", "", "| group | tasks |", "| --- | --- |", *groups)


class _Plain(yaml.SafeLoader):
    """YAML whose `!function` is text."""


_Plain.add_constructor("!function", lambda loader, node: str(node.value))


def _commands() -> Iterator[str]:
    """The help of every command."""
    yield from ("# Commands", "")
    for name, parser in all_commands().parsers.items():
        yield from (f"## academiceval {name}", "", "```text", parser.format_help().strip(), "```", "")
