"""A run is not repeated if nothing has changed since it ended: what it showed is shown again.

What it depends on is compared by name, size and time of the last change: round.toml, this code and its libraries, the workspace's
store, a mirror's files, the lists that round.toml names, and the dataset folder itself. A live source is always asked.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from builder.round.source import MirrorTable
from lm_eval_tasks.core.files import sha256_of_bytes, write_whole
from lm_eval_tasks.core.tables import Table
from lm_eval_tasks.core.text import ODD, parse_json
from lm_eval_tasks.core.version import code_version

if TYPE_CHECKING:
    from builder.round.model import Round

# Depth of folders in folders; a link may lead back to where it is.
_DEEPEST = 4
# In the workspace.
STAMP = "run.json"
# Of the store: a log next to it means that a command was killed or is at work.
_STORE = ("store.sqlite3", "store.sqlite3-wal")


def remembered(round_: Round) -> list[str | Table] | None:
    """What the last run of this round showed; None if something has changed since, or that is not known."""
    if round_.source.LIVE:
        return None
    try:
        stamp = parse_json((round_.workspace / STAMP).read_bytes())
        shown = [one if isinstance(one, str) else Table(**one) for one in stamp["shown"]]
    except (OSError, *ODD):
        return None
    return shown if stamp.get("of") == [given(round_), _made(round_)] else None


def remember(round_: Round, before: str, shown: Sequence[str | Table]) -> None:
    """Note that a run has ended, and what it showed.

    Args:
        before: `given` as it was when the run began: what has changed meanwhile may not be in the round.
    """
    items = [one if isinstance(one, str) else asdict(one) for one in shown]
    content = {"of": [before, _made(round_)], "shown": items}
    write_whole(round_.workspace / STAMP, json.dumps(content, ensure_ascii=False) + "\n")


@contextmanager
def still_known(round_: Round) -> Iterator[None]:
    """A run that was remembered stays so, though the store is read meanwhile, which changes its file."""
    known = remembered(round_)
    yield
    if known is not None:
        remember(round_, given(round_), known)


def given(round_: Round) -> str:
    """The state of what a run is given, as a hash."""
    return sha256_of_bytes(json.dumps([round_.model_dump_json(), code_version(), _states(_inputs(round_))]))


def _made(round_: Round) -> str:
    """The state of what a run leaves, as a hash."""
    return sha256_of_bytes(json.dumps(_states([round_.output, *(round_.workspace / name for name in _STORE)])))


def _states(paths: Iterable[Path]) -> list[tuple[str, tuple[int, int]]]:
    return sorted({place: found for path in paths for place, found in _found(path)}.items())


def _inputs(round_: Round) -> Iterator[Path]:
    yield from (round_.takedowns, *round_.source.references)
    yield from (path for path in (round_.scalar.accepted, round_.core.folder) if path)
    if isinstance(round_.source, MirrorTable):
        yield round_.source.path


def _found(path: Path, depth: int = _DEEPEST) -> Iterable[tuple[str, tuple[int, int]]]:
    """Path, size and time of a file, or of every file below a folder."""
    if path.is_dir() and depth:
        with os.scandir(path) as entries:
            for entry in entries:
                yield from _found(Path(entry.path), depth - 1)
    elif path.is_file():
        known = path.stat()
        yield str(path), (known.st_size, known.st_mtime_ns)
