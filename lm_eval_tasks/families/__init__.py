"""The families of tasks: one folder and one descriptor each; what several share lies beside them.

A new family is a folder here, one of the same name in `builder/families`, and a word in `NAMES`.
"""

from __future__ import annotations

from importlib import import_module

from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.families.family import Configuration, Family, Target

NAMES = ("writing", "scalar", "walk", "next", "match")


def _family(name: str) -> Family:
    family = import_module(f"{__name__}.{name}").FAMILY
    assert isinstance(family, Family)
    return family


FAMILIES: tuple[Family, ...] = tuple(map(_family, NAMES))
TARGETS: tuple[Target, ...] = tuple(target for family in FAMILIES for target in family.targets)
BASELINES: tuple[str, ...] = tuple(dict.fromkeys(name for family in FAMILIES for name in family.baselines))
_OF_TASK = {name: family for family in FAMILIES for target in family.targets for name in (target.name, target.task)}
_TARGETS = {name: target for target in TARGETS for name in (target.name, target.task)}


def of_task(task: str) -> Family:
    """The family of a task: what prompts, rows or manifests call it.

    Raises:
        ValueError: there is none.
    """
    if not task or task not in _OF_TASK:
        raise ValueError(f"no family has tasks called {task!r:.60}")
    return _OF_TASK[task]


def task_of_prompt(prompt_name: str) -> str:
    """What a prompt asks for: files are called `<task>` or `<task>_<variant>`."""
    return prompt_name.partition("_")[0]


def target_of(task: str) -> Target:
    """The target of a task; the argument is that of `of_task`."""
    return _TARGETS[task]


def target_of_configuration(name: str) -> Target:
    """What a built-in configuration asks for."""
    return target_of(configuration_of(name).task)


def configuration_of(name: str) -> Configuration:
    """The built-in configuration of a name.

    Raises:
        EvalError: there is none.
    """
    for family in FAMILIES:
        for configuration in family.configurations:
            if configuration.name == name:
                return configuration
    raise EvalError(f"there is no built-in configuration {name!r:.60}")
