"""The families of tasks: one folder and one descriptor each; what several share lies beside them.

A new family is a folder here, one of the same name in `builder/families`, and a word in `NAMES`. A descriptor is loaded when one of its
tasks is used.
"""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from lm_eval_tasks.base.errors import EvalError

if TYPE_CHECKING:
    from lm_eval_tasks.base.contract import Context
    from lm_eval_tasks.families.descriptor import Configuration, Family, Target

NAMES = ("writing", "scalar", "walk", "next", "match", "recall")


@cache
def family_of_name(name: str) -> "Family":
    """Return the family of a folder."""
    family: Family = import_module(f"{__name__}.{name}").FAMILY
    return family


def _likely_first(name: str) -> list[str]:
    """Return the families in the order in which they are asked: most are called as what they have."""
    return sorted(NAMES, key=lambda family: family != name)


@cache
def of_task(task: str) -> "Family":
    """Return the family of a task: what prompts, rows or manifests call it.

    Raises:
        ValueError: there is none.
    """
    for name in _likely_first(task):
        family = family_of_name(name)
        if task and any(task in (target.name, target.task) for target in family.targets):
            return family
    raise ValueError(f"no family has tasks called {task!r:.60}")


def task_of_prompt(prompt_name: str) -> str:
    """Return what a prompt asks for: files are called `<task>` or `<task>_<variant>`."""
    return prompt_name.partition("_")[0]


def target_of(task: str) -> "Target":
    """Return the target of a task; argument and errors are those of `of_task`."""
    # The builtin `next` is hidden here by the family of that name.
    [target] = [target for target in of_task(task).targets if task in (target.name, target.task)]
    return target


def target_of_configuration(name: str) -> "Target":
    """Return what a built-in configuration asks for."""
    return target_of(configuration_of(name).task)


def shorter_of(name: str) -> "tuple[Context, ...]":
    """Return with how much less to read a built-in configuration is asked."""
    return of_task(configuration_of(name).task).contexts_of(name)


def configuration_of(name: str) -> "Configuration":
    """Return the built-in configuration of a name; an EvalError if there is none."""
    for family in _likely_first(name.partition("-")[0].lower()):
        for configuration in family_of_name(family).configurations:
            if configuration.name == name:
                return configuration
    raise EvalError(f"there is no built-in configuration {name!r:.60}")
