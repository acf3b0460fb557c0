"""Papers made for a test."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import date, timedelta
from pathlib import Path

from builder.records import Paper
from builder.sources.mirror import MirrorSource

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


def mirror(folder: Path, papers: Iterable[Paper]) -> MirrorSource:
    """A mirror of the papers, without files."""
    folder.mkdir(parents=True, exist_ok=True)
    records = (
        {
            "id": one.id,
            "version": one.version,
            "title": one.title,
            "abstract": one.abstract,
            "authors": one.authors,
            "categories": one.categories,
            "published": one.published.isoformat(),
            "updated": one.updated.isoformat(),
            "license": one.license,
        }
        for one in papers
    )
    (folder / "meta.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return MirrorSource(folder)
