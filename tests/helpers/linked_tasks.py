"""Task files in the installed lm_eval for a while; all test processes share it."""

from __future__ import annotations

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
