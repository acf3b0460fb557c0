"""A row of the recall family as a typed record: stretches of the papers' texts, the text that is asked for, and its spans."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from lm_eval_tasks.base.typed import Count, Name
from lm_eval_tasks.families.reading.reading_row import PapersRow, ShownPart

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
class RecallRow(PapersRow):
    """One text of a paper, behind a context.

    Attributes:
        section: what the text is called in the prompt, "abstract" and the like.
        place: of the evidence in the context.
        text: what is asked for, a stretch of the paper's own text.
    """

    section: str
    place: Place
    text: ShownPart
    spans: tuple[AskedSpan, ...]

    def __post_init__(self) -> None:
        PapersRow.__post_init__(self)
        if self.text.paper >= len(self.papers):
            raise ValueError(f"{self.id:.80} asks for a text that there is not")
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
