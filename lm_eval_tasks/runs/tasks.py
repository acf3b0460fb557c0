"""Our tasks as lm-eval loads them for one run: with room for reasoning, and each prompt as often as the run repeats it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lm_eval.tasks import TaskManager

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

    def load(self, task_list: Any) -> Any:
        """As lm-eval's, with what this run changes."""
        loaded = super().load(task_list)
        for task in loaded["tasks"].values():
            longest = task.config.generation_kwargs["max_gen_toks"] + self._reasoning_tokens
            task.set_config(key="generation_kwargs", value={"max_gen_toks": longest}, update=True)
            task.set_config(key="repeats", value=self._repeats)
        return loaded
