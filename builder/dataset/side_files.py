"""What a round contains besides its samples: version 1 of revised papers with the ceilings, in `revisions.jsonl`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from builder.dataset.ceiling import ceilings_of
from builder.dataset.first_versions import first_version_lines, first_versions_of
from lm_eval_tasks.core.row_format import FIRST_VERSIONS

if TYPE_CHECKING:
    from builder.dataset.manifest import Ceiling
    from builder.records import Paper, SplitDates, Task
    from builder.round.model import Round
    from builder.store import Store


def side_files(
    round_: Round, store: Store, papers: Sequence[Paper], dates: SplitDates
) -> tuple[dict[Task, Ceiling], dict[str, bytes]]:
    """The ceilings, and the files that go wherever the data goes: name -> content.

    Args:
        papers: of the round, those that have a text.
    """
    test = [paper for paper in dates.test_of(papers) if paper.id not in round_.taken_down]
    first_versions = first_versions_of(test, store)
    files = {FIRST_VERSIONS: first_version_lines(first_versions)} if first_versions else {}
    return ceilings_of(test, first_versions, round_.samples.ceiling_bertscore), files
