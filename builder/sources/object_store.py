"""Files in object stores, by address (`s3://bucket/name.pdf`, `file:///name.pdf`): whatever fsspec can open.

https://filesystem-spec.readthedocs.io/en/latest/api.html
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from builder.errors import SourceError

_T = TypeVar("_T")
# For one file, or one list of names.
PATIENCE = 300.0


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
        FileNotFoundError: the store has no such file.
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
    """What a store answers, within `PATIENCE`: its client libraries have limits of their own, or none."""
    answers: list[_T] = []
    errors: list[Exception] = []

    def work() -> None:
        try:
            answers.append(ask())
        except Exception as err:  # each store's library raises its own
            errors.append(err)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    if answers:
        return answers[0]
    if errors and isinstance(errors[0], FileNotFoundError):
        raise errors[0]
    reason = _reason(errors[0]) if errors else f"no answer within {PATIENCE:g} s"
    raise SourceError(f"cannot read {address}: {reason}") from (errors[0] if errors else None)


def _reason(err: Exception) -> str:
    if isinstance(err, ImportError):
        return f"{err}".partition("\n")[0]
    return f"{type(err).__name__}: {err}".strip().partition("\n")[0]
