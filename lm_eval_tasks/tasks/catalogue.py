"""The tasks and groups of lm-eval that follow from the records."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lm_eval_tasks.tasks.records import (
    ALL_LEVELS,
    CLOZE_TOKENS,
    CORE,
    CORE_READINGS,
    FULL,
    LEVELS,
    MATCH_CORE,
    PLAIN,
    READING_TOKENS,
    READINGS,
    ROLES,
    SHORTER,
    TARGETS,
    TINY,
    Core,
    Kind,
    Level,
    Reading,
    Role,
    Setting,
    settings_of,
    slug_of,
    task_of_configuration,
)

if TYPE_CHECKING:
    from lm_eval_tasks.base.metadata import Context

# Of the core's samples, those that its small edition asks.
_TINY_SHARE = 10


@dataclass(frozen=True, slots=True)
class Task:
    """One task of lm-eval.

    Attributes:
        folder: of its file.
        configuration: of the dataset.
        base: the file that its own file includes.
        role, context: as `data.hook.load` takes them.
        tag: "" for none.
    """

    folder: str
    name: str
    configuration: str
    base: str
    answer_tokens: int
    role: str = "prompt"
    alias: str = ""
    size: int | None = None
    tag: str = ""
    context: Context = FULL

    @property
    def display_name(self) -> str:
        return f"{self.configuration} ({self.alias})" if self.alias else self.configuration


@dataclass(frozen=True, slots=True)
class TaskGroup:
    """One group of lm-eval's tasks.

    Attributes:
        folder: of its file.
        mean_of: the kind of its members, which each count the same in its score; None if it has no score.
    """

    folder: str
    name: str
    members: tuple[str, ...]
    mean_of: Kind | None


def _of_setting(role: Role, setting: Setting) -> Task:
    [target] = [target for target in TARGETS if target.name == setting.task]
    return Task(
        folder="academiceval",
        name=role.name.format(slug=setting.slug, task=setting.task),
        configuration=setting.name,
        base="_base_yaml" if role.answer_tokens else f"_{setting.task}_yaml",
        answer_tokens=role.answer_tokens or target.answer_tokens,
        role=role.role,
        alias=role.alias,
        size=role.size,
        tag=f"academiceval_{setting.demonstrations}" if role is PLAIN else "",
        context=role.context,
    )


def _of_level(level: Level) -> Task:
    return Task("scalar", level.slug, level.name, "_base_yaml", CLOZE_TOKENS)


def _of_reading(reading: Reading) -> Task:
    return Task("reading", f"academiceval_{reading.slug}", reading.name, f"_{reading.task}_yaml", READING_TOKENS)


_USUAL: tuple[Task, ...] = (
    *(_of_setting(role, setting) for role in (*ROLES, TINY) for setting in settings_of(role)),
    *(_of_level(level) for level in ALL_LEVELS),
    *(_of_reading(reading) for reading in READINGS),
)
_CORE, _CORE_TINY = CORE_GROUPS = "academiceval_core", "academiceval_core_tiny"


def with_context(task: Task, context: Context) -> Task:
    """The task that asks the same with less to read."""
    alias = f"{task.alias}, {context}" if task.alias else context
    return replace(task, name=f"{task.name}_{context}", alias=alias, context=context, tag="")


def _of_core(core: Core) -> Iterator[Task]:
    """The tasks of a core configuration: with all its contexts, and a tenth of it."""
    [usual] = [task for task in _USUAL if task.configuration == core.configuration and not task.alias]
    slug = slug_of(core.configuration)
    whole = replace(usual, name=f"{_CORE}_{slug}", alias="core", size=core.samples, tag="")
    yield whole
    yield from (with_context(whole, context) for context in SHORTER[task_of_configuration(core.configuration)])
    yield replace(whole, name=f"{_CORE_TINY}_{slug}", alias="core, tiny", size=core.samples // _TINY_SHARE)


TASKS: tuple[Task, ...] = (*_USUAL, *(task for core in (*CORE, MATCH_CORE) for task in _of_core(core)))


def _groups() -> Iterator[TaskGroup]:
    for role in (*ROLES, TINY):
        settings = settings_of(role)
        names: dict[str, list[str]] = {}
        for setting in settings:
            name = role.name.format(slug=setting.slug, task=setting.task)
            names.setdefault(role.group.format(task=setting.task), []).append(name)
        if "{task}" in role.group:
            yield TaskGroup("academiceval", role.group.removesuffix("_{task}"), tuple(names), "writing")
        yield from (
            TaskGroup("academiceval", group, tuple(members), "writing") for group, members in names.items() if group
        )
    yield TaskGroup("scalar", "scalar", tuple(level.slug for level in LEVELS), "cloze")
    yield TaskGroup("scalar", "scalar_ablation", tuple(level.slug for level in ALL_LEVELS), None)
    yield TaskGroup(
        "reading", "academiceval_reading", tuple(f"academiceval_{reading.slug}" for reading in CORE_READINGS), None
    )
    for name in (_CORE, _CORE_TINY):
        yield TaskGroup("academiceval", name, tuple(f"{name}_{slug_of(core.configuration)}" for core in CORE), None)


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


def core_tasks(group: str, configurations: Collection[str]) -> list[str]:
    """The tasks of the core's group, or its small edition's, for the configurations that a round calls its core."""
    return [f"{group}_{slug_of(name)}" for name in configurations]


def setting_of(task: str) -> str | None:
    """The configuration that a task asks about as it stands; None for groups, variants and means of several."""
    plain = (record for record in TASKS if record.name == task and not record.alias)
    return next((record.configuration for record in plain), None)


def task_of(configuration: str) -> Task | None:
    """The task that asks a configuration as it stands."""
    return next((task for task in TASKS if task.configuration == configuration and not task.alias), None)
