"""The tasks and groups of lm-eval that follow from the families' descriptors, and making the bare `lm_eval --tasks academiceval_abs`
find them.

lm-eval looks for tasks in its own folder and in --include_path only. `link` therefore puts a folder of links to our files
into the installed lm_eval; single files are linked, because lm-eval's search does not enter linked folders.
"""

import shutil
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from lm_eval_tasks.base.contract import GENERATED
from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.base.text import suggestion
from lm_eval_tasks.compat.lm_eval import tasks_folder
from lm_eval_tasks.families import NAMES
from lm_eval_tasks.families.descriptor import FAMILIES_FOLDER, Core, Task, TaskGroup, slug_of
from lm_eval_tasks.families.registry import CORE, FAMILIES

# Of the core's samples, those that its small edition asks.
_TINY_SHARE = 10
_CORE, _CORE_TINY = CORE_GROUPS = "academiceval_core", "academiceval_core_tiny"


def _of_core(core: Core) -> Iterator[Task]:
    """Yield the tasks of a core configuration: all of its samples, and of answers a tenth of them."""
    [usual] = [task for task in _USUAL if task.configuration == core.configuration and not task.alias]
    slug = slug_of(core.configuration)
    whole = replace(usual, name=f"{_CORE}_{slug}", alias="core", size=core.samples, tag="")
    yield whole
    if core.way == GENERATED:
        yield replace(whole, name=f"{_CORE_TINY}_{slug}", alias="core, tiny", size=core.samples // _TINY_SHARE)


_USUAL: tuple[Task, ...] = tuple(task for family in FAMILIES for task in family.tasks)
TASKS: tuple[Task, ...] = (*_USUAL, *(task for core in CORE for task in _of_core(core)))


def _groups() -> Iterator[TaskGroup]:
    yield from (group for family in FAMILIES for group in family.groups)
    always = [core for core in CORE if core.is_always_asked]
    for name in dict.fromkeys(family.group for family in FAMILIES if family.group):
        of_group = {core for family in FAMILIES if family.group == name for core in family.core}
        names = {task.configuration: task.name for task in _USUAL if not task.alias}
        yield TaskGroup("", name, tuple(names[core.configuration] for core in always if core in of_group))
    for name in CORE_GROUPS:
        yield TaskGroup("", name, tuple(f"{name}_{slug_of(core.configuration)}" for core in always))


GROUPS: tuple[TaskGroup, ...] = tuple(_groups())
TAGS: tuple[str, ...] = tuple(dict.fromkeys(task.tag for task in TASKS if task.tag))


def task_names() -> list[str]:
    """Return all names of tasks, groups and tags."""
    return sorted({*(task.name for task in TASKS), *(group.name for group in GROUPS), *TAGS})


def tasks_of(name: str) -> list[Task]:
    """Return the tasks of a name, which is a task's, a group's, or a tag."""
    members = next((group.members for group in GROUPS if group.name == name), ())
    return [task for member in members for task in tasks_of(member)] or [
        task for task in TASKS if name in (task.name, task.tag)
    ]


def expanded(names: Iterable[str]) -> list[str]:
    """Return the names of the tasks that names of tasks, groups and tags stand for; others stand for themselves."""
    return [task for name in names for task in ([task.name for task in tasks_of(name)] or [name])]


def setting_of(task: str) -> str | None:
    """Return the configuration that a task asks about as it stands; None for groups, variants and means of several."""
    return next((record.configuration for record in TASKS if record.name == task and not record.alias), None)


def task_of(configuration: str) -> Task | None:
    """Return the task that asks a configuration as it stands."""
    return next((task for task in TASKS if task.configuration == configuration and not task.alias), None)


_MARKER, _FOLDER = ".made-by-academiceval", "academiceval"


def tasks_path() -> Path:
    """Return the folder for lm-eval's --include_path."""
    return Path(__file__).resolve().parents[1]


def is_linked() -> bool:
    """Tell whether lm-eval finds the tasks without --include_path."""
    folder = tasks_folder()
    return folder is not None and all((folder / _FOLDER / name / _MARKER).is_file() for name in NAMES)


def without_tasks() -> Path:
    """Return a folder for --include_path that adds nothing, for when the tasks are linked."""
    return Path(__file__).resolve().parent


def shown_name(task: str, settings: Collection[str]) -> str:
    """Return what a table calls a task: with the settings that it asked, if these are the round's own."""
    known = {record.configuration for record in TASKS if record.name == task}
    own = sorted(set(settings) - known) if known else []
    return f"{task} ({', '.join(own)})" if own else task


def check_tasks(tasks: Iterable[str], option: str = "--tasks") -> None:
    """Raise an EvalError for a task that does not exist; it says what option names them."""
    known = task_names()
    for task in tasks:
        if task not in known:
            prefixes = dict.fromkeys(name.partition("_")[0] for name in known)
            slug = slug_of(task)
            near = [name for name in (slug, *(f"{prefix}_{slug}" for prefix in prefixes)) if name in known]
            listed = "`academiceval eval --tasks list` prints the tasks"
            hint = f"did you mean {near[0]!r}?" if near else suggestion(task, known, otherwise=listed)
            raise EvalError(f"unknown task {task!r} in {option}; {hint}")


def link() -> Path:
    """Link every task file into the installed lm_eval, and return the folder made; doing it again changes nothing. An EvalError if
    lm_eval is not installed, its folder cannot be written, or contains a folder that is not ours.
    """
    unlink()
    folder = _linked_folder()
    draft = _aside(folder)
    try:
        for source in (FAMILIES_FOLDER, *(FAMILIES_FOLDER / name for name in NAMES)):
            target = draft / source.relative_to(FAMILIES_FOLDER)
            target.mkdir()
            (target / _MARKER).touch()
            for file in sorted(source.glob("*yaml")):
                (target / file.name).symlink_to(file)
        draft.rename(folder)
    except OSError as err:
        raise EvalError(f"cannot write {folder}: {err.strerror}; use --include_path {tasks_path()} instead") from err
    return folder


def unlink() -> Path | None:
    """Remove the folder that `link` made, and return it; None if there is none. An EvalError if the folder there is not ours."""
    folder = _linked_folder()
    aside = _aside(folder)
    shutil.rmtree(aside, ignore_errors=True)
    if not folder.is_symlink() and (folder / _MARKER).is_file():
        folder.rename(aside)
        shutil.rmtree(aside)
        return folder
    if folder.exists() or folder.is_symlink():
        raise EvalError(
            f"{folder} was not made by academiceval and is left alone; remove it yourself, or use --include_path"
        )
    return None


def _aside(folder: Path) -> Path:
    """Return where the folder is made, and removed, beyond lm-eval's tasks: whoever looks finds all of it or nothing."""
    return folder.parent.with_name(f".{folder.name}")


def _linked_folder() -> Path:
    folder = tasks_folder()
    if folder is None:
        raise EvalError("lm_eval is not installed; `pip install academiceval` installs it")
    return folder / _FOLDER
