"""The files that follow from the families' descriptors: lm-eval's task files.

`python -m lm_eval_tasks.tasks.yaml_files` (`make tasks`) writes them into a clone; they are committed, and a test compares them.
"""

from pathlib import Path

from lm_eval_tasks.base.contract import FULL, GENERATED, LIKELIHOOD
from lm_eval_tasks.families import family_of_name
from lm_eval_tasks.families.descriptor import FAMILIES_FOLDER, Task, TaskGroup
from lm_eval_tasks.tasks.catalogue import GROUPS, TASKS

_PREFIX = "academiceval_"
_BASE = "_base_yaml"
_GREEDY = "generation_kwargs: {{do_sample: false, temperature: 0.0, max_gen_toks: {tokens}, until: []}}"


def left_over(files: dict[Path, str]) -> list[Path]:
    """Return task files that no record stands for any more."""
    folders = {path.parent for path in files if path.suffix == ".yaml"}
    return sorted(path for folder in folders for path in folder.glob("*.yaml") if path not in files)


def contents() -> dict[Path, str]:
    """Return file -> what it should contain."""
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


if __name__ == "__main__":
    files = contents()
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for path in left_over(files):
        path.unlink()
