"""What costs processes and says nothing new in most tests is done in the process of the test."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def save_time() -> None:
    """Spare what says nothing in a test."""
    # A fourteenth of the suite's processor time goes into looking for garbage otherwise.
    gc.set_threshold(100_000, 20, 20)
    # At every run lm-eval asks pip, lscpu and others what there is here, which takes a second and ends up in no score.
    module: Any = ModuleType("torch.utils.collect_env")
    module.get_pretty_env_info = lambda: "a machine"
    sys.modules.setdefault(module.__name__, module)


@contextmanager
def one_process() -> Iterator[None]:
    """Start no process to read files, or because work takes long."""
    with pytest.MonkeyPatch.context() as patch:
        # An environment for evaluators reads no files.
        with suppress(ImportError):
            patch.setattr("lm_eval_tasks.engines.registry._PATIENCE", 1e9)
            patch.setattr("builder.extract.workers._read_here", _read_here)
        yield


def _read_here(names: Iterable[str], *_: object) -> Iterator[Any]:
    from builder.extract import workers

    for name in names:
        yield workers._read_with_retries(_Here(), name, workers._Turns(1))  # type: ignore[arg-type]


class _Here:
    """A worker without a process."""

    def read(self, path: Path) -> Any:
        from builder.extract import worker, workers

        answer = json.loads(json.dumps(worker.answer(path)))
        return workers._EXTRACTED.validate_python({"name": str(path), **answer})

    def close(self) -> None:
        pass
