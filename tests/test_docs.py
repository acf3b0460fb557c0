"""What the documents say exists."""

from __future__ import annotations

import re
from pathlib import Path
from types import UnionType
from typing import get_args, get_origin

from pydantic import BaseModel

from builder import cli, records
from builder.round.model import Round
from builder.round.settings import BUILT_IN
from builder.scalar.questions import ClozeReason
from lm_eval_tasks.runs.evaluate import task_names

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def keys(model: type[BaseModel], prefix: str = "") -> set[str]:
    found: set[str] = set()
    for name, field in model.model_fields.items():
        kinds = get_args(field.annotation) if get_origin(field.annotation) is UnionType else (field.annotation,)
        tables = [one for one in kinds if isinstance(one, type) and issubclass(one, BaseModel)]
        for table in tables:
            found |= keys(table, f"{name}.")
        if not tables:
            found.add(prefix + name)
    return found


def test_every_key_of_a_round_is_explained_and_no_other() -> None:
    table = (ROOT / "docs" / "round.md").read_text().split("| key | default |")[1].split("\n\n")[0]
    named = set(
        re.findall(
            r"`([a-z_.]+)`", "\n".join(line.split("|")[1] for line in table.splitlines()[2:] if line.startswith("|"))
        )
    )
    assert named == keys(Round)


def test_every_drop_reason_is_listed() -> None:
    text = (ROOT / "docs" / "round.md").read_text()
    for reasons in (records.CrawlReason, records.GraphReason, records.ExtractReason, records.SampleReason, ClozeReason):
        for reason in reasons.__args__:  # type: ignore[attr-defined]
            assert f"`{reason}`" in text, reason


def test_every_command_shown_exists() -> None:
    commands = cli.all_commands().parsers
    for page in PAGES:
        for name in re.findall(r"^\s*academiceval ([a-z-]+)", page.read_text(), re.MULTILINE):
            assert name in commands, (page.name, name)
    shown = "\n".join(page.read_text() for page in PAGES)
    for name in commands:
        assert re.search(rf"academiceval {name}\b|`{name}`", shown), name


def test_every_task_is_named() -> None:
    text = (ROOT / "docs" / "evaluate.md").read_text()
    for setting in BUILT_IN:
        assert f"`{setting.name.lower().replace('-', '_')}`" in text
    assert set(re.findall(r"`(academiceval(?:_[a-z]+)?)`", text.split("## Options")[0])) <= set(task_names())


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            assert target.startswith("https://") or (page.parent / target).exists(), (page.name, target)


def test_the_readme_begins_with_the_two_commands() -> None:
    block = (ROOT / "README.md").read_text().split("```")[1]
    assert [line.split("#")[0].strip() for line in block.strip().splitlines()] == ["make demo", "make test"]
