"""A row of the writing settings as a typed record."""

from dataclasses import dataclass
from typing import ClassVar

from lm_eval_tasks.base.text import day
from lm_eval_tasks.base.typed import Count


@dataclass(frozen=True, slots=True)
class GivenCitation:
    """A work that the related work cites."""

    title: str
    abstract: str


@dataclass(frozen=True, slots=True)
class ShownDemonstration:
    """An older paper shown with what was asked of it."""

    license: str
    title: str
    abstract: str
    content: str
    output: str
    published: str = ""
    id: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """What was retrieved in place of body and demonstrations."""

    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingRow:
    """One paper without the part that is asked for.

    Attributes:
        heading: always None; row hashes are of all fields.
        chunks: for prompts with retrieval.
    """

    id: str
    title: str
    abstract: str
    authors: tuple[str, ...]
    primary_category: str
    published: str
    license: str
    content: str
    target: str
    round: str
    demonstrations: tuple[ShownDemonstration, ...]
    citations: tuple[GivenCitation, ...] = ()
    heading: str | None = None
    chunks: tuple[Chunk, ...] = ()

    @property
    def first_author(self) -> str:
        return self.authors[0]

    def __post_init__(self) -> None:
        day(self.published)
        if not self.authors:
            raise ValueError(f"{self.id:.80} has no authors")


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingOwn:
    """What the prompt of a writing setting says besides what all do.

    Attributes:
        others: targets of other papers, always the same ones; empty if there are none.
        lead, sentences: as many words as the median train target has, of the body's first ones, and of its sentences in a random order that
            the row's id decides; None if they are not noted.
        content, demonstrations, lead_words: only for baselines and the judge's evidence, which read a paper's body themselves; of
            demonstrations what they answer.
        words: of the body that the prompt shows before it is cut to a model; only of rows by likelihood.
        copied: the bytes of the text that stand in runs of five words which the prompt has too, from and to, one pair behind the other;
            likewise.
    """

    # What samples leave out, because the prompt has it or it makes them large.
    LONG: ClassVar[tuple[str, ...]] = ("others", "lead", "sentences", "content", "demonstrations")
    others: tuple[str, ...] = ()
    lead: str | None = None
    sentences: str | None = None
    content: str | None = None
    demonstrations: tuple[str, ...] | None = None
    lead_words: Count | None = None
    words: Count | None = None
    copied: tuple[Count, ...] = ()

    def __post_init__(self) -> None:
        if len(self.copied) % 2:
            raise ValueError("the bytes of what is copied are no pairs")
