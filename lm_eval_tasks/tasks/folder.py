"""Where the tasks are, and making the bare `lm_eval --tasks academiceval_abs` find them.

lm-eval looks for tasks in its own folder and in --include_path only. `link` therefore puts a folder of links to our files
into the installed lm_eval; single files are linked, because lm-eval's search does not enter linked folders.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from lm_eval_tasks.base import gone
from lm_eval_tasks.base.errors import EvalError, TaskFolderError
from lm_eval_tasks.base.text import suggestion
from lm_eval_tasks.compat.lm_eval import tasks_folder
from lm_eval_tasks.tasks.catalogue import task_names
from lm_eval_tasks.tasks.records import FOLDERS

_LIST = "`academiceval eval --tasks list` prints the tasks"
_MARKER = ".made-by-academiceval"


def tasks_path() -> Path:
    """The folder for lm-eval's --include_path."""
    return Path(__file__).resolve().parents[1]


def is_linked() -> bool:
    """Whether lm-eval finds the tasks without --include_path."""
    folder = tasks_folder()
    return folder is not None and all((folder / name / _MARKER).is_file() for name in FOLDERS)


def without_tasks() -> Path:
    """A folder for --include_path that adds nothing, for when the tasks are linked."""
    return Path(__file__).resolve().parent


def check_tasks(tasks: Iterable[str], option: str = "--tasks") -> None:
    """Raise an EvalError for a task that does not exist.

    Args:
        option: what names them.
    """
    known = task_names()
    for task in tasks:
        if said := gone.task(task):
            raise EvalError(f"the task {task!r} of {option} is gone: {said}")
        if task not in known:
            near = [name for folder in FOLDERS if (name := f"{folder}_{task}") in known]
            hint = f"did you mean {near[0]!r}?" if near else suggestion(task, known, otherwise=_LIST)
            raise EvalError(f"unknown task {task!r} in {option}; {hint}")


def link() -> list[Path]:
    """Link every task folder into the installed lm_eval; doing it again changes nothing. Returns the folders made.

    Raises:
        TaskFolderError: lm_eval is not installed, its folder cannot be written, or contains a folder that is not ours.
    """
    folders = []
    for name in FOLDERS:
        place = _place(name)
        _remove(place)
        try:
            place.mkdir()
            (place / _MARKER).touch()
            for file in sorted((tasks_path() / name).iterdir()):
                if file.is_file():
                    (place / file.name).symlink_to(file)
        except OSError as err:
            raise TaskFolderError(
                f"cannot write {place}: {err.strerror}; use --include_path {tasks_path()} instead"
            ) from err
        folders.append(place)
    return folders


def unlink() -> list[Path]:
    """Remove what `link` made; returns the folders removed."""
    return [place for name in FOLDERS if _remove(place := _place(name))]


def _place(name: str) -> Path:
    folder = tasks_folder()
    if folder is None:
        raise TaskFolderError("lm_eval is not installed; `pip install academiceval` installs it")
    return folder / name


def _remove(place: Path) -> bool:
    if not place.exists() and not place.is_symlink():
        return False
    if place.is_symlink() or not (place / _MARKER).is_file():
        raise TaskFolderError(
            f"{place} was not made by academiceval and is left alone; remove it yourself, or use --include_path"
        )
    shutil.rmtree(place)
    return True
