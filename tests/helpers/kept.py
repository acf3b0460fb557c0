"""A folder that takes seconds to build, kept from one test run to the next while the sources it was built by are the same."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from filelock import FileLock

_ROOT = Path(__file__).resolve().parents[2]
_PACKAGES = ("builder", "lm_eval_tasks", "hub_scripts")
_SOURCES = "sources.json"  # what the folder was built by: path -> SHA-256


def copy_kept(kept: Path, place: Path, build: Callable[[Path], object]) -> None:
    """Copy a kept folder to `place`; build it first if it is missing, unfinished, or of other sources."""
    with FileLock(kept.with_name(f"{kept.name}.lock")):
        if not _is_current(kept):
            shutil.rmtree(kept, ignore_errors=True)
            build(kept)
            (kept / _SOURCES).write_text(json.dumps({str(path): _sha256(path) for path in sorted(set(_sources()))}))
        shutil.copytree(kept, place, ignore=shutil.ignore_patterns(_SOURCES))


def _is_current(kept: Path) -> bool:
    try:
        sources = json.loads((kept / _SOURCES).read_bytes())
        return all(_sha256(Path(path)) == sha256 for path, sha256 in sources.items())
    except (OSError, ValueError):
        return False


def _sources() -> Iterator[Path]:
    """The project's modules that this process has imported, and every file of the packages that is not a module."""
    for module in list(sys.modules.values()):
        path = Path(getattr(module, "__file__", None) or "/")
        if path.is_relative_to(_ROOT) and path.relative_to(_ROOT).parts[0] in _PACKAGES:
            yield path
    for package in _PACKAGES:
        for path in (_ROOT / package).rglob("*"):
            if path.is_file() and path.suffix not in (".py", ".pyc"):
                yield path
    for folder in ("standins", "tests/helpers"):
        yield from (_ROOT / folder).glob("*.py")
    yield from (_ROOT / "pyproject.toml", _ROOT / "constraints.txt", _ROOT / "tests" / "conftest.py")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
