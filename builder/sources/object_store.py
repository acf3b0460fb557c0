"""Files in object stores, by address (`s3://bucket/name.pdf`, `file:///name.pdf`): whatever fsspec can open.

https://filesystem-spec.readthedocs.io/en/latest/api.html
"""

import errno
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, TypeVar
from urllib.parse import urlsplit

from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_chain, wait_fixed

from builder.errors import SourceError
from builder.packed import OF_THE_FILE
from lm_eval_tasks.base.progress import within

_T = TypeVar("_T")
# For one file, or one list of names.
PATIENCE = 300.0
# A store that failed is asked again after a second, and once more after ten.
_TRIES, _WAITS = 3, (wait_fixed(1), wait_fixed(10))
_MOST_BYTES = 1 << 32
# Errors about this machine's disk.
_OF_THE_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE})


def is_address(name: str) -> bool:
    """Tell whether a name is an address, not a path."""
    return "://" in name


def local_path(name: str) -> Path | None:
    """Return the path that a name means on this machine; None for an address elsewhere."""
    if not is_address(name):
        return Path(name)
    return Path(_open(name)[1]) if name.startswith(("file://", "local://")) else None


def expand_names(names: Iterable[str]) -> list[str]:
    """Return the names, addresses with `*` replaced by those that they match, by name.

    Raises:
        SourceError: the store cannot be asked, or an address with `*` matches nothing.
    """
    all_names: list[str] = []
    for name in names:
        matches = _ask_with_retries(partial(_matches, name), name) if is_address(name) and "*" in name else [name]
        if not matches:
            raise SourceError(f"{name} matches nothing; check the address and the permission to list it")
        all_names += matches
    return all_names


def _matches(address: str) -> list[str]:
    files, path = _open(address)
    return sorted(files.unstrip_protocol(file) for file in files.glob(path))


@contextmanager
def local_copy(name: str, cancelled: threading.Event | None = None) -> Iterator[Path]:
    """Give the file as one on this machine; it is fetched if the name is an address.

    Args:
        cancelled: when it is set, nobody waits for the file any more.

    Raises:
        OSError: the store has no such file, or does not give it out.
        SourceError: the store cannot be asked.
    """
    if not is_address(name):
        yield Path(name)
        return
    with TemporaryDirectory() as folder:
        # The ending tells what kind of file it is; the rest of an address may be longer than a name can be.
        copy = Path(folder) / f"fetched{''.join(PurePosixPath(urlsplit(name).path).suffixes[-2:])[-40:]}"

        def fetch() -> None:
            files, path = _open(name)
            # A try that nobody waits for any more has a file of its own, and ends with the folder.
            copy.unlink(missing_ok=True)
            with files.open(path, "rb") as there, copy.open("wb") as here:
                while copy.parent.exists() and (piece := there.read(1 << 20)):
                    if here.tell() > _MOST_BYTES:
                        raise ValueError(f"it has more than {_MOST_BYTES} bytes, which is refused")
                    here.write(piece)

        _ask_with_retries(fetch, name, cancelled)
        yield copy


def _open(address: str) -> tuple[Any, str]:
    import fsspec

    files, path = fsspec.core.url_to_fs(address)
    return files, path


def _ask_with_retries(ask: Callable[[], _T], address: str, cancelled: threading.Event | None = None) -> _T:
    def may_pass(err: BaseException) -> bool:
        is_final = _is_of_the_file(err) or isinstance(err, ImportError | ValueError)
        return isinstance(err, Exception) and not (is_final or (cancelled and cancelled.is_set()))

    attempts = Retrying(
        retry=retry_if_exception(may_pass), stop=stop_after_attempt(_TRIES), wait=wait_chain(*_WAITS), reraise=True
    )
    try:
        return attempts(lambda: within(PATIENCE, ask, cancelled))
    except Exception as err:  # each store's library raises its own
        if _is_of_the_file(err):
            raise
        raise SourceError(f"cannot read {address}: {_reason(err)}") from err


def _is_of_the_file(err: BaseException) -> bool:
    """Tell whether an error is about the one file, or about this machine's disk, not about the store."""
    # Over HTTP fsspec calls a server that cannot be reached a missing file, and says why in the cause.
    return (isinstance(err, OSError) and err.errno in _OF_THE_DISK) or (
        isinstance(err, OF_THE_FILE) and not err.__cause__
    )


def _reason(err: Exception) -> str:
    if isinstance(err, ImportError):
        return f"{err}".partition("\n")[0] + (f"; pip install {err.name}" if err.name else "")
    if isinstance(err, TimeoutError):
        return str(err)
    return f"{type(err).__name__}: {err.__cause__ or err}".strip().partition("\n")[0]
