"""Match's questions."""

from collections.abc import Sequence

from lm_eval_tasks.base.contract import NONE, Context
from lm_eval_tasks.base.text import sentences
from lm_eval_tasks.families.match import FAMILY
from lm_eval_tasks.families.reading.answering import PairsAnswering, Parts
from lm_eval_tasks.families.reading.reading_row import ReadingRow


class MatchAnswering(PairsAnswering):
    """Questions about masked citations."""

    def shortened(self, row: ReadingRow, parts: Sequence[str], context: Context) -> Parts:
        """Show titles alone; or titles with abstracts, and the sentences with masks."""
        labelled, last = parts[: row.labels], parts[row.labels :]
        return (
            [*(text.partition("\n")[0] for text in labelled), "(not shown)"]
            if context == NONE
            else [*map(_summary, labelled), *map(_masked, last)]
        )

    def chance(self, row: ReadingRow) -> float:
        return 1 / row.labels


def _summary(text: str) -> str:
    end = text.find("\n## ", text.find("\n## ") + 1)
    return text if end < 0 else text[:end].strip()


def _masked(text: str) -> str:
    return "\n".join(sentence for line in text.splitlines() for sentence in sentences(line) if "[MASK " in sentence)


ANSWERING = MatchAnswering(FAMILY)
