"""Where the files of a JATS source lie: in a folder, in archives (PMC's packages, bioRxiv's MECA), or in an object store."""

from __future__ import annotations

import hashlib
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from builder.errors import SourceError
from builder.packed import ERRORS, MOST_BYTES, OF_THE_FILE
from builder.sources.jats.markup import ENDINGS
from builder.sources.object_store import expand_names, is_address, local_copy
from lm_eval_tasks.base.files import sync_folder, write_whole

_TARS = (".tar", ".tar.gz", ".tgz", ".tar.xz")
_ZIPS = (".zip", ".meca")
# Of a MECA archive everything but the article: https://www.niso.org/publications/rp-30-2020-meca
_NO_ARTICLES = frozenset({"manifest.xml", "transfer.xml", "directives.xml", "peer-review.xml", "mimetype"})
_DONE = "unpacked"
_LONGEST = 100
# Articles pack to a fifth; what an archive may unpack to, in all.
_MOST_TIMES, _LEAST_UNPACKED = 100, 1 << 28


def files_of(path: str, workspace: Path) -> list[str]:
    """Paths and addresses of the articles, in order; archives are unpacked in the workspace, once.

    Raises:
        SourceError: there is nothing, or something cannot be read.
    """
    names = expand_names([path]) if is_address(path) else _files_below(Path(path), workspace)
    articles: list[str] = []
    for name in names:
        if name.endswith(_TARS + _ZIPS):
            articles += sorted(map(str, _unpack(name, workspace / "unpacked" / _folder_of(name))))
        elif name.endswith(ENDINGS):
            articles.append(name)
    if not articles:
        raise SourceError(f"{path} has no article in JATS: name a folder or archive with .xml or .nxml files in it")
    return articles


def _files_below(path: Path, workspace: Path) -> list[str]:
    """The files of a folder, without what the workspace keeps, should it lie there."""
    if path.is_file():
        return [str(path)]
    if not path.is_dir():
        raise SourceError(f"there is no {path}; `source.path` in round.toml says where the articles are")
    own = workspace.resolve()
    files = (file for file in path.rglob("*") if file.is_file() and not file.resolve().is_relative_to(own))
    return sorted(map(str, files))


def _folder_of(name: str) -> str:
    """A folder for what an archive contains; one that was changed gets another."""
    what = (
        name
        if is_address(name)
        else f"{Path(name).resolve()} {Path(name).stat().st_size} {Path(name).stat().st_mtime_ns}"
    )
    return hashlib.sha256(what.encode()).hexdigest()[:16]


def _unpack(name: str, place: Path) -> list[Path]:
    """The articles of an archive as files. What is not an article is left in it, and so are paths that lead elsewhere."""
    if not (place / _DONE).is_file():
        place.mkdir(parents=True, exist_ok=True)
        try:
            with local_copy(name) as archive:
                left = max(_LEAST_UNPACKED, _MOST_TIMES * archive.stat().st_size)
                for number, (member, content) in enumerate(_members(archive)):
                    data = content.read(MOST_BYTES + 1)
                    left -= len(data)
                    if left < 0:
                        raise SourceError(
                            f"the articles in {name} are more than {_MOST_TIMES} times as large as the archive: take it away, or unpack it "
                            "yourself if you trust it"
                        )
                    if len(data) <= MOST_BYTES:
                        # Members of one name in several folders are different articles.
                        write_whole(place / f"{number:07d}-{member[-_LONGEST:]}", data)
        except OF_THE_FILE as err:
            raise SourceError(f"cannot read {name}: {err}") from err
        except (tarfile.TarError, zipfile.BadZipFile, RuntimeError, *ERRORS) as err:
            raise SourceError(f"the archive {name} cannot be unpacked ({err}); get it again, or take it away") from err
        sync_folder(place)
        write_whole(place / _DONE, b"")
    return [file for file in place.iterdir() if file.name.endswith(ENDINGS)]


def _members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Name, without folders, and content of each article, in the archive's order."""
    with _opened(archive) as members:
        for path, content in members:
            name = PurePosixPath(path).name
            if name.endswith(ENDINGS) and name not in _NO_ARTICLES and not name.startswith("."):
                yield name, content


@contextmanager
def _opened(archive: Path) -> Iterator[Iterator[tuple[str, IO[bytes]]]]:
    if archive.name.endswith(_ZIPS):
        with zipfile.ZipFile(archive) as packed:
            yield ((info.filename, packed.open(info)) for info in packed.infolist() if not info.is_dir())
    else:
        with tarfile.open(archive) as packed_tar:
            yield (
                (info.name, content)
                for info in packed_tar
                if info.isfile() and (content := packed_tar.extractfile(info)) is not None
            )
