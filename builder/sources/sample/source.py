"""A source that is made up: a seeded world, drawn once into a folder and read as a mirror from then on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from builder.sources.mirror import MirrorSource
from builder.sources.sample.typeset import draw, page
from builder.sources.sample.world import WorldPaper, make_world
from lm_eval_tasks.base.progress import progress

if TYPE_CHECKING:
    from builder.round.model import Round
    from builder.round.source import SampleTable
    from builder.store import Store
from lm_eval_tasks.base.files import sync_folder, write_whole

# arXiv has no HTML for some of its papers; here for every third.
_WITHOUT_HTML = 3
# Raised with any change to what a world contains.
_EDITION = 10
_METADATA = "arxiv-metadata-oai-snapshot.json"


class SampleSource(MirrorSource):
    """The made-up arXiv. Needs no network and under 20 s for the default size.

    Args:
        folder: where the world is drawn; a world that is already complete is reused.
        seed, authors, papers: which world.
    """

    def __init__(self, folder: Path, seed: int = 0, authors: int = 60, papers: int = 120) -> None:
        place = folder / f"world-{_EDITION}-{seed}-{authors}-{papers}"
        if not (place / _METADATA).is_file():
            _draw_world(place, make_world(seed, authors, papers))
        super().__init__(place, index=place / "index.sqlite3")

    def fingerprint(self) -> str:
        """The world's arguments: its content depends on nothing else."""
        return self.metadata.parent.name


def _draw_world(place: Path, world: list[WorldPaper]) -> None:
    shutil.rmtree(place, ignore_errors=True)
    (place / "pdf").mkdir(parents=True)
    (place / "html").mkdir()
    for i, paper in enumerate(progress(world, "draw", len(world))):
        draw(paper, place / "pdf" / f"{paper.id}.pdf")
        if i % _WITHOUT_HTML and not paper.flaw:
            (place / "html" / f"{paper.id}v1.html").write_text(page(paper), encoding="utf-8")
    sync_folder(place)
    # The metadata comes last: if it exists, the world is complete.
    write_whole(place / _METADATA, "".join(json.dumps(_record(paper)) + "\n" for paper in world))


def _record(paper: WorldPaper) -> dict[str, object]:
    """The paper's line in Kaggle's snapshot format."""
    return {
        "id": paper.id,
        "authors": ", ".join(paper.authors),
        "title": paper.title,
        "comments": "This paper has been withdrawn by the authors" if paper.flaw == "withdrawn" else None,
        "categories": f"{paper.category} cs.AI",
        "license": paper.license,
        "abstract": f"  {paper.abstract}\n",
        "versions": [{"version": "v1", "created": f"{paper.published:%a, %d %b %Y} 09:30:00 GMT"}],
        "update_date": paper.published.isoformat(),
        "authors_parsed": [[name.split()[-1], " ".join(name.split()[:-1]), ""] for name in paper.authors],
    }


def open_source(table: SampleTable, round_: Round, store: Store) -> SampleSource:
    """The made-up arXiv of a round; its files lie in the workspace."""
    return SampleSource(round_.workspace / "sample", seed=table.seed, authors=table.authors, papers=table.papers)
