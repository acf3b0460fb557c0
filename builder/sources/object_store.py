"""Files in object stores, by address (`s3://bucket/name.pdf`, `file:///name.pdf`): whatever fsspec can open.

https://filesystem-spec.readthedocs.io/en/latest/api.html
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from builder.errors import SourceError

_T = TypeVar("_T")
# For one file, or one list of names.
PATIENCE = 300.0
# Seconds before a store that failed is asked again.
_WAITS = (1.0, 10.0)
# What is about the one file.
_OF_THE_FILE = (FileNotFoundError, IsADirectoryError, PermissionError)


def is_address(name: str) -> bool:
    """Whether a name is an address, not a path."""
    return "://" in name


def expanded(names: Iterable[str]) -> list[str]:
    """The names, addresses with `*` replaced by those that they match, by name.

    Raises:
        SourceError: the store cannot be asked, or an address with `*` matches nothing.
    """
    found: list[str] = []
    for name in names:
        matches = _matches(name) if is_address(name) and "*" in name else [name]
        if not matches:
            raise SourceError(f"{name} matches nothing; see that the address and the rights to list it are right")
        found += matches
    return found


def _matches(address: str) -> list[str]:
    def ask() -> list[str]:
        files, path = _opened(address)
        return sorted(files.unstrip_protocol(one) for one in files.glob(path))

    return _asked(ask, address)


@contextmanager
def local_copy(name: str) -> Iterator[Path]:
    """The file as one of this machine; it is fetched where the name is an address.

    Raises:
        OSError: the store has no such file, or does not give it out.
        SourceError: the store cannot be asked.
    """
    if not is_address(name):
        yield Path(name)
        return
    with TemporaryDirectory() as folder:
        place = Path(folder) / PurePosixPath(name).name

        def fetch() -> None:
            files, path = _opened(name)
            with files.open(path, "rb") as there, place.open("wb") as here:
                shutil.copyfileobj(there, here)

        _asked(fetch, name)
        yield place


def _opened(address: str) -> tuple[Any, str]:
    import fsspec

    files, path = fsspec.core.url_to_fs(address)
    return files, path


def _asked(ask: Callable[[], _T], address: str) -> _T:
    """What a store answers, asked again where it fails."""
    for wait in (*_WAITS, None):
        try:
            return _answered(ask)
        except Exception as err:  # each store's library raises its own
            # Over HTTP fsspec calls a server that cannot be reached a missing file, and says why in the cause.
            if isinstance(err, _OF_THE_FILE) and not err.__cause__:
                raise
            if wait is None or isinstance(err, ImportError | ValueError):
                raise SourceError(f"cannot read {address}: {_reason(err)}") from err
            time.sleep(wait)
    raise AssertionError("the last try returns or raises")


def _answered(ask: Callable[[], _T]) -> _T:
    """What a store answers within `PATIENCE`: its client library has limits that may be longer, or none."""
    answers: list[_T] = []
    errors: list[Exception] = []

    def work() -> None:
        try:
            answers.append(ask())
        except Exception as err:
            errors.append(err)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    if answers:
        return answers[0]
    raise errors[0] if errors else TimeoutError(f"no answer within {PATIENCE:g} s")


def _reason(err: Exception) -> str:
    if isinstance(err, ImportError):
        package = f"; pip install {err.name}" if err.name else ""
        return f"{err}".partition("\n")[0] + package
    if isinstance(err, TimeoutError):
        return str(err)
    return f"{type(err).__name__}: {err.__cause__ or err}".strip().partition("\n")[0]
