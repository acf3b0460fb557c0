"""The release of this software, which only pyproject.toml names, and what else its bytes depend on."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

VERSION = version("academiceval")
_PACKAGES = ("lm_eval_tasks", "builder")
_LIBRARIES = ("numpy", "pyarrow", "pymupdf", "tokenizers", "torch", "transformers")


@cache
def code_version() -> str:
    """The release, a hash of the code (two checkouts of one release may differ) and the libraries that make the bytes."""
    root = Path(__file__).resolve().parents[2]
    digest = sha256()
    for package in _PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            digest.update(path.read_bytes())
    libraries = ", ".join(f"{name} {_version(name)}" for name in _LIBRARIES)
    return f"academiceval {VERSION}, code {digest.hexdigest()[:8]}, {libraries}"


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "-"
