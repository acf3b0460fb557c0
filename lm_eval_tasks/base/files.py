"""Files, whole or not at all, even after a power cut; hashes; one writer at a time; tables beside modules; what only Linux can do."""

import ctypes
import errno
import hashlib
import os
import platform
import signal
import sys
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

# Of <linux/prctl.h>, <fcntl.h> and <linux/fs.h>.
_PR_SET_PDEATHSIG, _AT_FDCWD, _RENAME_EXCHANGE = 1, -100, 2


def toml_beside(module: str, name: str) -> dict[str, Any]:
    """Read a table that lies beside a module, given by its `__file__`."""
    return tomllib.loads(Path(module).with_name(name).read_text(encoding="utf-8"))


def known_sha256(path: Path) -> str:
    """Return the hash of a file's bytes, from memory if the file is the same as when it was hashed; an OSError if it cannot be read."""
    stamp = _stamp_of(path)
    note = cache_folder() / "sha256" / sha256_of_bytes(str(path.resolve()))[:32]
    with suppress(OSError, ValueError):
        known_stamp, digest = note.read_text(encoding="utf-8").split()
        if known_stamp == stamp:
            return digest
    # A file that changed in the last two seconds may change again within one tick of its clock.
    is_settled = time.time_ns() - path.stat().st_mtime_ns > 2_000_000_000
    digest = sha256_of(path)
    # What cannot be remembered is hashed again.
    if is_settled and stamp == _stamp_of(path):
        with suppress(OSError):
            note.parent.mkdir(parents=True, exist_ok=True)
            write_whole(note, f"{stamp} {digest}")
    return digest


def _stamp_of(path: Path) -> str:
    """Return what changes when a file's bytes do; its time of change cannot be set back."""
    facts = path.stat()
    return f"{facts.st_size}-{facts.st_mtime_ns}-{facts.st_ctime_ns}-{facts.st_dev}-{facts.st_ino}"


def cache_folder() -> Path:
    """Return where what can be computed again is kept: the variable ACADEMICEVAL_CACHE, else ~/.cache/academiceval."""
    return Path(os.environ.get("ACADEMICEVAL_CACHE") or Path.home() / ".cache" / "academiceval")


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Let an OSError that names no file, such as that of a full disk, name this place."""
    try:
        yield
    except OSError as err:
        if err.filename is None:
            err.filename = str(path)
        raise


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file to write that appears under its name when the block is left, and not at all if the block fails.

    Raises:
        OSError: the path is that of something else than a file, such as a device, which must not be replaced by one.
    """
    _refuse_special(path)
    unfinished = unfinished_of(path)
    try:
        with named(path), unfinished.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise
    unfinished.replace(path)
    sync(path.parent)


def _refuse_special(path: Path) -> None:
    if not path.name or (path.exists() and not path.is_file()):
        raise OSError(errno.EINVAL, "is not a regular file; name another one", str(path))


def write_whole(path: Path, content: bytes | str) -> None:
    """Write a file, whole or not at all; text is UTF-8."""
    with atomic_file(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def write_together(contents: Mapping[Path, Iterable[str]]) -> None:
    """Write files, given as pieces of their texts, whole; the last one exists only while all others belong to the same write."""
    *_, last = contents
    for path in contents:
        _refuse_special(path)
    try:
        # One is open at a time: a run may have hundreds.
        for path, pieces in contents.items():
            with named(path), unfinished_of(path).open("wb") as file:
                file.writelines(piece.encode() for piece in pieces)
                file.flush()
                os.fsync(file.fileno())
        last.unlink(missing_ok=True)
        sync(last.parent)
        for path in contents:
            unfinished_of(path).replace(path)
    except BaseException:
        for path in contents:
            with suppress(OSError):
                unfinished_of(path).unlink(missing_ok=True)
        raise
    for folder in {path.parent for path in contents}:
        sync(folder)


def sync(path: Path) -> None:
    """Wait until a file's bytes, or a folder's list of names, are on the disk."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except PermissionError:  # Windows cannot open a folder, and need not
        if os.name == "nt":
            return
        raise
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """Wait until everything below a folder is on the disk."""
    for path in (*folder.rglob("*"), folder):
        sync(path)


def is_inside(path: Path, folder: Path) -> bool:
    """Tell whether a path lies in a folder, links followed. Links into the blobs next to a downloaded snapshot, which is how
    the Hub's cache is laid out, count.
    """
    resolved, home = path.resolve(), folder.resolve()
    return resolved.is_relative_to(home) or resolved.parent == home.parent.parent / "blobs"


def unfinished_of(path: Path) -> Path:
    """Return where a file is written until it is complete."""
    return path.with_name(f".{path.name}.part")


def sha256_of(path: Path) -> str:
    """Return the hash of a file's bytes, in hexadecimal; an OSError if it cannot be read."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_of_bytes(content: bytes | str) -> str:
    """Return the hash of bytes, or of a text's UTF-8."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Keep all other processes from writing a file or folder until the block is left.

    Raises:
        EvalError: another process holds it; the message names the process.
    """
    from filelock import FileLock, Timeout

    from lm_eval_tasks.base.errors import EvalError

    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    lock_file = path.with_name(f".{path.name}.lock")
    lock = FileLock(lock_file)
    try:
        # Seconds that the children of a killed holder, which share its lock, may take to end on a busy machine.
        lock.acquire(timeout=2.0)
    except Timeout as err:
        holder = ""
        with suppress(OSError):
            holder = lock_file.read_text(encoding="utf-8", errors="replace")[:200]
        raise EvalError(
            f"{path} is being written by {holder or 'another process'}; wait for it to end, or stop it first"
        ) from err
    try:
        lock_file.write_text(f"process {os.getpid()} on {platform.node()}", encoding="utf-8")
        yield
    finally:
        # While it is held: whoever opened this file meanwhile sees that it is gone, and looks again.
        lock_file.unlink(missing_ok=True)
        lock.release()


def die_with(parent: int) -> None:
    """Let the system kill this process as soon as its parent, given by its id, ends, however it ends; at once if it has already."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def exchange(first: Path, second: Path) -> bool:
    """Let two folders or files take each other's place in one step, so that both names exist at any moment.

    Returns:
        False if the system or the file system cannot do that; then nothing has changed.
    """
    if sys.platform != "linux":
        return False
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    paths = os.fsencode(first), os.fsencode(second)
    return rename is not None and rename(_AT_FDCWD, paths[0], _AT_FDCWD, paths[1], _RENAME_EXCHANGE) == 0
