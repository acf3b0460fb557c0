"""SCALAR: a citation is masked, four papers are shown; which of them was cited? (SCALAR paper)"""

from dataclasses import dataclass, replace
from typing import Literal

from lm_eval_tasks.base.contract import (
    BM25_LOCAL,
    EMBED_LOCAL,
    LEAD,
    LIKELIHOOD,
    LOCAL,
    NAME_LOCAL,
    NONE,
    OF_SCALAR,
    RETRIEVED,
)
from lm_eval_tasks.families.descriptor import (
    CAPPED,
    CUT_SHARE,
    NO_ANSWER,
    TRUNCATED,
    UNFINISHED,
    ByLikelihood,
    Configuration,
    Core,
    Family,
    Metric,
    Target,
    Task,
    TaskGroup,
    slug_of,
)
from lm_eval_tasks.families.scalar.scalar_row import ScalarOwn

Scope = Literal["full", "section"]
CitationType = Literal["attributional", "descriptive"]
Distractors = Literal["random", "nearest"]
CandidateText = Literal["concise", "full", "body"]


@dataclass(frozen=True, slots=True)
class Level(Configuration):
    """One SCALAR configuration of the dataset: what is masked, who distracts, and how much is shown (SCALAR paper, section
    2.3, figure 2).

    Attributes:
        question: the paper around the mask, or the section alone.
        citation: which citations are masked.
        distractors: drawn from the paper's references, or from the four citations nearest to the mask.
        candidates: title and abstract; the full text; the text without title, abstract, introduction and conclusion.
    """

    task: Literal["cloze"] = "cloze"
    question: Scope = "full"
    citation: CitationType = "attributional"
    distractors: Distractors = "random"
    candidates: CandidateText = "full"

    @property
    def short_name(self) -> str:
        """What rows call it: "easy" for "SCALAR-Easy"."""
        return self.name.removeprefix("SCALAR-").lower()


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
    Level("Cloze-Hard-Section-Concise", "cloze", "section", "descriptive", "nearest", "concise"),
    Level("Cloze-Hard-Full-Concise", "cloze", "full", "descriptive", "nearest", "concise"),
    Level("Cloze-Hard-Section-Full", "cloze", "section", "descriptive", "nearest", "full"),
    Level("Cloze-Hard-Full-Full", "cloze", "full", "descriptive", "nearest", "full"),
)
ALL_LEVELS = LEVELS + ABLATIONS
TARGET = Target("scalar", "SCALAR", 2000, (NONE, LOCAL, RETRIEVED), LOCAL, task="cloze")
# The writers that know a text of their own for a paper choose a candidate.
FIRST, ANY = (LEAD, "function-words"), "random-sentence"
_MODULE = "families.scalar.answering"
_PROGRAMS = ("accuracy_bm25_local", "accuracy_name_local")
METRICS = (
    Metric(
        "accuracy",
        "Accuracy",
        "higher",
        _MODULE,
        of_answer=True,
        headline=True,
        floors=("accuracy_random", "accuracy_constant", *_PROGRAMS, "accuracy_embed_local"),
        zero=("accuracy_random", *_PROGRAMS),
        usual="acc",
    ),
    Metric("accuracy_strict", "Accuracy, answers read strictly", "higher", _MODULE),
    Metric("accuracy_sound", "Accuracy where each candidate has its own text", "higher", _MODULE),
    Metric("accuracy_constant", "Accuracy of the best constant", "lower", _MODULE),
    Metric("accuracy_random", "Accuracy of guessing", "lower", _MODULE),
    Metric("accuracy_bm25_local", "Accuracy of BM25 on the masked sentence", "neither", _MODULE, baseline=BM25_LOCAL),
    Metric("accuracy_name_local", "Accuracy of names before the mask", "neither", _MODULE, baseline=NAME_LOCAL),
    Metric(
        "accuracy_embed_local",
        "Accuracy of embeddings of the masked sentence",
        "neither",
        _MODULE,
        baseline=EMBED_LOCAL,
    ),
    CAPPED,
    TRUNCATED,
    CUT_SHARE,
    NO_ANSWER,
    UNFINISHED,
)


# Candidates of a published question.
_CANDIDATES = 4
# An answer is one of the numbers, so that none is read strictly, cut off or missing.
_OF_ANSWERS = ("accuracy_strict", CAPPED.name, NO_ANSWER.name, UNFINISHED.name)
LIKELIHOOD_METRICS = (
    *(metric for metric in METRICS if metric.name not in _OF_ANSWERS),
    *(
        Metric(f"chose_{number}", f"Share in which {number} was chosen", "neither", _MODULE)
        for number in range(_CANDIDATES)
    ),
)


# The published levels first.
_TASKS = tuple(Task("scalar", slug_of(level.name), level.name, TARGET.answer_tokens) for level in ALL_LEVELS)
_CHOSEN = (*(level.name for level in LEVELS), "Cloze-Hard-Section-Concise")
_CHOICES = tuple(
    replace(task, name=f"{task.name}_mc", alias="mc", way=LIKELIHOOD)
    for task in _TASKS
    if task.configuration in _CHOSEN
)
_NAMES, _CHOICE_NAMES = (tuple(task.name for task in tasks) for tasks in (_TASKS, _CHOICES))
FAMILY = Family(
    name="scalar",
    board="reading",
    own=ScalarOwn,
    targets=(TARGET,),
    configurations=ALL_LEVELS,
    tasks=(*_TASKS, *_CHOICES),
    groups=(
        TaskGroup("scalar", "scalar", _NAMES[: len(LEVELS)], has_mean=True),
        TaskGroup("scalar", "scalar_ablation", _NAMES),
        TaskGroup("scalar", "scalar_mc", _CHOICE_NAMES[: len(LEVELS)], True, LIKELIHOOD),
    ),
    core=tuple(Core(level.name, 300) for level in LEVELS),
    metrics=METRICS,
    is_multiple_choice=True,
    baselines=(*FIRST, ANY, *OF_SCALAR),
    likelihood=ByLikelihood("mc", "_likelihood_yaml", LIKELIHOOD_METRICS, begins="<answer>"),
)
METRIC_LIST, GROUP_LIST = FAMILY.metric_list(), FAMILY.group_list()
LIKELIHOOD_METRIC_LIST, LIKELIHOOD_GROUP_LIST = FAMILY.metric_list(LIKELIHOOD), FAMILY.group_list(LIKELIHOOD)
