"""Our tasks as lm-eval loads them for one run: with room for reasoning, and each prompt as often as the run repeats it.

A public way to have answers as long as their rows say would be a key of task files for it; our files name `LongAnswerTask` as their class.
"""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval.api.task import ConfigurableTask
from lm_eval.tasks import TaskManager

from lm_eval_tasks.base.errors import NothingFitsError, OptionError

_LOGGER = logging.getLogger(__name__)


class RunTasks(TaskManager):  # type: ignore[misc]
    """lm-eval's task manager over our tasks alone.

    Args:
        folders: of the task files.
        metadata: what the tasks are loaded with.
        reasoning_tokens: how much longer every answer may be than its task says.
        repeats: how often each prompt is asked.
        samples: task -> the places of the samples that are asked for; None for all.
        members: the tasks of the names that are loaded, groups taken apart.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        metadata: Mapping[str, Any],
        reasoning_tokens: int = 0,
        repeats: int = 1,
        samples: Mapping[str, Sequence[int]] | None = None,
        members: Sequence[str] = (),
    ) -> None:
        super().__init__(include_path=list(map(str, folders)), include_defaults=False, metadata=dict(metadata))
        self._reasoning_tokens, self._repeats = reasoning_tokens, repeats
        self._samples, self._members = samples, members

    def load(self, task_list: Any) -> Any:
        """Load tasks as lm-eval does, with what this run changes.

        Raises:
            OptionError: two of the names contain the same task, or a sample does not exist.
            NothingFitsError: no task has a prompt that fits.
        """
        try:
            loaded = self._load_what_fits(task_list)
        except ValueError as err:
            if "Duplicate task" not in str(err):
                raise
            raise OptionError(f"--tasks names a task twice ({err}): leave one of the names out") from err
        self._check_samples(loaded["tasks"])
        for task in loaded["tasks"].values():
            if self._reasoning_tokens and task.config.generation_kwargs:
                longest = task.config.generation_kwargs["max_gen_toks"] + self._reasoning_tokens
                task.set_config(key="generation_kwargs", value={"max_gen_toks": longest}, update=True)
            task.set_config(key="repeats", value=self._repeats)
        return loaded

    def _load_what_fits(self, names: Sequence[str]) -> Any:
        """Load tasks as lm-eval does; if no prompt of a task fits, the others one by one, without the means of their groups."""
        try:
            return super().load(names)
        except NothingFitsError as err:
            none_fits = err
        fitting: list[Any] = []
        for name in self._members or names:
            try:
                fitting += super().load(name)["tasks"].values()
            except NothingFitsError as err:
                _LOGGER.warning("%s: it is left out", err)
        if not fitting:
            raise NothingFitsError(f"{none_fits}: use a model with a longer context") from none_fits
        return super().load(fitting)

    def _check_samples(self, tasks: Mapping[str, Any]) -> None:
        if self._samples is not None and not self._samples:
            raise OptionError("--samples names no task")
        for name, positions in (self._samples or {}).items():
            if name not in tasks:
                raise OptionError(f"--samples names the task {name!r}, which is not run")
            count = len(tasks[name].eval_docs)
            if (
                not isinstance(positions, list)
                or not positions
                or any(type(position) is not int or not 0 <= position < count for position in positions)
            ):
                raise OptionError(f"--samples of {name} is not a list of places from 0 to {count - 1}")


class LongAnswerTask(ConfigurableTask):  # type: ignore[misc]
    """A task that is configured by its file, but for the length of answers."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(config={key: value for key, value in config.items() if key != "class"})
        self._usual = self.config.generation_kwargs["max_gen_toks"]

    def construct_requests(self, doc: dict[str, Any], ctx: str, **kwargs: Any) -> Any:
        """Make the requests as lm-eval does, with the length that the row allows, unless the run sets another."""
        request = super().construct_requests(doc, ctx, **kwargs)
        arguments = request.arguments[1]
        if arguments["max_gen_toks"] == self._usual:
            arguments["max_gen_toks"] = doc["answer_cap"] or self._usual
        return request
