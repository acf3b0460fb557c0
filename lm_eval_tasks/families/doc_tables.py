"""The tables of tasks in the docs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from lm_eval_tasks.families.family import FAMILIES_FOLDER, Task, slug_of
from lm_eval_tasks.families.reading import ReadingFamily
from lm_eval_tasks.families.registry import FAMILIES
from lm_eval_tasks.families.scalar import ALL_LEVELS
from lm_eval_tasks.families.writing.settings import ROLES, SETTINGS, TARGETS, TINY

_DOCS = Path(__file__).resolve().parents[2] / "docs"
_BLOCK = re.compile(r"(?<=<!-- tasks -->\n).*?(?=<!-- end of tasks -->)", re.DOTALL)
_DEMONSTRATIONS = {
    "plain": "none",
    "random": "two, of the same category",
    "graph": "two, by co-authors",
    "mixed": "two of each",
}


def contents(tasks: Sequence[Task], tags: Sequence[str]) -> dict[Path, str]:
    """File -> what it should contain."""
    tables: dict[Path, Iterable[str]] = {
        _DOCS / "evaluate.md": _by_demonstrations(),
        _DOCS / "scalar.md": _levels(),
        _DOCS / "reading.md": _readings(tasks),
        FAMILIES_FOLDER / "writing" / "README.md": _names(tasks, tags),
    }
    return {
        path: _BLOCK.sub("\n".join(lines) + "\n", path.read_text(encoding="utf-8")) for path, lines in tables.items()
    }


def _by_demonstrations() -> list[str]:
    rows = []
    for kind, words in _DEMONSTRATIONS.items():
        slugs = [
            slug_of(setting.name)
            for target in TARGETS
            for setting in SETTINGS
            if setting.task == target.name and setting.demonstrations == kind
        ]
        rows.append(f"| {words} | {' | '.join(f'`{slug}`' for slug in slugs)} |")
    head = f"| demonstrations | {' | '.join(target.label for target in TARGETS)} |"
    return [head, "| --- |" + " --- |" * len(TARGETS), *rows]


def _levels() -> Iterator[str]:
    yield from (
        "| configuration | question paper | citation | distractors | candidates |",
        "| --- | --- | --- | --- | --- |",
    )
    for level in ALL_LEVELS:
        yield f"| `{level.name}` | {level.question} | {level.citation} | {level.distractors} | {level.candidates} |"


def _readings(tasks: Sequence[Task]) -> Iterator[str]:
    yield from ("| family | tasks: `academiceval_` and |", "| --- | --- |")
    slugs = {task.configuration: task.name.removeprefix("academiceval_") for task in tasks if not task.alias}
    for family in (family for family in FAMILIES if isinstance(family, ReadingFamily)):
        shown = [f"`{slugs[reading.name]}`" for reading in family.configurations]
        yield f"| {family.label} | {', '.join(shown)} |"


def _names(tasks: Sequence[Task], tags: Sequence[str]) -> Iterator[str]:
    yield from ("| tasks | what they ask | group |", "| --- | --- | --- |")
    shows = "no demonstrations, or two random ones; `_g`: two by co-authors; `_m`: two of each"
    yield f"| `academiceval_<task>_<length>` | {shows} | `academiceval`, `academiceval_<task>` |"
    for role in (*ROLES[1:], TINY):
        targets = {setting.task for setting in SETTINGS if not role.settings or setting.name in role.settings}
        word = targets.pop() if len(targets) == 1 else "<task>"
        name = role.name.format(slug=f"{word}_<length>", task=word)
        if len(role.settings) == 1:
            name = next(task.name for task in tasks if task.alias == role.alias)
        group = role.group.format(task="<task>")
        parent_group = f"`{role.group.removesuffix('_{task}')}`, " if "{task}" in role.group else ""
        yield f"| `{name}` | {role.shows} | {f'{parent_group}`{group}`' if group else ''} |"
    yield ""
    yield f"Tags, each with one setting of all four tasks: {', '.join(f'`{tag}`' for tag in tags)}."
