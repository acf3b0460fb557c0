"""A row of the reading families as a typed record: ids, stretches of the papers' texts and edits."""

from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

from lm_eval_tasks.base.text import day
from lm_eval_tasks.base.typed import Count, Label, Name, Rate


@dataclass(frozen=True, slots=True)
class Edit:
    """The characters of a text from `start` to `end` are shown as `text`."""

    start: Count
    end: Count
    text: str


@dataclass(frozen=True, slots=True)
class ShownPart:
    """A stretch of a paper's text, with edits in order and without overlaps; `paper` is a place in `ReadingRow.papers`."""

    paper: Count
    start: Count
    end: Count
    edits: tuple[Edit, ...]

    def __post_init__(self) -> None:
        bounds = [self.start, *(bound for edit in self.edits for bound in (edit.start, edit.end)), self.end]
        if bounds != sorted(bounds):
            raise ValueError(f"the edits of the stretch from {self.start} to {self.end} overlap, or lie beyond it")


@dataclass(frozen=True, slots=True)
class ShownPaper:
    """A paper that a row shows; `texts` is the configuration that has its text."""

    id: str
    license: str
    published: str
    texts: str


@dataclass(frozen=True, slots=True)
class NamedWork:
    """A work that a question names."""

    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PapersRow:
    """What rows have that show stretches of papers' texts.

    Attributes:
        parts: the stretches, in order.
    """

    id: str
    paper_id: str
    title: str
    published: str
    license: str
    primary_category: str
    round: str
    authors: tuple[str, ...]
    papers: tuple[ShownPaper, ...]
    parts: tuple[ShownPart, ...]
    parts_version: int

    @property
    def first_author(self) -> str:
        """What the row shares with those that it depends on; the paper where it names no author."""
        return self.authors[0] if self.authors else self.paper_id

    def __post_init__(self) -> None:
        day(self.published)
        if any(part.paper >= len(self.papers) for part in self.parts):
            raise ValueError(f"{self.id:.80} shows a stretch of a text that there is not")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingRow(PapersRow):
    """One question over many papers.

    Attributes:
        kind: what is asked.
        labels: how many of the parts have one; what follows them is shown last.
        asked, answer, shortcut: labels; those asked about, if it is not all of them; the right ones; those that the family's shortcut
            names.
        tags: of each mask: what solves it.
        context: what rows share that show the same papers.
    """

    kind: str
    order: Count
    labels: Label
    context: str
    asked: tuple[Label, ...]
    answer: tuple[Label, ...]
    shortcut: tuple[Label, ...]
    tags: tuple[str, ...]
    works: tuple[NamedWork, ...]

    def __post_init__(self) -> None:
        # A class with slots is another one than `super` knows.
        PapersRow.__post_init__(self)
        if self.labels > len(self.parts):
            raise ValueError(f"{self.id:.80} has {self.labels} labels, but {len(self.parts)} parts")
        above = any(label > self.labels for labels in (self.answer, self.shortcut, self.asked) for label in labels)
        if above or any(len(set(labels)) < len(labels) for labels in (self.answer, self.asked)):
            raise ValueError(f"{self.id:.80} names a label above its {self.labels}, or one twice")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOwn:
    """What the prompt of a reading question says besides what all do: columns of `ReadingRow`, and what is computed from it.

    Attributes:
        order: which of the two orders of what is shown.
        paper_count: how many papers are shown.
        chance: what guessing scores; None where `best_constant` tells it.
        best_constant: which constant answer is right most often over all rows; None where guessing tells it.
        by_place: what a program names that knows how far into a paper a work is cited; None where none is asked.
    """

    LONG: ClassVar[tuple[str, ...]] = ()
    kind: Name
    context: Name
    order: Count
    labels: Label
    asked: tuple[Label, ...] = ()
    answer: tuple[Label, ...] = ()
    shortcut: tuple[Label, ...] = ()
    tags: tuple[Name, ...] = ()
    paper_count: Count
    chance: Rate | None = None
    best_constant: Count | None = None
    by_place: tuple[Label, ...] | None = None

    def __post_init__(self) -> None:
        if self.asked and len(self.asked) != len(self.answer):
            raise ValueError(f"it asks about {len(self.asked)} labels and has {len(self.answer)} answers")

    @classmethod
    def of(cls, row: ReadingRow, **computed: Any) -> Self:
        """Take from a row every column that stands here too."""
        columns = {column.name: getattr(row, column.name) for column in fields(cls) if hasattr(row, column.name)}
        return cls(**columns, **computed)
