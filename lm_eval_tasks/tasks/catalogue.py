"""The tasks and groups of lm-eval that follow from the families' descriptors."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from lm_eval_tasks import families
from lm_eval_tasks.families.family import Core, Task, TaskGroup, slug_of
from lm_eval_tasks.families.registry import FAMILIES

# Of the core's samples, those that its small edition asks.
_TINY_SHARE = 10
_CORE, _CORE_TINY = CORE_GROUPS = "academiceval_core", "academiceval_core_tiny"
# Questions first, then those that join a round's core only if it has enough of them.
CORE: tuple[Core, ...] = tuple(
    core
    for conditional in (False, True)
    for board in ("reading", "writing")
    for family in FAMILIES
    for core in family.core
    if family.board == board and bool(core.masks) == conditional
)


def _of_core(core: Core) -> Iterator[Task]:
    """The tasks of a core configuration: with all its contexts, and a tenth of it."""
    [usual] = [task for task in _USUAL if task.configuration == core.configuration and not task.alias]
    slug = slug_of(core.configuration)
    whole = replace(usual, name=f"{_CORE}_{slug}", alias="core", size=core.samples, tag="")
    yield whole
    yield from map(whole.with_context, families.target_of_configuration(core.configuration).shorter)
    yield replace(whole, name=f"{_CORE_TINY}_{slug}", alias="core, tiny", size=core.samples // _TINY_SHARE)


_USUAL: tuple[Task, ...] = tuple(task for family in FAMILIES for task in family.tasks)
TASKS: tuple[Task, ...] = (*_USUAL, *(task for core in CORE for task in _of_core(core)))


def _groups() -> Iterator[TaskGroup]:
    yield from (group for family in FAMILIES for group in family.groups)
    always = [core for core in CORE if not core.masks]
    for name in dict.fromkeys(family.group for family in FAMILIES if family.group):
        of_group = {core for family in FAMILIES if family.group == name for core in family.core}
        names = {task.configuration: task.name for task in _USUAL if not task.alias}
        yield TaskGroup("", name, tuple(names[core.configuration] for core in always if core in of_group))
    for name in CORE_GROUPS:
        yield TaskGroup("", name, tuple(f"{name}_{slug_of(core.configuration)}" for core in always))


GROUPS: tuple[TaskGroup, ...] = tuple(_groups())
TAGS: tuple[str, ...] = tuple(dict.fromkeys(task.tag for task in TASKS if task.tag))


def task_names() -> list[str]:
    """All names of tasks, groups and tags."""
    return sorted({*(task.name for task in TASKS), *(group.name for group in GROUPS), *TAGS})


def tasks_of(name: str) -> list[Task]:
    """The tasks of a name, which is a task's, a group's, or a tag."""
    group = next((group for group in GROUPS if group.name == name), None)
    if group:
        return [task for member in group.members for task in tasks_of(member)]
    return [task for task in TASKS if name in (task.name, task.tag)]


def expanded(names: Iterable[str]) -> list[str]:
    """The names of the tasks that names of tasks, groups and tags stand for; others stand for themselves."""
    return [task for name in names for task in ([task.name for task in tasks_of(name)] or [name])]


def setting_of(task: str) -> str | None:
    """The configuration that a task asks about as it stands; None for groups, variants and means of several."""
    return next((record.configuration for record in TASKS if record.name == task and not record.alias), None)


def task_of(configuration: str) -> Task | None:
    """The task that asks a configuration as it stands."""
    return next((task for task in TASKS if task.configuration == configuration and not task.alias), None)
