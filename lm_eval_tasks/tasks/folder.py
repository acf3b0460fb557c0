"""Where the tasks are, and making the bare `lm_eval --tasks academiceval_abs` find them.

lm-eval looks for tasks in its own folder and in --include_path only. `link` therefore puts a folder of links to our files
into the installed lm_eval; single files are linked, because lm-eval's search does not enter linked folders.
"""

import shutil
from collections.abc import Iterable
from pathlib import Path

from lm_eval_tasks.base import gone
from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.base.text import suggestion
from lm_eval_tasks.compat.lm_eval import tasks_folder
from lm_eval_tasks.families import NAMES
from lm_eval_tasks.families.family import FAMILIES_FOLDER
from lm_eval_tasks.tasks.catalogue import task_names

_MARKER = ".made-by-academiceval"
_FOLDER = "academiceval"
# Beside it, in what earlier releases linked.
_EARLIER = ("scalar", "reading")


def tasks_path() -> Path:
    """The folder for lm-eval's --include_path."""
    return Path(__file__).resolve().parents[1]


def is_linked() -> bool:
    """Whether lm-eval finds the tasks without --include_path; links that an earlier release made may lead nowhere."""
    folder = tasks_folder()
    return folder is not None and all((folder / _FOLDER / name / _MARKER).is_file() for name in NAMES)


def without_tasks() -> Path:
    """A folder for --include_path that adds nothing, for when the tasks are linked."""
    return Path(__file__).resolve().parent


def check_tasks(tasks: Iterable[str], option: str = "--tasks") -> None:
    """Raise an EvalError for a task that does not exist; it says what option names them."""
    known = task_names()
    for task in tasks:
        if said := gone.task(task):
            raise EvalError(f"the task {task!r} of {option} is gone: {said}")
        if task not in known:
            prefixes = dict.fromkeys(name.partition("_")[0] for name in known)
            near = [name for prefix in prefixes if (name := f"{prefix}_{task}") in known]
            listed = "`academiceval eval --tasks list` prints the tasks"
            hint = f"did you mean {near[0]!r}?" if near else suggestion(task, known, otherwise=listed)
            raise EvalError(f"unknown task {task!r} in {option}; {hint}")


def link() -> list[Path]:
    """Link every task file into the installed lm_eval; doing it again changes nothing. Returns the folder made; an EvalError if
    lm_eval is not installed, its folder cannot be written, or contains a folder that is not ours.
    """
    unlink()
    place = _place(_FOLDER)
    try:
        for source in (FAMILIES_FOLDER, *(FAMILIES_FOLDER / name for name in NAMES)):
            target = place / source.relative_to(FAMILIES_FOLDER)
            target.mkdir()
            (target / _MARKER).touch()
            for file in sorted(source.glob("*yaml")):
                (target / file.name).symlink_to(file)
    except OSError as err:
        raise EvalError(f"cannot write {place}: {err.strerror}; use --include_path {tasks_path()} instead") from err
    return [place]


def unlink() -> list[Path]:
    """Remove what `link` made, of this release or an earlier one; returns the folders removed."""
    removed = []
    for name in (_FOLDER, *_EARLIER):
        place = _place(name)
        if not place.is_symlink() and (place / _MARKER).is_file():
            shutil.rmtree(place)
            removed.append(place)
        # `link` needs this place alone.
        elif name == _FOLDER and (place.exists() or place.is_symlink()):
            raise EvalError(
                f"{place} was not made by academiceval and is left alone; remove it yourself, or use --include_path"
            )
    return removed


def _place(name: str) -> Path:
    folder = tasks_folder()
    if folder is None:
        raise EvalError("lm_eval is not installed; `pip install academiceval` installs it")
    return folder / name
