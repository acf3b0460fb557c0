"""One prompt of a run as a typed record: what lm-eval calls `doc`, made by `data` and read back from logged samples.

Whoever wrote a file of samples, everything that readers use of a row is checked here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from lm_eval_tasks.base.row_format import paper_of
from lm_eval_tasks.base.text import day, is_valid, number
from lm_eval_tasks.prompts import registry
from lm_eval_tasks.tasks.records import NONE, RETRIEVED, SHORTER, Kind

# Characters of each end of a slot that are kept of a logged prompt.
EXCERPT = 2000
_LONGEST_NAME = 500
_CUT = "cut_"
_CONTEXTS = frozenset(context for contexts in SHORTER.values() for context in contexts)
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

    part: str
    index: int
    field: str
    characters: int
    start: int
    end: int
    head: str | None = None
    tail: str | None = None

    def to_json(self) -> dict[str, Any]:
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
        opens, closes: the marks around reasoning that the chat template writes and that the user named; "" without any.
        others: targets of other papers, always the same ones; empty if there are none.
        lead: the first words of the body, as many as the median train target has; None if they are not noted.
        content, demonstrations, lead_words: only for baselines and the judge's evidence, which read a paper's body themselves.
        shown: with how much less the sample was asked, see `tasks.records`; "" if with all that it shows.
        made_up: whether the papers are, which then have no page; None if they are not.
        label, candidate_ids, best_constant: of SCALAR; the last is the label that is right most often.
        bm25_local, embed_local: the candidates that the shortcuts of `retrieval.shortcuts` name; None if they were not asked.
        question_kind, context, order: of the reading families: what is asked, over which papers, and in which of the two orders.
        papers, labels: how many papers a context shows, and how many things in it have a label.
        asked, answer, shortcut: labels: those asked about, if it is not all of them; the right ones; those that the family's
            shortcut names, which reads no text.
        chance: what guessing scores; None where `best_constant` tells it.
        tags: of Match: for each mask what solves it, "title", "body" or "neither".
        cluster: what a sample shares with those that it depends on, if that is not its first author.
    """

    id: str
    setting: str
    prompt_name: str
    prompt_version: int
    first_author: str
    published: str
    round: str
    target: str
    title: str = ""
    abstract: str | None = None
    primary_category: str | None = None
    license: str = "unknown"
    licenses: tuple[str, ...] | None = None
    month: str | None = None
    cited_titles: tuple[str, ...] | None = None
    heading: str | None = None
    paper_id: str | None = None
    level: str | None = None
    section: str | None = None
    citation_type: str | None = None
    label: int | None = None
    candidate_ids: tuple[str, ...] | None = None
    best_constant: int | None = None
    bm25_local: int | None = None
    embed_local: int | None = None
    question_kind: str | None = None
    context: str | None = None
    order: int | None = None
    papers: int | None = None
    labels: int | None = None
    asked: tuple[int, ...] | None = None
    answer: tuple[int, ...] | None = None
    shortcut: tuple[int, ...] | None = None
    chance: float | None = None
    tags: tuple[str, ...] | None = None
    cluster: str | None = None
    content: str | None = None
    demonstrations: tuple[Mapping[str, Any], ...] | None = None
    lead_words: int | None = None
    lead: str | None = None
    prompt: str = ""
    target_at: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    tokens_cut: int = 0
    cuts: Mapping[str, int] = field(default_factory=dict)
    slots: tuple[Span, ...] = ()
    others: tuple[str, ...] = ()
    place: int | None = None
    places: int | None = None
    of: int | None = None
    cut: str = "end"
    dataset_revision: str = ""
    bertscore_model: str = ""
    answer_cap: int = 0
    tokenizer: str = ""
    opens: str = ""
    closes: str = ""
    retriever: str = ""
    shown: str = ""
    metrics: str = ""
    made_up: bool | None = None

    @property
    def kind(self) -> Kind:
        return registry.kind_of(self.prompt_name)

    @property
    def task(self) -> str:
        """What is asked for: "abs" and the like, or a family of questions such as "scalar"."""
        return registry.task_of(self.prompt_name)

    @property
    def name(self) -> str:
        """The setting, and what was asked differently from usual: "Abs-29K-G", "Abs-9K none", "Abs-9K retrieved bm25"."""
        if self.shown:
            return " ".join(filter(None, (self.setting, self.shown, self.retriever)))
        if registry.is_usual(self.prompt_name):
            return self.setting
        return " ".join(filter(None, (self.setting, self.prompt_name, self.retriever)))

    @property
    def paper(self) -> str:
        """The paper that is asked about."""
        return self.paper_id or paper_of(self.id)

    @property
    def own_part(self) -> str:
        """What the prompt shows of the paper itself and its citations."""
        return self.prompt[self.target_at :]

    @property
    def demonstrated_part(self) -> str:
        """What the prompt shows of other papers."""
        return self.prompt[: self.target_at]

    def excerpts(self) -> tuple[Span, ...]:
        """The slots with the ends of their texts."""
        if not self.prompt:
            return self.slots
        return tuple(_with_ends(slot, self.prompt[slot.start : slot.end]) for slot in self.slots)

    @classmethod
    def of_doc(cls, doc: object) -> PromptRow:
        """Read a row as lm-eval hands it over or logs it; columns that are not ours are left out.

        Raises:
            ValueError: a column is missing or not what it should be; the message names it.
        """
        if not isinstance(doc, Mapping):
            raise ValueError("doc is not an object")
        cuts = {name.removeprefix(_CUT): _read(_count, name, doc[name]) for name in filter(_CUT_COLUMN.fullmatch, doc)}
        values = {
            name: _read(reader, name, doc.get(name))
            for name, reader in _READERS.items()
            if name in _REQUIRED or doc.get(name) is not None
        }
        if "shown" not in values:
            values["shown"] = _shown_of(values["prompt_name"])
        return cls(**values, cuts=cuts)

    def to_doc(self) -> dict[str, Any]:
        """The row as lm-eval takes it: one column for each field, and one for each part that could be cut."""
        values: dict[str, Any] = {
            column.name: getattr(self, column.name) for column in fields(self) if column.name != "cuts"
        }
        return {
            **{name: list(value) if isinstance(value, tuple) else value for name, value in values.items()},
            "slots": [slot.to_json() for slot in self.slots],
            **{f"{_CUT}{part}": tokens for part, tokens in self.cuts.items()},
        }


def to_docs(rows: Iterable[PromptRow]) -> list[dict[str, Any]]:
    """The rows as lm-eval takes them, without the columns that no row has."""
    docs = [row.to_doc() for row in rows]
    used = {name for doc in docs for name, value in doc.items() if value not in (None, [])}
    return [{name: value for name, value in doc.items() if name in used} for doc in docs]


def ends_of(text: str) -> dict[str, str]:
    """The first and last characters of a text; if the first are the whole, the last are empty."""
    if len(text) <= 2 * EXCERPT:
        return {"head": text, "tail": ""}
    return {"head": text[:EXCERPT], "tail": text[-EXCERPT:]}


def _with_ends(slot: Span, text: str) -> Span:
    return Span(slot.part, slot.index, slot.field, slot.characters, slot.start, slot.end, **ends_of(text))


def _shown_of(prompt_name: str) -> str:
    """What rows without the column `shown`, which older releases wrote, were asked with."""
    if prompt_name.endswith("_ralm"):
        return RETRIEVED
    return NONE if prompt_name.endswith(("_title_only", "probe")) else ""


# --- reading


def _read(reader: Callable[[Any], Any], name: str, value: object) -> Any:
    try:
        return reader(value)
    except (ValueError, TypeError, OverflowError) as err:
        raise ValueError(f"{name}: {err}") from err


def _text(value: object) -> str:
    if not isinstance(value, str) or not is_valid(value):
        raise ValueError("not a text")
    return value


def _name(value: object) -> str:
    text = _text(value)
    if not text or len(text) > _LONGEST_NAME or not text.isprintable():
        raise ValueError(f"{value!r:.40} is not a name")
    return text


def _label(value: object) -> str:
    return _name(value) if value else ""


def _shown(value: object) -> str:
    if value not in ("", *_CONTEXTS):
        raise ValueError(f"{value!r:.40} is not a shorter context")
    return str(value)


def _day(value: object) -> str:
    return day(value).isoformat()


def _count(value: object) -> int:
    if type(value) is not int or not number(value) >= 0:
        raise ValueError(f"{value!r:.40} is not a count")
    return value


def _rate(value: object) -> float:
    if number(value) < 0:
        raise ValueError(f"{value!r:.40} is not a rate")
    return number(value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{value!r:.40} is neither true nor false")
    return value


def _list(reader: Callable[[Any], Any]) -> Callable[[object], tuple[Any, ...]]:
    def read(value: object) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise ValueError("not a list")
        return tuple(map(reader, value))

    return read


def _table(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError("not an object")
    return value


def _span(value: object) -> Span:
    slot = _table(value)
    ends = {name: _read(_text, name, slot[name]) for name in ("head", "tail") if slot.get(name) is not None}
    return Span(**{name: _read(reader, name, slot.get(name)) for name, reader in _SPAN.items()}, **ends)


_SPAN: dict[str, Callable[[Any], Any]] = {
    "part": _name,
    "index": _count,
    "field": _name,
    "characters": _count,
    "start": _count,
    "end": _count,
}
_REQUIRED = frozenset(
    ("id", "setting", "prompt_name", "prompt_version", "first_author", "published", "round", "target")
)
_NAMES = "id setting prompt_name round paper_id license question_kind context cluster"
_TEXTS = (
    "first_author target title abstract primary_category heading level section citation_type content prompt month cut "
    "dataset_revision bertscore_model tokenizer opens closes metrics lead"
)
_COUNTS = (
    "prompt_version label best_constant bm25_local embed_local lead_words target_at tokens_before tokens_after tokens_cut place "
    "places of answer_cap order papers labels"
)
_READERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_NAMES.split(), _name),
    **dict.fromkeys(_TEXTS.split(), _text),
    **dict.fromkeys(_COUNTS.split(), _count),
    "published": _day,
    "licenses": _list(_name),
    "chance": _rate,
    "tags": _list(_name),
    "cited_titles": _list(_text),
    "others": _list(_text),
    "candidate_ids": _list(_text),
    **dict.fromkeys(("asked", "answer", "shortcut"), _list(_count)),
    "demonstrations": _list(_table),
    "slots": _list(_span),
    "retriever": _label,
    "shown": _shown,
    "made_up": _flag,
}
