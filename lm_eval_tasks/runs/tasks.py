"""Our tasks as lm-eval loads them for one run: with room for reasoning, and each prompt as often as the run repeats it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from lm_eval.tasks import TaskManager

from lm_eval_tasks.errors import EvalError
from lm_eval_tasks.task_folder import tasks_path


class RunTasks(TaskManager):  # type: ignore[misc]
    """lm-eval's task manager over our tasks alone.

    Args:
        metadata: what the tasks are loaded with.
        reasoning_tokens: what every answer may be longer than its task says.
        repeats: how often each prompt is asked.
    """

    def __init__(self, metadata: Mapping[str, Any], reasoning_tokens: int = 0, repeats: int = 1) -> None:
        super().__init__(include_path=str(tasks_path()), include_defaults=False, metadata=dict(metadata))
        self._reasoning_tokens, self._repeats = reasoning_tokens, repeats

    def check(self, tasks: Sequence[str]) -> None:
        """Raise an EvalError for a task that there is not."""
        for task in tasks:
            if task not in self.all_tasks:
                near = get_close_matches(task, self.all_tasks, 1, 0.6)
                hint = f"did you mean {near[0]!r}? " if near else ""
                raise EvalError(f"unknown task {task!r}; {hint}`academiceval eval --tasks list` prints the tasks")

    def load(self, task_list: Any) -> Any:
        """As lm-eval's, with what this run changes."""
        loaded = super().load(task_list)
        for task in loaded["tasks"].values():
            longest = task.config.generation_kwargs["max_gen_toks"] + self._reasoning_tokens
            task.set_config(key="generation_kwargs", value={"max_gen_toks": longest}, update=True)
            task.set_config(key="repeats", value=self._repeats)
        return loaded


def task_names() -> list[str]:
    """All task and group names."""
    return sorted(RunTasks({}).all_tasks)
