"""The release of this software: pyproject.toml is the one place that names it."""

from importlib.metadata import version as _version

VERSION = _version("academiceval")
