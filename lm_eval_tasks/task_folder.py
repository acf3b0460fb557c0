"""Where the tasks are, and making the bare `lm_eval --tasks academiceval_abs` find them.

lm-eval looks for tasks in its own folder and in --include_path only. `link` therefore puts a folder of links to our files
into the installed lm_eval; single files are linked, because lm-eval's search does not enter linked folders.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from lm_eval_tasks.compat.lm_eval import tasks_folder
from lm_eval_tasks.errors import TaskFolderError

_FOLDERS = ("academiceval", "scalar")
_MARKER = ".made-by-academiceval"


def tasks_path() -> Path:
    """The folder for lm-eval's --include_path."""
    return Path(__file__).resolve().parent


def link() -> list[Path]:
    """Link every task folder into the installed lm_eval; doing it again changes nothing. Returns the folders made.

    Raises:
        TaskFolderError: lm_eval is not installed, its folder cannot be written, or holds a folder that is not ours.
    """
    made = []
    for name in _FOLDERS:
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
        made.append(place)
    return made


def unlink() -> list[Path]:
    """Remove what `link` made; returns the folders removed."""
    return [place for name in _FOLDERS if _remove(place := _place(name))]


def _place(name: str) -> Path:
    folder = tasks_folder()
    if folder is None:
        raise TaskFolderError("lm_eval is not installed; `pip install academiceval` brings it")
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
