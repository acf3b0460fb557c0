"""The files that follow from the families' descriptors: lm-eval's task files, its in-tree edition, and the tables of tasks in the docs.

`python -m lm_eval_tasks.tasks` (`make tasks`) writes them into a clone; they are committed, and a test compares them.
"""

from __future__ import annotations

from pathlib import Path

from lm_eval_tasks.base.contexts import FULL
from lm_eval_tasks.families import doc_tables, in_tree
from lm_eval_tasks.families.family import FAMILIES_FOLDER, Task, TaskGroup
from lm_eval_tasks.tasks.catalogue import GROUPS, TAGS, TASKS

_PREFIX = "academiceval_"
_USUAL_ROLE = "prompt"
BASE = "_base_yaml"


def contents() -> dict[Path, str]:
    """File -> what it should contain."""
    return {**_task_files(), **in_tree.contents(TASKS, GROUPS), **doc_tables.contents(TASKS, TAGS)}


def left_over(files: dict[Path, str]) -> list[Path]:
    """Task files that no record stands for any more."""
    folders = {path.parent for path in files if path.suffix == ".yaml"}
    return sorted(path for folder in folders for path in folder.glob("*.yaml") if path not in files)


def _task_files() -> dict[Path, str]:
    files = {
        FAMILIES_FOLDER / task.family / f"{task.name.removeprefix(_PREFIX)}.yaml": task_text(task) for task in TASKS
    }
    names = {group: f"_group_{group.name.removeprefix(_PREFIX)}.yaml" for group in GROUPS}
    return files | {FAMILIES_FOLDER / group.family / name: _group(group) for group, name in names.items()}


def task_text(task: Task, include: str = "") -> str:
    """The file of a task.

    Args:
        include: its base file, "" for that in its folder.
    """
    arguments: dict[str, object] = {"setting": task.configuration, "answer_tokens": task.answer_tokens}
    if task.role != _USUAL_ROLE:
        arguments["role"] = task.role
    if task.size is not None:
        arguments["size"] = task.size
    if task.context != FULL:
        arguments["shown"] = task.context
    lines = [f"include: {include or BASE}", f"task: {task.name}", f'task_alias: "{task.display_name}"']
    if task.tag:
        lines.append(f"tag: {task.tag}")
    lines.append(f"dataset_kwargs: {{{', '.join(f'{key}: {value}' for key, value in arguments.items())}}}")
    return "\n".join(lines) + "\n" + in_tree.GREEDY.format(tokens=task.answer_tokens)


def _group(group: TaskGroup) -> str:
    members = "".join(f"  - {name}\n" for name in group.members)
    mean = f"aggregate_metric_list: !function lm_eval_tasks.families.{group.family}.GROUP_LIST\n"
    return f"group: {group.name}\ntask:\n{members}{mean if group.has_mean else ''}metadata: {{version: 1.0}}\n"
