"""One prompt of a run as a typed record: what lm-eval calls `doc`, made by `data` and read back from logged samples.

Whoever wrote a file of samples, everything that readers use of a row is checked here.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Self

from lm_eval_tasks import families
from lm_eval_tasks.base.contract import CONTEXTS, FULL, paper_of
from lm_eval_tasks.base.text import day
from lm_eval_tasks.base.typed import Count, Name, Rate, typed
from lm_eval_tasks.families.descriptor import Family

# Characters of each end of a slot that are kept of a logged prompt.
EXCERPT = 2000
_CUT = "cut_"
# Names that tables and pages show.
_PRINTED = ("id", "setting", "prompt_name", "round", "paper_id", "license", "question_kind", "context", "retriever")
_CUT_COLUMN = re.compile(r"cut_[a-z_]{1,40}")


@dataclass(frozen=True, slots=True)
class Span:
    """Where a slot ended up in a prompt.

    Attributes:
        characters: of its whole text.
        start, end: the characters of the prompt between which what is left of it lies.
        head, tail: the ends of what is left of it, if the prompt itself is not kept; if both together are the whole,
            `tail` is empty.
    """

    part: Name
    index: Count
    field: Name
    characters: Count
    start: Count
    end: Count
    head: str | None = None
    tail: str | None = None

    def to_json(self) -> dict[str, object]:
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRow:
    """One prompt, the sample that it asks, and how it was made.

    Attributes:
        published: the day of version 1, ISO; `month` is its "YYYY-MM".
        licenses: of all papers whose texts the prompt shows; None if an older release has not noted them.
        place, places: of the sample among those that the run asks for in all its shards, and how many these are.
        of: how many samples the setting has in all; None if an older release has not noted it.
        cuts: part of a prompt -> tokens taken from it.
        tokens_before, tokens_after: prompt tokens without and with cutting; 0 if no tokenizer is known.
        target_at: the character at which the target's own part of the prompt begins, after the demonstrations.
        answer_cap: tokens that an answer may have, its reasoning included.
        opens: the mark of reasoning that the chat template writes before the answer; "" if it writes none.
        begins, closes: the marks around reasoning that the template shows or the user named; "" if none is known.
        others: targets of other papers, always the same ones; empty if there are none.
        lead: the first words of the body, as many as the median train target has; None if they are not noted.
        content, demonstrations, lead_words: only for baselines and the judge's evidence, which read a paper's body themselves; of
            demonstrations what they answer.
        shown: with how much less the sample was asked, "" if with all that it shows.
        made_up: whether the papers are, which then have no page; None if they are not.
        label, candidate_ids, best_constant: of SCALAR; the last is the label that is right most often.
        is_sound: whether each candidate has a text, and none has another's.
        bm25_local, name_local, embed_local: the candidates that the shortcuts of SCALAR name; None if they were not asked.
        question_kind, context, order: of the reading families: what is asked, over which papers, and in which of the two orders.
        papers, labels: how many papers a context shows, and how many things in it have a label.
        asked, answer, shortcut: labels: those asked about, if it is not all of them; the right ones; those that the family's
            shortcut names, which reads no text.
        chance: what guessing scores; None where `best_constant` tells it.
        tags: of Match: for each mask what solves it, "title", "body" or "neither".
        row_hash: of what the dataset's row shows, asks and calls right, see `data.prompt_columns`; "" of older releases.
    """

    id: Name
    setting: Name
    prompt_name: Name
    prompt_version: Count
    first_author: str
    published: str
    round: Name
    target: str
    title: str = ""
    abstract: str | None = None
    primary_category: str | None = None
    license: Name = "unknown"
    licenses: tuple[Name, ...] | None = None
    month: str | None = None
    paper_id: Name | None = None
    level: str | None = None
    section: str | None = None
    citation_type: str | None = None
    label: Count | None = None
    candidate_ids: tuple[str, ...] | None = None
    best_constant: Count | None = None
    is_sound: bool | None = None
    bm25_local: Count | None = None
    name_local: Count | None = None
    embed_local: Count | None = None
    question_kind: Name | None = None
    context: Name | None = None
    order: Count | None = None
    papers: Count | None = None
    labels: Count | None = None
    asked: tuple[Count, ...] | None = None
    answer: tuple[Count, ...] | None = None
    shortcut: tuple[Count, ...] | None = None
    chance: Rate | None = None
    tags: tuple[Name, ...] | None = None
    content: str | None = None
    demonstrations: tuple[str, ...] | None = None
    lead_words: Count | None = None
    lead: str | None = None
    prompt: str = ""
    target_at: Count = 0
    tokens_before: Count = 0
    tokens_after: Count = 0
    tokens_cut: Count = 0
    cuts: dict[str, Count] = field(default_factory=dict)
    slots: tuple[Span, ...] = ()
    others: tuple[str, ...] = ()
    place: Count | None = None
    places: Count | None = None
    of: Count | None = None
    cut: str = "end"
    dataset_revision: str = ""
    bertscore_model: str = ""
    answer_cap: Count = 0
    tokenizer: str = ""
    opens: str = ""
    begins: str = ""
    closes: str = ""
    retriever: str = ""
    shown: str = ""
    metrics: str = ""
    made_up: bool | None = None
    row_hash: str = ""

    def __post_init__(self) -> None:
        try:
            day(self.published)
        except ValueError as err:
            raise ValueError(f"published: {err}") from err
        families.of_task(families.task_of_prompt(self.prompt_name))
        if self.shown and (self.shown not in CONTEXTS or self.shown == FULL):
            raise ValueError(f"shown: {self.shown!r:.40} is not a shorter context")
        for name in _PRINTED:
            if not (getattr(self, name) or "").isprintable():
                raise ValueError(f"{name}: {getattr(self, name)!r:.40} is not a name")

    @property
    def family(self) -> Family:
        return families.of_task(self.task)

    @property
    def task(self) -> str:
        """What is asked for: "abs" and the like, or a family of questions such as "scalar"."""
        return families.task_of_prompt(self.prompt_name)

    @property
    def name(self) -> str:
        """The setting, and what was asked differently from usual: "Abs-29K-G", "Abs-9K none", "Abs-9K retrieved bm25"."""
        if not self.shown and self.family.is_usual(self.prompt_name):
            return self.setting
        return " ".join(filter(None, (self.setting, self.shown or self.prompt_name, self.retriever)))

    @property
    def paper(self) -> str:
        return self.paper_id or paper_of(self.id)

    def excerpts(self) -> tuple[Span, ...]:
        """The slots with the ends of their texts."""
        cut = (replace(slot, **ends_of(self.prompt[slot.start : slot.end])) for slot in self.slots)
        return tuple(cut) if self.prompt else self.slots

    @classmethod
    def of_doc(cls, doc: object) -> Self:
        """Read a row as lm-eval hands it over or logs it; columns that are not ours are left out.

        Raises:
            ValueError: a column is missing or not what it should be; the message names it.
        """
        if not isinstance(doc, Mapping):
            raise ValueError("doc is not an object")
        values = {name: value for name, value in doc.items() if value is not None}
        cuts = {name.removeprefix(_CUT): values[name] for name in filter(_CUT_COLUMN.fullmatch, values)}
        return typed(cls, {**values, "cuts": cuts})

    def to_doc(self) -> dict[str, object]:
        """The row as lm-eval takes it: one column for each field, and one for each part that could be cut."""
        names = [column.name for column in fields(self) if column.name != "cuts"]
        return {
            **{name: list(v) if isinstance(v := getattr(self, name), tuple) else v for name in names},
            "slots": [slot.to_json() for slot in self.slots],
            **{f"{_CUT}{part}": tokens for part, tokens in self.cuts.items()},
        }


def to_docs(rows: Iterable[PromptRow]) -> list[dict[str, object]]:
    """The rows as lm-eval takes them, without the columns that no row has."""
    docs = [row.to_doc() for row in rows]
    used = {name for doc in docs for name, value in doc.items() if value not in (None, [])}
    return [{name: value for name, value in doc.items() if name in used} for doc in docs]


def ends_of(text: str) -> dict[str, Any]:
    """The first and last characters of a text; if the first are the whole, the last are empty."""
    head, tail = (text, "") if len(text) <= 2 * EXCERPT else (text[:EXCERPT], text[-EXCERPT:])
    return {"head": head, "tail": tail}
