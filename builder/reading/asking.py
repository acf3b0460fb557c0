"""What a reading family does with a paper and with a context: how long it is as shown, what can be asked, and the rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from builder.reading.papers_read import PaperRead
from builder.reading.rows import about, shown
from builder.samples.tokens import token_counter
from builder.seeding import digest_of, share_of
from lm_eval_tasks.core.row_format import PARTS_VERSION
from lm_eval_tasks.prompts.reading import prompt_of

if TYPE_CHECKING:
    from builder.dataset.families import Material
    from builder.dataset.row_kind import Row
    from builder.reading.contexts import Context
    from builder.records import Paper, ReadingReason
    from lm_eval_tasks.tasks.records import ReadingTask

Question = TypeVar("Question")
# Papers whose texts are kept in memory.
_KEPT = 1024
# What a label above a part takes.
LABEL_TOKENS = 8
# Of the rows, those that are asked again with the parts in another order.
_AGAIN = 0.1


class Shelf:
    """The papers of a round, read when they are wanted."""

    def __init__(self, material: Material) -> None:
        self._material = material
        self._papers = {paper.id: paper for paper in material.papers}
        self.read = lru_cache(maxsize=_KEPT)(self._read)

    def _read(self, id_: str) -> PaperRead:
        links = self._material.store.links(id_)
        resolved = {link.reference: link.cited_id for link in links if link.cited_id}
        return PaperRead(self._papers[id_], self._material.documents[id_], resolved)


class Asking(ABC, Generic[Question]):
    """One family over the papers of a round.

    Attributes:
        withheld: reason -> questions that have no certain answer.
    """

    task: ReadingTask
    # Why a paper without tokens cannot be shown.
    unfit: ReadingReason

    def __init__(self, shelf: Shelf, seed: int) -> None:
        self.shelf, self.seed = shelf, seed
        self.withheld: Counter[str] = Counter()

    @abstractmethod
    def tokens(self, paper: Paper) -> int | None:
        """The tokens that a paper adds to a context; None if it cannot be shown."""

    @abstractmethod
    def questions(self, context: Context, preferred: Sequence[Question]) -> list[Question]:
        """What is asked over a context.

        Args:
            preferred: what was asked over a smaller context within this one.
        """

    @abstractmethod
    def parts(self, context: Context) -> list[dict[str, Any]]:
        """What is shown under labels, as the column `parts` of a row, in any order."""

    @abstractmethod
    def columns(self, question: Question, context: Context, label: Mapping[Any, int]) -> dict[str, Any]:
        """The columns of a row that tell what is asked and what is right.

        Args:
            label: key of a part, see `key_of`, -> its label.
        """

    def rows(self, context: Context, questions: Sequence[Question], cluster: str, round_name: str) -> Iterator[Row]:
        """The rows of a context: all questions, then a tenth of them again with the parts in another order."""
        paper = context.paper
        again = [n for n in range(len(questions)) if share_of(self.seed, paper.id, n, "again") < _AGAIN]
        texts = {
            read.paper.versioned_id: read.shown.text for read in (self.shelf.read(other.id) for other in context.papers)
        }
        listed = shown(context.papers)
        parts = self.parts(context)
        for order, numbers in enumerate((range(len(questions)), again)):
            if not numbers:
                continue
            in_order = sorted(parts, key=lambda part: digest_of(self.seed, paper.id, *key_of(part), order))
            label = {key_of(part): i for i, part in enumerate(in_order, 1)}
            common_tokens: int | None = None
            for n in numbers:
                row: Row = {
                    "id": f"{paper.versioned_id}#{n}" + "r" * order,
                    **about(paper),
                    "context": paper.versioned_id,
                    "cluster": cluster,
                    "order": order,
                    "papers": listed,
                    "parts": in_order,
                    "parts_version": PARTS_VERSION,
                    **self.columns(questions[n], context, label),
                    "round": round_name,
                }
                common, own = prompt_of(row, texts, self.task)
                if common_tokens is None:
                    [common_tokens] = token_counter()([common])
                yield row | {"input_tokens": common_tokens + token_counter()([own])[0]}


def part_of(paper: int, start: int, end: int, edits: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """An element of the column `parts`."""
    return {"paper": paper, "start": start, "end": end, "edits": list(edits)}


def key_of(part: Mapping[str, Any]) -> tuple[int, int]:
    """What tells a part from the others of its context: the paper's place, and where it begins."""
    return part["paper"], part["start"]
