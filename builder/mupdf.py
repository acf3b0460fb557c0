"""The package `pymupdf`, opened without what we do not use.

A program that uses us beside `pymupdf4llm` imports that one itself and calls its functions: documents lack the methods that it adds.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def _absent(*packages: str) -> Iterator[None]:
    """Have imports of packages fail meanwhile, unless they are there already."""
    hidden = [name for name in packages if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None, as the documentation of `sys.modules` says
    try:
        yield
    finally:
        for name in hidden:
            sys.modules.pop(name, None)


# A neural model of layouts, which `import pymupdf` opens where it is installed: nine tenths of the time, and 90 MB, in each process.
with _absent("pymupdf.layout", "pymupdf4llm"):
    import pymupdf as pymupdf
