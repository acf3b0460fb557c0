"""The files that follow from the families' descriptors: lm-eval's task files, and the tables of tasks in the docs.

`python -m lm_eval_tasks.tasks.yaml_files` (`make tasks`) writes them into a clone; they are committed, and a test compares them.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from lm_eval_tasks.base.contract import FULL, GENERATED, LIKELIHOOD
from lm_eval_tasks.families import family_of_name
from lm_eval_tasks.families.descriptor import FAMILIES_FOLDER, Task, TaskGroup, slug_of
from lm_eval_tasks.families.reading import ReadingFamily
from lm_eval_tasks.families.registry import FAMILIES
from lm_eval_tasks.families.scalar import ALL_LEVELS
from lm_eval_tasks.families.writing.settings import ROLES, SETTINGS, TARGETS
from lm_eval_tasks.tasks.catalogue import GROUPS, TAGS, TASKS

_PREFIX = "academiceval_"
_BASE = "_base_yaml"
_DOCS = Path(__file__).resolve().parents[2] / "docs"
_GREEDY = "generation_kwargs: {{do_sample: false, temperature: 0.0, max_gen_toks: {tokens}, until: []}}"
_BLOCK = re.compile(r"(?<=<!-- tasks -->\n).*?(?=<!-- end of tasks -->)", re.DOTALL)
_DEMONSTRATIONS = {
    "plain": "none",
    "random": "two, of the same category",
    "graph": "two, by co-authors",
    "mixed": "two of each",
}


def contents() -> dict[Path, str]:
    """Return file -> what it should contain."""
    return {**_task_files(), **_doc_tables()}


def left_over(files: dict[Path, str]) -> list[Path]:
    """Return task files that no record stands for any more."""
    folders = {path.parent for path in files if path.suffix == ".yaml"}
    return sorted(path for folder in folders for path in folder.glob("*.yaml") if path not in files)


def _task_files() -> dict[Path, str]:
    files = {
        FAMILIES_FOLDER / task.family / f"{task.name.removeprefix(_PREFIX)}.yaml": task_text(task) for task in TASKS
    }
    return files | {
        FAMILIES_FOLDER / group.family / f"_group_{group.name.removeprefix(_PREFIX)}.yaml": _group(group)
        for group in GROUPS
    }


def base_of(task: Task) -> str:
    """Name the file that a task's file includes."""
    likelihood = family_of_name(task.family).likelihood
    return likelihood.base if likelihood and task.way == LIKELIHOOD else _BASE


def task_text(task: Task, folder: str = "") -> str:
    """Return the file of a task, which includes a base file in that folder, or else in its own."""
    is_generated = task.way == GENERATED
    arguments = {
        "setting": task.configuration,
        "answer_tokens": task.answer_tokens,
        "size": task.size,
        "shown": None if task.context == FULL else task.context,
        "way": None if is_generated else task.way,
    }
    given = ", ".join(f"{key}: {value}" for key, value in arguments.items() if value is not None)
    lines = [
        f"include: {folder}{base_of(task)}",
        f"task: {task.name}",
        f'task_alias: "{task.display_name}"',
        *([f"tag: {task.tag}"] if task.tag else []),
        f"dataset_kwargs: {{{given}}}",
        *([_GREEDY.format(tokens=task.answer_tokens)] if is_generated else []),
    ]
    return "\n".join(lines) + "\n"


def _group(group: TaskGroup) -> str:
    members = "".join(f"  - {name}\n" for name in group.members)
    list_ = "GROUP_LIST" if group.way == GENERATED else "LIKELIHOOD_GROUP_LIST"
    mean = f"aggregate_metric_list: !function lm_eval_tasks.families.{group.family}.{list_}\n"
    return f"group: {group.name}\ntask:\n{members}{mean if group.has_mean else ''}metadata: {{version: 1.0}}\n"


# --- the tables in the docs


def _doc_tables() -> dict[Path, str]:
    tables: dict[Path, Iterable[str]] = {
        _DOCS / "evaluate.md": _by_demonstrations(),
        _DOCS / "scalar.md": _levels(),
        _DOCS / "reading.md": _readings(),
        FAMILIES_FOLDER / "writing" / "README.md": _names(),
    }
    return {
        path: _BLOCK.sub("\n".join(lines) + "\n", path.read_text(encoding="utf-8")) for path, lines in tables.items()
    }


def _by_demonstrations() -> Iterator[str]:
    yield from (
        f"| demonstrations | {' | '.join(target.label for target in TARGETS)} |",
        "| --- |" + " --- |" * len(TARGETS),
    )
    for kind, words in _DEMONSTRATIONS.items():
        slugs = [
            slug_of(setting.name)
            for target in TARGETS
            for setting in SETTINGS
            if setting.task == target.name and setting.demonstrations == kind
        ]
        yield f"| {words} | {' | '.join(f'`{slug}`' for slug in slugs)} |"


def _levels() -> Iterator[str]:
    yield from (
        "| configuration | question paper | citation | distractors | candidates |",
        "| --- | --- | --- | --- | --- |",
    )
    for level in ALL_LEVELS:
        yield f"| `{level.name}` | {level.question} | {level.citation} | {level.distractors} | {level.candidates} |"


def _readings() -> Iterator[str]:
    yield from ("| family | tasks: `academiceval_` and |", "| --- | --- |")
    slugs = {task.configuration: task.name.removeprefix("academiceval_") for task in TASKS if not task.alias}
    for family in (family for family in FAMILIES if isinstance(family, ReadingFamily)):
        shown = [f"`{slugs[reading.name]}`" for reading in family.configurations]
        yield f"| {family.label} | {', '.join(shown)} |"


def _names() -> Iterator[str]:
    shows = "no demonstrations, or two random ones; `_g`: two by co-authors; `_m`: two of each"
    yield from (
        "| tasks | what they ask | group |",
        "| --- | --- | --- |",
        f"| `academiceval_<task>_<length>` | {shows} | `academiceval`, `academiceval_<task>` |",
    )
    for role in ROLES[1:]:
        targets = {setting.task for setting in SETTINGS if not role.settings or setting.name in role.settings}
        word = targets.pop() if len(targets) == 1 else "<task>"
        name = role.name.format(slug=f"{word}_<length>", task=word)
        if len(role.settings) == 1:
            name = next(task.name for task in TASKS if task.alias == role.alias)
        group = role.group.format(task="<task>")
        parent_group = f"`{role.group.replace('_{task}', '')}`, " if "{task}" in role.group else ""
        yield f"| `{name}` | {role.shows} | {f'{parent_group}`{group}`' if group else ''} |"
    yield from ("", f"Tags, each with one setting of all four tasks: {', '.join(f'`{tag}`' for tag in TAGS)}.")


if __name__ == "__main__":
    files = contents()
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for path in left_over(files):
        path.unlink()
