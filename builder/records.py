"""Every type that passes between stages: frozen, slotted dataclasses; texts are str, dates are calendar days (UTC)."""

import calendar
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal

from builder.ids import PaperId, with_version
from lm_eval_tasks.base.contract import WRITING_TASKS, Task

DemoOrigin = Literal["random", "co-author"]
FileType = Literal["html", "pdf", "jats"]
# What stands in a title or an abstract for a formula of which there is only a picture; such a text is asked for by no task.
NO_TEXT = "\ufffc"
Role = Literal["introduction", "related_work", "body", "conclusion", "acknowledgements", "references", "appendix"]

CrawlReason = Literal[
    "bad_record",
    "not_research",
    "no_text",
    "older_version",
    "outside_window",
    "other_category",
    "withdrawn",
    "no_graph_author",
]
GraphReason = Literal["not_visited", "too_old", "inactive_author", "outside_component"]
ExtractReason = Literal[
    # asked for by its authors
    "taken_down",
    # the file gave no document
    "missing_file",
    "not_a_pdf",
    "not_html",
    "not_jats",
    "encrypted",
    "no_pages",
    "no_text_layer",
    "no_sections",
    "damaged",
    "time_limit",
    "memory_limit",
    "crashed",
    # a document that the round's thresholds do not trust
    "unmapped_glyphs",
    "too_little_text",
    "not_english",
    "low_coverage",
    "hyphen_breaks",
    "missing_references",
    "sections_out_of_order",
    "headings_disagree",
    "long_abstract",
    "long_introduction",
]
LinkReason = Literal["ambiguous", "unresolved"]
LinkWay = Literal["arxiv_id", "doi", "pubmed", "title", "near_title", "search", LinkReason]
SampleReason = Literal[
    "excluded",
    "near_duplicate",
    "license",
    "no_abstract",
    "no_introduction",
    "no_related_work",
    "too_few_citations",
    "short_target",
    "debris_in_target",
    "unreadable_target",
    "target_in_content",
    "short_content",
    "longer_than_budget",
    "too_few_random_demonstrations",
    "too_few_co_author_demonstrations",
]
ReadingReason = Literal[
    "excluded",
    "near_duplicate",
    "license",
    "doubtful_references",
    "unresolved_citations",
    "too_few_masks",
    "too_few_works",
    "context_not_filled",
    "too_few_papers",
    "overlapping",
    "no_question",
    "high_floor",
]

# What happened to the process that read a file, rather than what the file is: not a fact that a later run may rely on.
READING_REASONS: frozenset[ExtractReason] = frozenset({"time_limit", "memory_limit", "crashed"})

UNKNOWN_LICENSE = "unknown"
NO_LICENSE = "none"
PUBLIC_DOMAIN = "http://creativecommons.org/publicdomain/zero/1.0/"
# In place of an author's id: a consortium, which joins nobody to anybody.
GROUP = "group"


def writing_task(name: str) -> Task:
    """Return the writing task of a name; a KeyError if there is none."""
    known: dict[str, Task] = {task: task for task in WRITING_TASKS}
    return known[name]


def months_before(day: date, months: int) -> date:
    """Return the same day of an earlier month, or that month's last; of a later one if `months` is negative."""
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


@dataclass(frozen=True, slots=True)
class Paper:
    """One paper's metadata as its source gives it.

    Attributes:
        id: bare, without version: arXiv's, a DOI, or another id of `builder.ids`.
        version: the version that the files belong to, from 1.
        published: day of version 1.
        updated: day of `version`.
        license: URL or short name as the source gives it, `UNKNOWN_LICENSE` if it does not say, `NO_LICENSE` if
            arXiv's own record names none.
        doi: of the published version, lower case, "" if the source gives none.
        author_ids: of each author the ORCID, `GROUP`, or "" if neither is known; () if none is known of any.
        other_ids: by which the same paper is known elsewhere: PubMed Central's, PubMed's.
        classes: of the ACM or the MSC, which its record has among the categories.
    """

    id: str
    version: int
    title: str
    abstract: str
    authors: tuple[str, ...]
    categories: tuple[str, ...]
    published: date
    updated: date
    license: str = UNKNOWN_LICENSE
    doi: str = ""
    author_ids: tuple[str, ...] = ()
    other_ids: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()

    @property
    def versioned_id(self) -> str:
        return with_version(self.id, self.version)

    @property
    def every_id(self) -> frozenset[str]:
        """All ids by which the paper is known."""
        return frozenset(filter(None, (self.id, self.doi, *self.other_ids)))

    @property
    def abstract_license(self) -> str:
        """The licence of title and abstract: arXiv's metadata are in the public domain (https://info.arxiv.org/help/api/tou.html),
        abstracts of publishers are not.
        """
        parsed = PaperId.parse(self.id)
        return PUBLIC_DOMAIN if parsed and parsed.kind == "arxiv" else self.license

    @property
    def primary_category(self) -> str:
        return self.categories[0] if self.categories else "unknown"


@dataclass(frozen=True, slots=True)
class Authorship:
    """Who wrote a paper, and when: as much of a `Paper` as the co-author graph needs."""

    id: str
    published: date
    authors: tuple[str, ...]
    author_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Drop:
    """A paper that a stage does not pass on, and why."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Section:
    """One heading and the text up to the next heading; `level` 1 is a section, 2 a subsection, and so on."""

    heading: str
    role: Role
    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Reference:
    """One entry of the reference list; fields that the entry does not give are None or empty.

    Attributes:
        pubmed: PubMed Central's id of the work, else PubMed's.
    """

    raw: str
    label: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    title: str = ""
    arxiv_id: str | None = None
    doi: str | None = None
    url: str | None = None
    pubmed: str | None = None


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in the text that cites.

    Attributes:
        section: index into `Document.sections`.
        start, end: characters of the marker in that section's text, without the brackets around it: "3", "Ek, 2019", but
            "Ek (2019)".
        references: indices into `Document.references`.
        grouped: whether the marker cites more than one work.
    """

    section: int
    start: int
    end: int
    references: tuple[int, ...]
    grouped: bool


@dataclass(frozen=True, slots=True)
class Front:
    """What a PDF says of the paper itself; what it does not say, or what was not understood, is empty.

    Attributes:
        day: ISO.
        day_from: "stamp" of arXiv, which tells the day of the version, or the "file", which tells when it was made.
        doi: as it is printed, which may be that of a journal's version.
    """

    authors: tuple[str, ...] = ()
    category: str = ""
    day: str = ""
    day_from: Literal["stamp", "file", ""] = ""
    doi: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """The readable content of one file: title and abstract as printed, then sections in reading order; of a PDF, its front."""

    title: str
    abstract: str
    sections: tuple[Section, ...]
    references: tuple[Reference, ...] = ()
    mentions: tuple[Mention, ...] = ()
    stamped_id: str | None = None
    front: Front = Front()


@dataclass(frozen=True, slots=True)
class Quality:
    """How well a document was read, without a gold text to compare it with.

    Attributes:
        words: of its body.
        coverage: share of the characters on the pages (furniture left out) that landed in a section or the abstract.
        hyphen_breaks: words left broken, per 1,000 words.
        unmapped: share of the characters that have no Unicode value.
        entries: number of reference entries over the highest numeric label; 1 if labels are not numbers, 0 without entries.
        common_words: share of the words that are among the commonest of English (about 0.2 in papers).
        in_order: introduction before conclusion before references.
        headings_agree: no subsection without its section, no numbers left over that count up in the sections' style.
        hidden: characters of the file that a reader cannot see; they are left out.
        abstract_words: of the abstract.
        introduction: share of the body's words that the introduction has.
    """

    words: int
    coverage: float
    hyphen_breaks: float
    unmapped: float
    entries: float
    common_words: float
    in_order: bool
    headings_agree: bool = True
    hidden: int = 0
    abstract_words: int = 0
    introduction: float = 0.0


@dataclass(frozen=True, slots=True)
class Link:
    """How one reference was resolved: to which paper, by what evidence, with what certainty (0 to 1).

    `cited_id` is "" and `score` 0 for a reference that stayed unresolved.
    """

    paper_id: str
    reference: int
    cited_id: str
    how: LinkWay
    score: float


@dataclass(frozen=True, slots=True)
class Citing:
    """A paper that questions about its citations are made of.

    Attributes:
        cited: index of a reference -> id of the paper that it was resolved to.
    """

    paper: Paper
    document: Document
    cited: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Cited:
    """A known cited paper: its record, and its document where its full text was read."""

    paper: Paper
    document: Document | None
