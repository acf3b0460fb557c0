"""`academiceval eval --contexts`: the same samples asked with less to read, in one run: task files for it."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from lm_eval_tasks import families
from lm_eval_tasks.base.contract import CALLED, CONTEXTS, FULL, LIKELIHOOD, Context
from lm_eval_tasks.base.errors import OptionError
from lm_eval_tasks.base.metadata import TEST, dataset_of, values
from lm_eval_tasks.base.text import suggestion
from lm_eval_tasks.data.round_folder import find_round
from lm_eval_tasks.families.descriptor import FAMILIES_FOLDER, Task, slug_of
from lm_eval_tasks.families.registry import BASELINES
from lm_eval_tasks.tasks.catalogue import CORE_GROUPS, GROUPS, TASKS, tasks_of
from lm_eval_tasks.tasks.yaml_files import task_text

_LOGGER = logging.getLogger(__name__)


def contexts_of(text: str) -> tuple[Context, ...]:
    """Read "none,start,full"; an OptionError if it is something else."""
    names = [CALLED.get(name.strip(), name.strip()) for name in text.split(",")]
    for name in names:
        if name not in CONTEXTS:
            raise OptionError(f"--contexts cannot be {name!r:.40}; {suggestion(name, (*CONTEXTS, *CALLED))}")
    return tuple(context for context in CONTEXTS if context in names)


def of_round(tasks: Sequence[str], metadata: Mapping[str, object], why_no_likelihood: str = "") -> list[str]:
    """Name the tasks, with groups as far as the round has rows of what they ask; those of the core as its manifest has it.

    Args:
        why_no_likelihood: if it says why, what the core asks by likelihood is left out.

    Raises:
        OptionError: nothing is left to ask.
    """
    groups = {group.name for group in GROUPS}
    if not groups & set(tasks):
        return list(tasks)
    round_ = find_round(dataset_of(metadata), values(metadata)["dataset_revision"])
    if round_ is None:
        return list(tasks)
    with_rows = round_.with_rows(str(metadata.get("split") or TEST))
    asked: list[str] = []
    lacking: list[str] = []
    for name in tasks:
        members = tasks_of(name) if name in groups else []
        is_core = name in CORE_GROUPS and bool(round_.core)
        there = [task for task in members if task.configuration in (round_.core if is_core else with_rows)]
        if is_core:
            asked += _core_tasks(name, round_.core, why_no_likelihood)
        elif len(there) in (0, len(members)):
            asked.append(name)
            continue
        else:
            asked += [task.name for task in there]
        lacking += [task.configuration for task in members if task not in there]
    if not asked:
        raise OptionError(f"this round has no rows of what {', '.join(tasks)} would ask of such a model")
    if lacking:
        _LOGGER.warning("not asked, because this round does not have it: %s", ", ".join(dict.fromkeys(lacking)))
    return asked


def _core_tasks(name: str, core: Iterable[str], why_no_likelihood: str) -> list[str]:
    """Return the tasks of a round's core, of its whole or its small edition."""
    of_edition = [task for each in core for task in tasks_of(f"{name}_{slug_of(each)}")]
    skipped = [task.configuration for task in of_edition if task.way == LIKELIHOOD and why_no_likelihood]
    if skipped:
        _LOGGER.warning("not asked by likelihood, because %s: %s", why_no_likelihood, ", ".join(skipped))
    return [task.name for task in of_edition if task.configuration not in skipped]


def programs_of(tasks: Sequence[str], metadata: Mapping[str, object]) -> dict[str, list[str]]:
    """Find for each baseline the tasks that it answers, of those of a round."""
    asked = [task for name in of_round(tasks, metadata) for task in tasks_of(name)]
    found: dict[str, list[str]] = {}
    for task in {task.name: task for task in asked}.values():
        family = families.of_task(families.target_of_configuration(task.configuration).name)
        for program in family.baselines_of(task.way):
            found.setdefault(program, []).append(task.name)
    return {program: found[program] for program in BASELINES if program in found}


def in_contexts(tasks: Sequence[str], contexts: Sequence[Context]) -> list[Task]:
    """Return the tasks that ask each of some tasks, groups and tags in some contexts, as far as it has them; those without any are left
    out.

    Raises:
        OptionError: one of them is not asked as it stands, or all have none of the contexts.
    """
    asked: list[Task] = []
    lacking: dict[Context, list[str]] = {}
    for task in dict.fromkeys(task for name in tasks for task in tasks_of(name)):
        if task.context != FULL:
            raise OptionError(
                f"--contexts asks a task with less and less to read, but {task.name} is a way of its own to ask "
                f"{task.configuration}: give the task that asks it as usual"
            )
        own = (FULL, *families.shorter_of(task.configuration))
        for context in contexts:
            if context in own:
                asked.append(task if context == FULL else task.with_context(context))
            else:
                lacking.setdefault(context, []).append(task.name)
    for context, names in lacking.items():
        _LOGGER.warning("not asked in the context %s, which they do not have: %s", context, ", ".join(names))
    if not asked:
        raise OptionError(f"no task in --tasks is asked with --contexts {','.join(contexts)}")
    return asked


def numbers_of(samples: Mapping[str, Sequence[int]], asked: Iterable[Task]) -> dict[str, Sequence[int]]:
    """Find the numbers of the samples of each task, those of a task for all its contexts."""
    names = {task.name: task.name.removesuffix(f"_{task.context}") for task in asked}
    others = {name: numbers for name, numbers in samples.items() if name not in names.values()}
    return {**others, **{name: samples[full] for name, full in names.items() if full in samples}}


def write_tasks(tasks: Iterable[Task], folder: Path) -> None:
    """Write the files of tasks that have none of their own, for lm-eval's `include_path`."""
    for task in tasks:
        if task not in TASKS:
            (folder / f"{task.name}.yaml").write_text(
                task_text(task, folder=f"{FAMILIES_FOLDER / task.family}/"), encoding="utf-8"
            )
