"""What a round contains besides its samples: version 1 of revised papers with the ceilings, and the filter of works."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from builder.dataset.ceiling import ceilings_of, revision_lines, revisions_of
from lm_eval_tasks.metrics.works import Works, keys_of
from lm_eval_tasks.row_format import REVISIONS, WORKS

if TYPE_CHECKING:
    from builder.dataset.manifest import Ceiling
    from builder.records import Paper, Task
    from builder.round.model import Round
    from builder.store import Store


def side_files(round_: Round, store: Store, test: Sequence[Paper]) -> tuple[dict[Task, Ceiling], dict[str, bytes]]:
    """The ceilings, and the files that go wherever the data goes: name -> content.

    Args:
        test: the papers of the test split.
    """
    revisions = revisions_of(test, store)
    files = {REVISIONS: revision_lines(revisions)} if revisions else {}
    if any(setting.task == "related" for setting in round_.chosen):
        files[WORKS] = Works.of(key for work in store.works() for key in keys_of(*work)).to_bytes()
    return ceilings_of(test, revisions, round_.samples.ceiling_bertscore), files
