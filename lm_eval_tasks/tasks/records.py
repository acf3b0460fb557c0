"""The records of all configurations and tasks.

A new setting is a line of `SETTINGS`, a new level a line of `LEVELS` or `ABLATIONS`, a new way to ask a line of
`ROLES`, a new family a line of `FAMILIES` and its tasks (`tasks.catalogue`); `make tasks` then writes the files of lm-eval,
its in-tree edition, and the tables in the docs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from lm_eval_tasks.base.metadata import Context

Writing = Literal["title", "abs", "intro", "related"]
Scope = Literal["full", "section"]
CitationType = Literal["attributional", "descriptive"]
Distractors = Literal["random", "nearest"]
CandidateText = Literal["concise", "full", "body"]
# Of tasks: what is written; which candidate is named; which of many; which belongs to which.
Kind = Literal["writing", "cloze", "set", "pairs"]
ReadingTask = Literal["walk", "next", "match"]
# Of all that a task shows: all of it, nothing, the beginning of the paper, what is around the question, or what a search finds.
FULL: Context = "full"
NONE: Context = "none"
START: Context = "start"
LOCAL: Context = "local"
RETRIEVED: Context = "retrieved"
# Task -> with how much less it is asked. Of titles, the title alone would be the answer; what Next asks about is part of its context.
SHORTER: dict[str, tuple[Context, ...]] = {
    "title": (START, RETRIEVED),
    "abs": (NONE, START, RETRIEVED),
    "intro": (NONE, START, RETRIEVED),
    "related": (NONE, START, RETRIEVED),
    "cloze": (NONE, LOCAL, RETRIEVED),
    "walk": (NONE, RETRIEVED),
    "next": (RETRIEVED,),
    "match": (NONE, LOCAL),
}
# The shorter context that each task's full one is compared with first.
HEADLINE: dict[str, Context] = {
    **dict.fromkeys(("title", "abs", "intro", "related"), START),
    "cloze": LOCAL,
    **dict.fromkeys(("walk", "next"), RETRIEVED),
    "match": LOCAL,
}


@dataclass(frozen=True, slots=True)
class Family:
    """Tasks that have a hook, a base file and a way of scoring in common.

    A new family is a base file in a folder of `lm_eval_tasks`, a hook, a prompt file called `<name>.txt` or
    `<name>_<variant>.txt`, a line of `FAMILIES`, and its tasks and groups.

    Attributes:
        name: what the names of its prompt files begin with.
        label: for display; "" where each target of `TARGETS` has its own.
        kind: how answers are scored: as texts, as choices, as sets, or as pairs.
        folder: of its files.
    """

    name: str
    label: str
    kind: Kind
    folder: str


FAMILIES: tuple[Family, ...] = (
    Family("academiceval", "", "writing", "academiceval"),
    Family("scalar", "SCALAR", "cloze", "scalar"),
    Family("walk", "Walk", "set", "reading"),
    Family("next", "Next", "pairs", "reading"),
    Family("match", "Match", "pairs", "reading"),
)
FOLDERS: tuple[str, ...] = tuple(dict.fromkeys(family.folder for family in FAMILIES))


def slug_of(name: str) -> str:
    """A configuration's name as names of tasks write it: "intro_28k_g" for "Intro-28K-G"."""
    return name.lower().replace("-", "_")


@dataclass(frozen=True, slots=True)
class Target:
    """What a writing task asks for.

    Attributes:
        label: for display.
        answer_tokens: that the context leaves for the answer.
    """

    name: Writing
    label: str
    answer_tokens: int


TARGETS: tuple[Target, ...] = (
    Target("title", "title", 64),
    Target("abs", "abstract", 512),
    Target("intro", "introduction", 2048),
    Target("related", "related work", 2048),
)


@dataclass(frozen=True, slots=True)
class Setting:
    """One writing configuration of the dataset; names and counts of the built-in ones are those of Table 2 of the
    AcademicEval paper (section 3.2).

    Attributes:
        name: the configuration's name, e.g. "Intro-28K-G".
        random: demonstrations drawn from papers of the same primary category.
        co_author: demonstrations drawn from papers of the co-author graph's neighbours.
        tokens: a budget of bert-base-uncased tokens for the whole input: of the kinds that have any, as many whole
            demonstrations as fit are shown, up to `random` and `co_author`; None shows exactly that many.
    """

    name: str
    task: Writing
    random: int = 0
    co_author: int = 0
    tokens: int | None = None

    @property
    def slug(self) -> str:
        return slug_of(self.name)

    @property
    def demonstrations(self) -> str:
        """The kinds of demonstrations that it shows, a tag of its lm-eval task."""
        return {(0, 0): "plain", (1, 0): "random", (0, 1): "graph", (1, 1): "mixed"}[
            bool(self.random), bool(self.co_author)
        ]

    @property
    def length(self) -> str:
        """Which of the two published prompts it is asked with."""
        return "long" if self.random or self.co_author else "short"


SETTINGS: tuple[Setting, ...] = (
    Setting("Title-10K", "title"),
    Setting("Title-30K", "title", random=2),
    Setting("Title-31K-G", "title", co_author=2),
    Setting("Title-50K-M", "title", random=2, co_author=2),
    Setting("Abs-9K", "abs"),
    Setting("Abs-28K", "abs", random=2),
    Setting("Abs-29K-G", "abs", co_author=2),
    Setting("Abs-48K-M", "abs", random=2, co_author=2),
    Setting("Intro-8K", "intro"),
    Setting("Intro-28K", "intro", random=2),
    Setting("Intro-28K-G", "intro", co_author=2),
    Setting("Intro-48K-M", "intro", random=2, co_author=2),
    Setting("Related-34K", "related"),
    Setting("Related-53K", "related", random=2),
    Setting("Related-53K-G", "related", co_author=2),
    Setting("Related-72K-M", "related", random=2, co_author=2),
)


@dataclass(frozen=True, slots=True)
class Role:
    """A way to ask settings, with its own tasks.

    Attributes:
        settings: that have it; empty for all.
        prompt: the prompt file; `{task}` and `{length}` are the setting's.
        name: of its tasks; `{slug}` and `{task}` are the setting's.
        alias: after the setting in the task's display name.
        answer_tokens: in place of the target's.
        size: of a sample that represents all rows; None for all of them.
        group: of its tasks; "" for none, `{task}` makes one group for each target and one for all of these.
        shows: in docs, what its tasks ask.
        context: how much of what the settings show.
    """

    role: str
    prompt: str
    name: str
    alias: str
    shows: str
    settings: tuple[str, ...] = ()
    answer_tokens: int | None = None
    size: int | None = None
    group: str = ""
    context: Context = FULL


_PROMPT = "{task}_{length}"
PLAIN = Role("prompt", _PROMPT, "academiceval_{slug}", "", "", group="academiceval_{task}")
ROLES: tuple[Role, ...] = (
    PLAIN,
    Role(
        "prompt",
        _PROMPT,
        "academiceval_ralm_{slug}",
        "RALM",
        "retrieved chunks in place of body and demonstrations, as `context=retrieved`",
        group="academiceval_ralm_{task}",
        context=RETRIEVED,
    ),
    Role(
        "prompt",
        _PROMPT,
        "academiceval_{slug}_title_only",
        "title only",
        "the abstract from the title alone (Table 6), as `context=none`",
        settings=("Abs-9K",),
        context=NONE,
    ),
    Role(
        "section",
        "section_short",
        "academiceval_sections",
        "sections",
        "every section of every paper from the others (K-fold, appendix B); the prompt is ours",
        settings=("Title-10K",),
        answer_tokens=2048,
    ),
)
# A few rows of each target's first setting, in the group of that name.
TINY = Role(
    "prompt",
    _PROMPT,
    "academiceval_tiny_{task}",
    "tiny",
    "a small sample of a round, without demonstrations",
    settings=("Title-10K", "Abs-9K", "Intro-8K", "Related-34K"),
    size=50,
    group="academiceval_tiny",
)
# What a retriever is asked with has no task of its own.
_QUERY = "{task}_query"
_SHORTER: dict[str, str] = {NONE: "{task}_title_only", START: "{task}_short", RETRIEVED: "{task}_ralm"}


def settings_of(role: Role) -> list[Setting]:
    """The settings that are asked in a way."""
    return [setting for setting in SETTINGS if not role.settings or setting.name in role.settings]


def prompts_of(setting: Setting) -> dict[str, str]:
    """Role, or context if it is not full, -> the prompt file that a setting is asked with in it."""
    roles = {role.role: role.prompt for role in ROLES if setting in settings_of(role)} | {"query": _QUERY}
    shorter = {context: _SHORTER[context] for context in SHORTER[setting.task]}
    return {role: prompt.format(task=setting.task, length=setting.length) for role, prompt in (roles | shorter).items()}


@dataclass(frozen=True, slots=True)
class Level:
    """One SCALAR configuration of the dataset: what is masked, who distracts, and how much is shown (SCALAR paper, section
    2.3, figure 2).

    Attributes:
        name: the configuration's name, e.g. "SCALAR-Easy".
        question: the paper around the mask, or the section alone.
        citation: which citations are masked.
        distractors: drawn from the paper's references, or from the four citations nearest to the mask.
        candidates: title and abstract; the full text; the text without title, abstract, introduction and conclusion.
    """

    name: str
    question: Scope = "full"
    citation: CitationType = "attributional"
    distractors: Distractors = "random"
    candidates: CandidateText = "full"
    task: Literal["cloze"] = "cloze"

    @property
    def slug(self) -> str:
        return slug_of(self.name)

    @property
    def short_name(self) -> str:
        """What rows call it: "easy" for "SCALAR-Easy"."""
        return self.name.removeprefix("SCALAR-").lower()


CLOZE_TOKENS = 2000
LEVELS: tuple[Level, ...] = (
    Level("SCALAR-Easy"),
    Level("SCALAR-Medium", citation="descriptive"),
    Level("SCALAR-Hard", citation="descriptive", distractors="nearest", candidates="body"),
)
# The other combinations of tables 2 and 3 of the SCALAR paper (section 4).
ABLATIONS: tuple[Level, ...] = (
    Level("Cloze-Easy-Section-Concise", question="section", candidates="concise"),
    Level("Cloze-Easy-Full-Concise", candidates="concise"),
    Level("Cloze-Easy-Section-Full", question="section"),
    Level("Cloze-Attributional-Nearest", distractors="nearest"),
    Level("Cloze-Hard-Section-Concise", "section", "descriptive", "nearest", "concise"),
    Level("Cloze-Hard-Full-Concise", "full", "descriptive", "nearest", "concise"),
    Level("Cloze-Hard-Section-Full", "section", "descriptive", "nearest", "full"),
    Level("Cloze-Hard-Full-Full", "full", "descriptive", "nearest", "full"),
)
ALL_LEVELS = LEVELS + ABLATIONS


@dataclass(frozen=True, slots=True)
class Reading:
    """One configuration of a reading family: questions over as many papers as fill a context.

    Attributes:
        name: the configuration's name, e.g. "Walk-128K".
        size: of the context, in units of 1,024 tokens.
        controls: whether its questions are those that the family's shortcut answers, to compare with.
    """

    name: str
    task: ReadingTask
    size: int
    controls: bool = False

    @property
    def slug(self) -> str:
        return slug_of(self.name)


READING_TOKENS = 512
# What a label is called in the prompts of a family, and what is asked about where each gets an answer of its own.
WORDS: dict[str, str] = {"walk": "Paper", "next": "Passage", "match": "Paper"}
ASKED: dict[str, str] = {"next": "Passage", "match": "Mask"}
_SIZES = {"128K": 128, "256K": 256, "512K": 512, "1M": 1024}


def _readings(label: str, task: ReadingTask) -> Iterator[Reading]:
    return (Reading(f"{label}-{size}", task, number) for size, number in _SIZES.items())


READINGS: tuple[Reading, ...] = (
    *_readings("Walk", "walk"),
    Reading("Walk-Controls-128K", "walk", 128, controls=True),
    *_readings("Next", "next"),
    *_readings("Match", "match"),
)


@dataclass(frozen=True, slots=True)
class Core:
    """A configuration that every model is asked first.

    Attributes:
        samples: most that are asked. Over the reading board, differences of 0.05 between two models can then be detected, and gains of
            0.10 from reading on a task (`benchmarks/gain.py`); boards count these samples alone.
    """

    configuration: str
    samples: int


CORE: tuple[Core, ...] = (
    Core("SCALAR-Easy", 300),
    Core("SCALAR-Medium", 300),
    Core("SCALAR-Hard", 300),
    Core("Walk-128K", 400),
    Core("Walk-256K", 400),
    Core("Next-128K", 100),
    Core("Title-31K-G", 100),
    Core("Abs-29K-G", 100),
    Core("Intro-28K-G", 100),
    Core("Related-53K-G", 100),
)
# What the group of reading tasks asks; longer contexts are asked by name.
CORE_READINGS: tuple[Reading, ...] = tuple(
    reading for reading in READINGS if reading.name in {core.configuration for core in CORE}
)
# A configuration of Match joins a round's core if this many of its masks are solved by full texts alone.
MATCH_CORE = Core("Match-128K", 100)
MASKS_OF_MATCH = 100


def task_of_configuration(configuration: str) -> str:
    """What a configuration asks for: "abs" and the like, "cloze", or a reading family."""
    records: tuple[Setting | Level | Reading, ...] = (*SETTINGS, *ALL_LEVELS, *READINGS)
    return next(record.task for record in records if record.name == configuration)
