"""What Inspect has no public way for."""

from typing import TypeVar

from inspect_ai._util.error import PrerequisiteError

_T = TypeVar("_T")
# Ends Inspect's command with one sentence and no traceback; its documented extensions raise this, but it has no public name.
StopError = PrerequisiteError


def as_package(component: _T) -> _T:
    """Return a task or scorer that keeps the name it is registered under.

    Inspect puts the name of the module's package first, which would be `lm_eval_tasks`; of a module that it cannot find it
    takes none. A public way would be a name for the package next to the entry point.
    """
    component.__module__ = "academiceval"
    return component
