"""What MkDocs adds to the pages in this folder: the pages at the root of the repository, and a reference that is read from the code."""

from __future__ import annotations

import json
import os
import re
import types
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

import yaml
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pydantic import BaseModel

from builder.cli import all_commands
from builder.round.model import Round
from lm_eval_tasks.metrics.registry import METRICS
from lm_eval_tasks.tasks.folder import tasks_path

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
# Characters of a default that are shown.
_LONGEST = 80
_DIRECTIONS = {"higher": "higher is better", "lower": "lower is better", "one": "1 is best", "neither": ""}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in this folder."""
    os.environ["COLUMNS"] = "100"  # help texts as wide as a page, on any terminal
    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    made = {"round": _round(), "tasks": _tasks(), "metrics": _metrics(), "commands": _commands()}
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


def _round() -> Iterator[str]:
    """Every key of round.toml, its type, default and meaning."""
    yield from ("# round.toml", "", "[Rounds](../round.md) explains how the keys work together.", "")
    yield from ("| key | type | default | meaning |", "| --- | --- | --- | --- |")
    for name, field in Round.model_fields.items():
        if name != "source":
            yield from _keys(name, field)
    for kind in get_args(Round.model_fields["source"].annotation):
        label = get_args(kind.model_fields["kind"].annotation)[0]
        yield from (
            "",
            f"## source, kind `{label}`",
            "",
            "| key | type | default | meaning |",
            "| --- | --- | --- | --- |",
        )
        for name, field in kind.model_fields.items():
            yield from _keys(f"source.{name}", field)


@cache
def _meanings() -> dict[str, str]:
    """Key -> what docs/round.md says of it."""
    table = (ROOT / "docs" / "round.md").read_text(encoding="utf-8").split("| key | default |")[1].split("\n\n")[0]
    rows = (line.strip("|").split("|", 2) for line in table.splitlines()[2:])
    found = {name: text.strip() for keys, _, text in rows for name in re.findall(r"`([\w.]+)`", keys)}
    # The reference is in a folder of its own.
    return {name: text.replace("[below](#", "[more](round.md#").replace("](", "](../") for name, text in found.items()}


def _keys(name: str, field: Any) -> Iterator[str]:
    inner = next((one for one in (field.annotation, *get_args(field.annotation)) if _is_table(one)), None)
    if inner is not None:
        for key, value in inner.model_fields.items():
            yield from _keys(f"{name}.{key}", value)
        return
    default = "required" if field.is_required() else _default(field.get_default(call_default_factory=True))
    about = _meanings().get(name) or (field.description or "").replace("|", "\\|")
    yield f"| `{name}` | {_type(field.annotation)} | {default} | {about} |"


def _default(value: object) -> str:
    """A default as TOML writes it; nothing for a key that has none."""
    if value is None:
        return ""
    text = json.dumps(str(value) if isinstance(value, Path) else value, default=str)
    return f"`{text}`" if len(text) <= _LONGEST else f"`{text[: text.rfind(',', 0, _LONGEST)]}, ...]`"


def _is_table(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _type(kind: Any) -> str:
    """A type as readers of TOML call it."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _type(inner[0])
    if origin in (Union, types.UnionType):
        return " or ".join(_type(one) for one in inner if one is not type(None))
    if origin is tuple:
        return f"list of {_type(inner[0])}"
    if origin is dict:
        return "table"
    if str(origin) == "typing.Literal":
        return " or ".join(f'`"{one}"`' for one in inner)
    names = {str: "text", int: "whole number", float: "number", bool: "true or false", Path: "path"}
    return names.get(kind) or getattr(kind, "__name__", "text")


def _tasks() -> Iterator[str]:
    """Every task file."""
    yield from ("# Tasks", "", "[Evaluating a model](../evaluate.md) explains them.", "")
    yield from ("| task | called | setting | tags |", "| --- | --- | --- | --- |")
    groups = []
    for path in sorted(tasks_path().glob("*/*.yaml")):
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


def _metrics() -> Iterator[str]:
    """Every metric of the registry."""
    yield from (
        "# Metrics",
        "",
        "[Scores](../evaluate.md#scores) says what each measures, [What a score is worth](../metrics.md) how well.",
        "",
    )
    yield from ("| metric | in lm_eval's tables | called | tasks | direction |", "| --- | --- | --- | --- | --- |")
    for one in METRICS:
        kinds = ", ".join(sorted(one.kinds))
        yield f"| `{one.name}` | {f'`{one.usual}`' if one.usual else ''} | {one.label} | {kinds} | {_DIRECTIONS[one.best]} |"


def _commands() -> Iterator[str]:
    """The help of every command."""
    yield from ("# Commands", "")
    for name, parser in all_commands().parsers.items():
        yield from (f"## academiceval {name}", "", "```text", parser.format_help().strip(), "```", "")
