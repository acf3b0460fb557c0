"""Next's questions."""

from collections.abc import Sequence

from lm_eval_tasks.base.contract import Context
from lm_eval_tasks.families.next import FAMILY
from lm_eval_tasks.families.reading.answering import PairsAnswering, Parts
from lm_eval_tasks.families.reading.reading_row import ReadingRow

# Passages that a search finds for another.
_PASSAGES = 5


class NextAnswering(PairsAnswering):
    """Questions about the order of passages."""

    def shortened(self, row: ReadingRow, parts: Sequence[str], context: Context) -> Parts:
        """Return the passages that are asked about, and those that are most like them."""
        from lm_eval_tasks.base.bm25 import best, bm25_scores

        labelled = list(parts[: row.labels])
        scores = bm25_scores([labelled[label - 1] for label in row.asked], labelled)
        kept = {label - 1 for label in row.asked}
        for label, of_label in zip(row.asked, scores, strict=True):
            of_label[label - 1] = -1.0
            kept.update(best(of_label, _PASSAGES))
        return [text if i in kept else None for i, text in enumerate(labelled)]

    def chance(self, row: ReadingRow) -> float:
        return 1 / max(1, row.labels - 1)


ANSWERING = NextAnswering(FAMILY)
