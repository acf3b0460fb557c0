"""A row of the recall family as a typed record: stretches of the papers' texts, the text that is asked for, and its spans."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from lm_eval_tasks.base.text import day
from lm_eval_tasks.base.typed import Count, Name
from lm_eval_tasks.families.reading.reading_row import ShownPaper, ShownPart

SpanKind = Literal["number", "name", "word"]
Place = Literal["first", "middle", "last"]
PLACES: tuple[Place, ...] = ("first", "middle", "last")


@dataclass(frozen=True, slots=True)
class AskedSpan:
    """A stretch of the text that stands in the evidence too.

    Attributes:
        start, end: in characters of the text.
        times: how often the evidence has it.
    """

    kind: SpanKind
    start: Count
    end: Count
    times: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRow:
    """One text of a paper, behind a context.

    Attributes:
        section: what the text is called in the prompt, "abstract" and the like.
        place: of the evidence in the context.
        text: what is asked for, a stretch of the paper's own text.
        parts: what is shown, in order.
    """

    id: str
    paper_id: str
    title: str
    section: str
    place: Place
    published: str
    license: str
    primary_category: str
    round: str
    authors: tuple[str, ...]
    papers: tuple[ShownPaper, ...]
    parts: tuple[ShownPart, ...]
    text: ShownPart
    spans: tuple[AskedSpan, ...]
    parts_version: int

    @property
    def first_author(self) -> str:
        return self.authors[0] if self.authors else self.paper_id

    def __post_init__(self) -> None:
        day(self.published)
        if any(part.paper >= len(self.papers) for part in (*self.parts, self.text)):
            raise ValueError(f"{self.id:.80} shows a stretch of a text that there is not")
        length = self.text.end - self.text.start
        if not self.spans or any(span.start >= span.end or span.end > length for span in self.spans):
            raise ValueError(f"{self.id:.80} has no spans, or one outside its text")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallOwn:
    """What a prompt of the family says besides what all do."""

    LONG: ClassVar[tuple[str, ...]] = ()
    section: Name
    place: Place
    spans: tuple[AskedSpan, ...]
