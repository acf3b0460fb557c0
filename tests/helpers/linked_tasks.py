"""Task files in the installed lm_eval for a while; all test processes share it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from lm_eval_tasks.tasks import catalogue as task_folder


@contextmanager
def linked_tasks(shared: Path) -> Iterator[None]:
    """Link the tasks; afterwards they are as before.

    Args:
        shared: a folder of all test processes.
    """
    with FileLock(shared / "linked-tasks.lock"):
        existed = (task_folder._linked_folder() / task_folder._MARKER).exists()
        assert task_folder.link() == task_folder.link()
        try:
            yield
        finally:
            if not existed:
                assert task_folder.unlink()
                assert not task_folder.unlink()


@contextmanager
def installed_tasks(folder: Path, shared: Path) -> Iterator[None]:
    """Put a folder named `academiceval` in the place where ours is linked.

    Args:
        shared: a folder of all test processes.
    """
    place = task_folder._place("academiceval")
    with FileLock(shared / "linked-tasks.lock"):
        were_linked = bool(task_folder.unlink())
        shutil.copytree(folder, place)
        (place / task_folder._MARKER).touch()  # so that what a killed test leaves is taken for ours
        try:
            yield
        finally:
            shutil.rmtree(place)
            if were_linked:
                task_folder.link()
