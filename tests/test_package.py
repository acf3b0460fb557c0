"""What pip installs: every file that the packages read."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("builder", "lm_eval_tasks", "hub_scripts")


@pytest.mark.slow
def test_every_file_of_the_packages_is_installed() -> None:
    given = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    files = [path for name in PACKAGES for path in (ROOT / name).rglob("*") if path.is_file()]
    others = [path.relative_to(ROOT) for path in files if path.suffix not in (".py", ".pyc")]
    assert len(others) > 50
    assert [str(path) for path in others if not _is_installed(PurePosixPath(path), given)] == []


def _is_installed(path: PurePosixPath, patterns: dict[str, list[str]]) -> bool:
    """Whether a pattern of a package that holds the file matches it; a `*` matches no `/`."""
    for package in path.parents:
        if (ROOT / package / "__init__.py").is_file():
            name, inner = ".".join(package.parts), path.relative_to(package)
            own = [*patterns["*"], *patterns.get(name, [])]
            return any(len(inner.parts) == one.count("/") + 1 and fnmatch(str(inner), one) for one in own)
    return False
