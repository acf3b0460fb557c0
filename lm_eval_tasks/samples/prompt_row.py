"""One prompt of a run as a typed record: what lm-eval calls `doc`, made by `data` and read back from logged samples.

It has two parts: what the rows of all families have, and `own`, a record that only its family's folder knows. Whoever wrote a file of
samples, everything that readers use of a row is checked here.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Self

from lm_eval_tasks import families
from lm_eval_tasks.base.contract import CONTEXTS, FULL, GENERATED, LIKELIHOOD, Way, paper_of
from lm_eval_tasks.base.text import day
from lm_eval_tasks.base.typed import Count, Name, typed
from lm_eval_tasks.families.descriptor import Family, Metric

# Characters of each end of a slot that are kept of a logged prompt.
EXCERPT = 2000
_CUT = "cut_"
_CUT_COLUMN = re.compile(r"cut_[a-z_]{1,40}")
# Names that tables and pages show.
_PRINTED = ("id", "setting", "prompt_name", "round", "paper_id", "license", "retriever")


@dataclass(frozen=True, slots=True)
class Span:
    """Where a slot ended up in a prompt.

    Attributes:
        component: what of the prompt it belongs to, see `prompts.Component`.
        characters: of its whole text.
        start, end: the characters of the prompt between which what is left of it lies.
        head, tail: the ends of what is left of it, if the prompt itself is not kept; if both together are the whole,
            `tail` is empty.
    """

    component: Name
    index: Count
    field: Name
    characters: Count
    start: Count
    end: Count
    head: str | None = None
    tail: str | None = None

    def to_json(self) -> dict[str, object]:
        """Write the span without what it does not say."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRow:
    """One prompt, the sample that it asks, and how it was made.

    Attributes:
        published: the day of version 1, ISO.
        paper_id: of the paper that is asked about; None where `id` is its own.
        licenses: of all papers whose texts the prompt shows; None in lines of a journal.
        position, positions: of the sample among those that the run asks for in all its shards, and how many these are.
        of: how many samples the setting has in all.
        cuts: component of a prompt -> tokens taken from it.
        tokens_before, tokens_after: prompt tokens without and with cutting; 0 if no tokenizer is known.
        target_at: the character at which the target's own component of the prompt begins, after the demonstrations.
        answer_cap: tokens that an answer may have, its reasoning included; by likelihood, those of the text.
        opens: the mark of reasoning that the chat template writes before the answer; "" if it writes none.
        begins, closes: the marks around reasoning that the template shows or the user named; "" if none is known.
        shown: with how much less the sample was asked, "" if with all that it shows.
        way: how it was asked.
        chat: whether through the model's chat template, if by likelihood; None if that is not known.
        made_up: whether the papers are, which then have no page; None if they are not.
        row_hash: of what the dataset's row shows, asks and calls right, see `data.prompt_columns`.
        own: what its family alone knows, a record of the type `Family.own`.
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
    primary_category: str | None = None
    license: Name = "unknown"
    licenses: tuple[Name, ...] | None = None
    paper_id: Name | None = None
    prompt: str = ""
    target_at: Count = 0
    tokens_before: Count = 0
    tokens_after: Count = 0
    tokens_cut: Count = 0
    cuts: dict[str, Count] = field(default_factory=dict)
    slots: tuple[Span, ...] = ()
    position: Count | None = None
    positions: Count | None = None
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
    way: Way = GENERATED
    chat: bool | None = None
    metrics: str = ""
    made_up: bool | None = None
    row_hash: str = ""
    own: Any = None

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
    def ranking(self) -> Metric:
        """The metric that models are ranked by on such a row; its direction and its floors are the metric's."""
        return self.of_way[0]

    @property
    def of_way(self) -> tuple[Metric, ...]:
        """The metrics of rows that are asked as it is."""
        return self.family.metrics_of(self.way)

    @property
    def task(self) -> str:
        """What is asked for: "abs" and the like, or a family of questions such as "scalar"."""
        return families.task_of_prompt(self.prompt_name)

    @property
    def name(self) -> str:
        """The setting, and what was asked differently from usual: "Abs-29K-G", "Abs-9K none", "Abs-9K retrieved bm25"."""
        own = self.suffixed
        if not self.shown and self.family.is_usual(self.prompt_name):
            return own
        return " ".join(filter(None, (own, self.shown or self.prompt_name, self.retriever)))

    @property
    def suffixed(self) -> str:
        """The same, and whether a likelihood was asked through a chat template, whose levels are others: "Abs-9K bpb chat"."""
        return f"{self.asked} chat" if self.chat else self.asked

    @property
    def asked(self) -> str:
        """The setting, and by likelihood how it was asked: "Abs-9K bpb"."""
        likelihood = self.family.likelihood
        suffix = likelihood.suffix if self.way == LIKELIHOOD and likelihood else ""
        return f"{self.setting} {suffix}".strip()

    @property
    def paper(self) -> str:
        return self.paper_id or paper_of(self.id)

    def short_own(self, own: Mapping[str, object]) -> dict[str, object]:
        """Leave out of what a doc says of the row's family what makes it long."""
        return {name: value for name, value in own.items() if name not in self.family.own.LONG}

    def excerpts(self) -> tuple[Span, ...]:
        """Give the slots with the ends of their texts."""
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
        values = _known(doc)
        own = values.pop("own", {})
        cuts = {name.removeprefix(_CUT): values[name] for name in filter(_CUT_COLUMN.fullmatch, values)}
        row = typed(cls, {**values, "cuts": cuts})
        return replace(row, own=row.read_own(own))

    def read_own(self, own: object) -> object:
        """Read what a doc says of the row's family; a ValueError if it is something else."""
        if not isinstance(own, Mapping):
            raise ValueError("own is not an object")
        try:
            return typed(self.family.own, _known(own))
        except ValueError as err:
            raise ValueError(f"own.{err}") from err

    def to_doc(self) -> dict[str, object]:
        """Write the row as lm-eval takes it: one column for each field, and one for each component that could be cut."""
        values = {column.name: getattr(self, column.name) for column in fields(self) if column.name != "cuts"}
        cuts = {f"{_CUT}{component}": tokens for component, tokens in self.cuts.items()}
        slots = [slot.to_json() for slot in self.slots]
        own = None if self.own is None else _listed(asdict(self.own))
        return {**_listed(values), "slots": slots, "own": own, **cuts}


def _known(values: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in values.items() if value is not None}


def _listed(values: Mapping[str, object]) -> dict[str, object]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def to_docs(rows: Iterable[PromptRow]) -> list[dict[str, object]]:
    """Write rows as lm-eval takes them, without the columns that no row has."""
    docs = [row.to_doc() for row in rows]
    own = _without_unused([doc["own"] for doc in docs if isinstance(doc["own"], dict)])
    return _without_unused([{**doc, "own": of_family} for doc, of_family in zip(docs, own, strict=True)])


def _without_unused(records: list[dict[str, object]]) -> list[dict[str, object]]:
    used = {name for record in records for name, value in record.items() if value not in (None, [])}
    return [{name: value for name, value in record.items() if name in used} for record in records]


def ends_of(text: str) -> dict[str, Any]:
    """Take the first and last characters of a text; if the first are the whole, the last are empty."""
    head, tail = (text, "") if len(text) <= 2 * EXCERPT else (text[:EXCERPT], text[-EXCERPT:])
    return {"head": head, "tail": tail}
