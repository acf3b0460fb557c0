"""Looking up version 1 of papers that were revised: the authors' own other text of the same abstract and title."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from builder.records import Paper
from lm_eval_tasks.core.batches import batches
from lm_eval_tasks.core.progress import progress

if TYPE_CHECKING:
    from builder.sources.base import Source
    from builder.store import Store

# As many as arXiv is asked for in one request.
_AT_ONCE = 200


def learn_first_versions(source: Source, store: Store, papers: Sequence[Paper]) -> None:
    """Ask the source for version 1 of the revised papers, each once for good.

    A source that has only the last version, such as a mirror of Kaggle's snapshot, gives that one; then it is noted that there is
    no first version.
    """
    revised = [paper.id for paper in papers if paper.version > 1 and store.first_version(paper.id) is None]
    for batch in progress(batches(revised, _AT_ONCE), "first versions"):
        items = source.by_ids([f"{id_}v1" for id_ in batch])
        # A source that has only the last version will not have the first one later; one that gave nothing may.
        texts = [
            (item.id, item.title, item.abstract) if item.version == 1 else (item.id, "", "")
            for item in items
            if isinstance(item, Paper)
        ]
        with store.transaction():
            store.add_first_versions(texts)
