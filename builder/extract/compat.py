"""`pymupdf`: the internals that we use."""

from collections.abc import Iterator

import pymupdf

# What MuPDF raises for a damaged file; most of it is a RuntimeError, a cycle among the pages is not.
FAULTS: tuple[type[Exception], ...] = (RuntimeError, pymupdf.mupdf.FzErrorBase)


def outline_of(pdf: pymupdf.Document) -> Iterator[tuple[int, str]]:
    """Yield the levels and titles of the file's outline.

    The public way, `get_toc`, looks up each entry's page too, which takes longer than to read the file.
    """
    waiting = [(1, pdf.outline)]
    while waiting:
        level, entry = waiting.pop()
        if entry is not None and entry.this.m_internal:
            yield level, entry.title or " "
            waiting += [(level, entry.next), (level + 1, entry.down)]
