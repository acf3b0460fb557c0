"""Plain and compressed files from strangers, read with a limit: a small file may unpack to more than fits in memory."""

import errno
import gzip
import lzma
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, cast

from builder.errors import SourceError

MOST_BYTES = 1 << 28
# A record of arXiv is about 2 kB, a structured paper of SCALAR with all that it cites up to 20 MB.
MOST_OF_A_LINE = 1 << 26
# What reading a packed file may raise.
ERRORS = (OSError, EOFError, zlib.error, lzma.LZMAError)
# Errors of the system that are about the one file. All others are the machine's: they end the command, or the process that reads, which is
# tried again; they are no fact about a file.
OF_THE_FILE = (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError)
_OF_ITS_PATH = (errno.ELOOP, errno.ENAMETOOLONG)


def open_packed(path: Path) -> BinaryIO:
    """Return a file's bytes, unpacked where its name ends in .gz, .xz or .zst.

    Raises:
        ERRORS, then and while reading: it cannot be read or unpacked.
    """
    match path.suffix.lower():
        case ".gz":
            return cast("BinaryIO", gzip.open(path, "rb"))
        case ".xz":
            return cast("BinaryIO", lzma.open(path, "rb"))
        case ".zst":
            import pyarrow as pa

            # The reader of `zstandard` ends without a word where a file is cut off.
            stream = pa.CompressedInputStream(pa.PythonFile(path.open("rb"), mode="r"), "zstd")
            return cast("BinaryIO", BufferedReader(stream))
        case _:
            return path.open("rb")


def read_packed(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return a whole file, unpacked.

    Raises:
        OSError: it unpacks to more than `most` bytes; and what `open_packed` raises.
        SourceError: the machine cannot read it.
    """
    try:
        with open_packed(path) as file:
            data = file.read(most + 1)
    except OSError as err:
        check_of_the_file(err, path)
        raise
    if len(data) > most:
        raise OSError(f"{path} unpacks to more than {most} bytes, which is refused")
    return data


def check_of_the_file(err: OSError, path: Path) -> None:
    """Raise a SourceError for an error that is the machine's."""
    if err.errno is not None and err.errno not in _OF_ITS_PATH and not isinstance(err, OF_THE_FILE):
        raise SourceError(f"cannot read {path}: {err.strerror}") from err


def lines_of(path: Path) -> Iterator[bytes | None]:
    """Yield the lines of a file, unpacked one by one, without their ends; None for each line that is too long to be held."""
    with open_packed(path) as file:
        while line := file.readline(MOST_OF_A_LINE):
            if len(line) < MOST_OF_A_LINE or line.endswith(b"\n"):
                yield line.rstrip(b"\r\n")
                continue
            while line and not line.endswith(b"\n"):
                line = file.readline(MOST_OF_A_LINE)
            yield None
