"""The writing settings, and the ways to ask them.

A new setting is a line of `SETTINGS`, a new way to ask a line of `ROLES`; `make tasks` then writes the files that follow.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from lm_eval_tasks.base.contract import FULL, GENERATED, LIKELIHOOD, NONE, OTHER, RETRIEVED, SIZED, START, Context, Way
from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.families.descriptor import Configuration, Target, Task, TaskGroup, slug_of
from lm_eval_tasks.families.writing import refine

Writing = Literal["title", "abs", "intro", "related"]


def _text(name: str, label: str, answer_tokens: int, spread: float) -> Target:
    """Describe a text that is asked for."""
    # Of titles, the title alone would be the answer.
    shorter: tuple[Context, ...] = (START, RETRIEVED) if name == "title" else (NONE, START, RETRIEVED)
    refined = refine.title if name == "title" else refine.text
    return Target(name, label, answer_tokens, shorter, START, refine=refined, spread=spread, measured_in="ROUGE-L")


TARGETS: tuple[Target, ...] = (
    _text("title", "title", 64, 0.15),
    _text("abs", "abstract", 512, 0.055),
    _text("intro", "introduction", 2048, 0.023),
    _text("related", "related work", 2048, 0.022),
)


@dataclass(frozen=True, slots=True)
class Setting(Configuration):
    """One writing configuration of the dataset; names and counts of the built-in ones are those of Table 2 of the
    AcademicEval paper (section 3.2).

    Attributes:
        random: demonstrations drawn from papers of the same primary category.
        co_author: demonstrations drawn from papers of the co-author graph's neighbours.
        tokens: a budget of bert-base-uncased tokens for the whole input: of the kinds that have any, as many whole
            demonstrations as fit are shown, up to `random` and `co_author`; None shows exactly that many.
    """

    task: Writing
    random: int = 0
    co_author: int = 0
    tokens: int | None = None

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
        name: of its tasks; `{slug}` and `{task}` are the setting's.
        alias: after the setting in the task's display name.
        settings: that have it; empty for all.
        size: of a sample that represents all rows; None for all of them.
        group: of its tasks; "" for none, `{task}` makes one group for each target and one for all of these.
        context: how much of what the settings show.
        way: how they are asked.
    """

    name: str
    alias: str
    settings: tuple[str, ...] = ()
    size: int | None = None
    group: str = ""
    context: Context = FULL
    way: Way = GENERATED


PLAIN = Role("academiceval_{slug}", "", group="academiceval_{task}")
ROLES: tuple[Role, ...] = (
    PLAIN,
    Role("academiceval_ralm_{slug}", "RALM", group="academiceval_ralm_{task}", context=RETRIEVED),
    Role("academiceval_{slug}_title_only", "title only", settings=("Abs-9K",), context=NONE),
    # A few rows of each target's first setting, in the group of that name.
    Role(
        "academiceval_tiny_{task}",
        "tiny",
        settings=("Title-10K", "Abs-9K", "Intro-8K", "Related-34K"),
        size=50,
        group="academiceval_tiny",
    ),
    Role("academiceval_{slug}_bpb", "bpb", group="academiceval_{task}_bpb", way=LIKELIHOOD),
)
# What a retriever is asked with, which has no task of its own.
QUERY = "query"
# What shows the beginning of a paper.
BEGINNINGS: tuple[Context, ...] = (OTHER, *SIZED)
_PROMPTS: dict[str, str] = {
    FULL: "{task}_{length}",
    NONE: "{task}_title_only",
    **dict.fromkeys(BEGINNINGS, "{task}_short"),
    RETRIEVED: "{task}_ralm",
    QUERY: "{task}_query",
}


def contexts_of(setting: Setting) -> tuple[Context, ...]:
    """Return with how much less to read a setting is asked: without demonstrations, also with other beginnings than the usual one."""
    [shorter] = [target.shorter for target in TARGETS if target.name == setting.task]
    if setting.demonstrations != "plain":
        return shorter
    before, behind = (context for context in shorter if context == NONE), (RETRIEVED,)
    return (*before, *BEGINNINGS, *behind)


def settings_of(role: Role) -> list[tuple[Setting, Target]]:
    """Return the settings that are asked in a way, each with what it asks for."""
    asked = [setting for setting in SETTINGS if not role.settings or setting.name in role.settings]
    return [(setting, target) for setting in asked for target in TARGETS if target.name == setting.task]


def prompts_of(setting: Setting) -> dict[str, str]:
    """Return context, or `QUERY`, -> the prompt file that a setting is asked with in it."""
    return {
        context: _PROMPTS[context].format(task=setting.task, length=setting.length)
        for context in (FULL, *contexts_of(setting), QUERY)
    }


def prompt_name_of(name: str, context: str = FULL) -> str:
    """Return the name of the prompt file of a built-in setting.

    Args:
        context: or `QUERY`.

    Raises:
        EvalError: the setting is not asked in this context.
    """
    for setting in SETTINGS:
        if setting.name == name and (prompt := prompts_of(setting).get(context)):
            return prompt
    raise EvalError(f"there is no prompt {context!r} for the setting {name!r}")


def tasks() -> Iterator[Task]:
    """Yield the tasks of all settings, in all the ways in which they are asked."""
    for role in ROLES:
        for setting, target in settings_of(role):
            yield Task(
                "writing",
                name=role.name.format(slug=slug_of(setting.name), task=setting.task),
                configuration=setting.name,
                answer_tokens=target.answer_tokens,
                alias=role.alias,
                size=role.size,
                tag=f"academiceval_{setting.demonstrations}" if role is PLAIN else "",
                context=role.context,
                way=role.way,
            )


def groups() -> Iterator[TaskGroup]:
    """Return for each way to ask a group of all its tasks, and one of those of each target."""
    for role in ROLES:
        names: dict[str, list[str]] = {}
        for setting, _ in settings_of(role):
            name = role.name.format(slug=slug_of(setting.name), task=setting.task)
            names.setdefault(role.group.format(task=setting.task), []).append(name)
        if "{task}" in role.group:
            yield TaskGroup("writing", role.group.replace("_{task}", ""), tuple(names), True, role.way)
        yield from (
            TaskGroup("writing", group, tuple(of_group), True, role.way) for group, of_group in names.items() if group
        )
