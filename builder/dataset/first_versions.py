"""The first versions of revised test papers: what the store has of them, and the file next to a folder's data."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from builder.errors import FolderError
from builder.ids import bare_id
from lm_eval_tasks.core.row_format import FIRST_VERSIONS, FirstVersion, parse_first_versions
from lm_eval_tasks.core.text import ODD

if TYPE_CHECKING:
    from builder.records import Paper
    from builder.store import Store


def first_versions_of(papers: Sequence[Paper], store: Store) -> list[FirstVersion]:
    """Version 1 of the revised papers, as far as the store has it, by id."""
    first_versions = ((paper, store.first_version(paper.id)) for paper in papers if paper.version > 1)
    return [FirstVersion(paper.versioned_id, *texts) for paper, texts in first_versions if texts and all(texts)]


def first_version_lines(first_versions: Sequence[FirstVersion]) -> bytes:
    """The file's content."""
    return "".join(
        json.dumps(asdict(revision), sort_keys=True, ensure_ascii=False) + "\n" for revision in first_versions
    ).encode()


def read_first_versions(folder: Path, taken_down: Collection[str] = ()) -> Iterator[FirstVersion]:
    """The entries of a folder's file except those of some papers; none if there is no file.

    Args:
        taken_down: bare ids.

    Raises:
        FolderError: it is not what we write.
    """
    path = folder / FIRST_VERSIONS
    try:
        first_versions = parse_first_versions(path.read_bytes() if path.is_file() else b"")
    except (OSError, *ODD) as err:
        raise FolderError(f"{path} cannot be read ({err}); build the folder again") from err
    return (revision for revision in first_versions if bare_id(revision.id) not in taken_down)
