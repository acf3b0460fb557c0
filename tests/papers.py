"""Papers made for a test."""

from __future__ import annotations

from datetime import date, timedelta

from builder.records import Paper

START = date(2026, 1, 1)


def paper(
    number: int, *authors: str, day: int = 0, category: str = "cs.CL", abstract: str | None = None, title: str = ""
) -> Paper:
    """A paper that differs from all others in every word of its abstract."""
    words = " ".join(f"word{number}x{i}" for i in range(60))
    published = START + timedelta(days=day)
    return Paper(
        id=f"2601.{number:05d}",
        version=1,
        title=title or f"Title number {number}",
        abstract=words if abstract is None else abstract,
        authors=authors or (f"Author {number}",),
        categories=(category,),
        published=published,
        updated=published,
        license="http://creativecommons.org/licenses/by/4.0/",
    )
