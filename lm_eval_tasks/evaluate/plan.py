"""`academiceval plan`: what a run will take, before anything is run."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from operator import add, mul
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lm_eval_tasks import families
from lm_eval_tasks.base.contract import LIKELIHOOD, Context
from lm_eval_tasks.base.errors import OptionError
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.base.intervals import Interval, detectable_with
from lm_eval_tasks.base.metadata import check
from lm_eval_tasks.base.tables import Table
from lm_eval_tasks.compat import lm_eval as command_line
from lm_eval_tasks.compat.run_tasks import RunTasks
from lm_eval_tasks.data.options import Options
from lm_eval_tasks.evaluate.run_plan import about_answers
from lm_eval_tasks.evaluate.shorter import in_contexts, of_round, write_tasks
from lm_eval_tasks.families.reading.hook import doc_to_text
from lm_eval_tasks.families.registry import comparisons
from lm_eval_tasks.llm.usage import CHARACTERS_OF_TOKEN, Price, Usage
from lm_eval_tasks.samples.prompt_row import PromptRow
from lm_eval_tasks.tasks.catalogue import check_tasks, shown_name, tasks_path

# Between two models: what a decision may hang on.
_DIFFERENCE = 0.05


@dataclass(frozen=True, slots=True)
class TaskPlan:
    """What one task takes.

    Attributes:
        setting: that it asks.
        tokens_in: of all prompts, after cutting; None if the model's tokenizer is not known. Where one of several texts is chosen, the
            prompt is read again for each, as servers and vLLM do.
        most_out: tokens of all answers, if each reaches its cap. Behind a text whose likelihood is asked, servers write one.
        cut: share of the prompts that will be cut; None likewise.
        longest: tokens of the longest prompt and its answer; None likewise.
        detectable: the smallest difference between two models that the samples show in four out of five cases, after the correction
            for all rows of their comparison. Those of one first author count as one.
        guessed: tokens of all prompts at three characters each, if they are not known.
        measured_in: what the difference is of.
    """

    task: str
    setting: str
    samples: int
    most_out: int
    detectable: float | None
    tokens_in: int | None = None
    cut: float | None = None
    longest: int | None = None
    guessed: int | None = None
    measured_in: str = ""

    @property
    def tokens_to_show(self) -> int | None:
        """Tokens of as many such prompts as would show `_DIFFERENCE`; None if it is not known."""
        if self.tokens_in is None or self.detectable is None:
            return None
        return round(self.tokens_in * (self.detectable / _DIFFERENCE) ** 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    """What is planned.

    Attributes:
        model_args: lm-eval's; they name the tokenizer and the window that prompts are cut to.
        limit, repeats, contexts: as for `academiceval eval`.
        like: configuration -> difference of two runs over its samples; where it is over as many samples as are
            asked, it tells what is detectable.
    """

    model_args: str
    tasks: Sequence[str]
    metadata: Mapping[str, object]
    limit: float | None = None
    repeats: int = 1
    contexts: Sequence[Context] = ()
    like: Mapping[str, Interval] = field(default_factory=dict)


def plan(run: PlannedRun) -> list[TaskPlan]:
    """Tell what each task takes with a model.

    Raises:
        EvalError: an unknown task, a dataset or tokenizer that is missing, a window that is too short.
    """
    check(run.metadata)
    check_tasks(run.tasks)
    command_line.quiet()
    task_metadata = {
        **run.metadata,
        **command_line.parse_args(run.model_args),
        "whole_answers": True,
        "bertscore_model": "none",
    }
    option = about_answers(run.repeats, Options.of(task_metadata).reasoning_tokens)
    tasks = of_round(run.tasks, run.metadata, option and f"{option} is about answers")
    asked = in_contexts(tasks, run.contexts) if run.contexts else []
    with TemporaryDirectory() as folder:
        write_tasks(asked, Path(folder))
        names = [task.name for task in asked] or list(tasks)
        loaded = RunTasks([tasks_path(), Path(folder)], task_metadata).load(names)["tasks"]
    shown = {name: PromptRow.of_doc(_first(task)).name for name, task in loaded.items()}
    rows = comparisons({shown[name]: families.of_task(_target(task)).board for name, task in loaded.items()})
    planning = _Planning(run, seen=set() if asked and run.repeats == 1 else None, rows=rows)
    planned = [planning.plan_task(name, shown[name], task) for name, task in sorted(loaded.items())]
    sizes = {name: over.samples for name, over in run.like.items()}
    if sizes and not any(sizes.get(shown[entry.task]) == entry.samples for entry in planned):
        shared = ", ".join(f"{n} samples of {name}" for name, n in sizes.items())
        raise OptionError(
            f"the runs of --like share answers to {shared}, and to no task as it "
            "is planned; leave --like out, or give runs over these samples"
        )
    return planned


def _first(task: Any) -> Any:
    return task.dataset[task.config.test_split][0]


def _target(task: Any) -> str:
    return families.task_of_prompt(_first(task)["prompt_name"])


def _texts(task: Any, doc: Any) -> Sequence[str]:
    """Return the texts whose likelihood a row asks."""
    texts: Sequence[str] = task.doc_to_choice(doc) if task.config.doc_to_choice else [doc["target"]]
    return texts


@dataclass(frozen=True, slots=True)
class _Planning:
    """A run while its tasks are planned.

    Attributes:
        seen: hashes of the prompts so far, of which one is asked once; None where each is asked for every task.
        rows: of the comparison of two models.
    """

    run: PlannedRun
    seen: set[str] | None
    rows: int

    def plan_task(self, name: str, shown: str, task: Any) -> TaskPlan:
        docs = self._asked(task.dataset[task.config.test_split])
        caps, after = list(docs["answer_cap"]), list(docs["tokens_after"])
        prompts = [doc_to_text(doc) for doc in docs]
        row = PromptRow.of_doc(docs[0])
        times = [self._times(f"{row.way} {prompt}") for prompt in prompts]
        whole = list(map(add, after, caps))
        if row.way == LIKELIHOOD:
            after, caps = whole, [1] * len(docs)
        if task.config.doc_to_choice:
            times = [count * len(task.doc_to_choice(doc)) for count, doc in zip(times, docs, strict=True)]
        common = TaskPlan(
            task=name,
            setting=row.setting,
            samples=len(docs),
            most_out=sum(map(mul, times, caps)),
            detectable=self._detectable(shown, row, docs),
            measured_in="share kept" if row.family.kept else row.ranking.label,
        )
        if not all(docs["tokens_before"]):
            # Texts whose likelihood is asked are read too, each behind its prompt.
            read: Iterable[int] = map(len, prompts)
            if row.way == LIKELIHOOD:
                read = (
                    len(prompt) + max(map(len, _texts(task, doc))) for prompt, doc in zip(prompts, docs, strict=True)
                )
            characters = sum(map(mul, times, read))
            return replace(common, guessed=characters // CHARACTERS_OF_TOKEN)
        return replace(
            common,
            tokens_in=sum(map(mul, times, after)),
            cut=sum(map(bool, docs["tokens_cut"])) / len(docs),
            longest=max(whole),
        )

    def _asked(self, docs: Any) -> Any:
        count, limit = len(docs), self.run.limit
        if limit is not None:
            count = min(count, int(limit) if limit >= 1 else ceil(limit * count))
        return docs.select(range(count))

    def _times(self, prompt: str) -> int:
        """Count how often a prompt is asked."""
        if self.seen is None:
            return self.run.repeats
        digest = sha256_of_bytes(prompt)
        is_new = digest not in self.seen
        self.seen.add(digest)
        return int(is_new)

    def _detectable(self, shown: str, row: PromptRow, docs: Any) -> float | None:
        difference = self.run.like.get(shown)
        if difference and difference.samples == len(docs):
            return difference.detectable(self.rows)
        if row.family.kept:
            # Models are compared by shares kept, whose spread is known from runs alone.
            return None
        spread = row.family.spread_of(families.target_of(row.task), row.way)
        return detectable_with(Counter(docs["first_author"]).values(), spread, self.rows)


_HEAD = (
    "Task",
    "Samples",
    "Input tokens",
    "Output tokens, at most",
    "Prompts cut",
    "Longest prompt and answer",
    "Detectable",
    "Of",
    f"Input tokens that show {_DIFFERENCE}",
)


def table(planned: Sequence[TaskPlan]) -> Table:
    """Make a row for each task and one for all."""
    rows = list(map(_table_row, planned))
    if len(rows) > 1:
        together = total(planned)
        tokens_in = None if any(entry.tokens_in is None for entry in planned) else together.tokens_in
        to_show = [entry.tokens_to_show for entry in planned]
        show_all = None if None in to_show else sum(filter(None, to_show))
        samples = sum(entry.samples for entry in planned)
        rows.append(("all", samples, tokens_in, together.tokens_out, None, None, None, None, show_all))
    return Table(_HEAD, "lrrrrrrlr", rows, main=_HEAD[:-1])


def _table_row(entry: TaskPlan) -> tuple[object, ...]:
    return (
        shown_name(entry.task, [entry.setting]),
        entry.samples,
        entry.tokens_in,
        entry.most_out,
        None if entry.cut is None else f"{entry.cut:.2f}",
        entry.longest,
        None if entry.detectable is None else f"{entry.detectable:.3f}",
        entry.measured_in,
        entry.tokens_to_show,
    )


def total(planned: Sequence[TaskPlan]) -> Usage:
    """Return the tokens of all tasks; those of the prompts are guessed if they are not known."""
    known = (entry.tokens_in if entry.tokens_in is not None else entry.guessed for entry in planned)
    return Usage(sum(filter(None, known)), sum(entry.most_out for entry in planned))


def sentences(planned: Sequence[TaskPlan], price: Price | None, rates: Sequence[float] | None) -> list[str]:
    """Return what the table does not say: hours, at some rates in tokens a second (of prompts and of answers), and money."""
    lines = []
    together = total(planned)
    if any(entry.tokens_in is None for entry in planned):
        lines.append(
            f"Input tokens are not known, at most about {together.tokens_in}: name the model's tokenizer and context "
            "(tokenizer=...,max_length=...)"
        )
    if rates:
        hours = ((together.tokens_in or 0) / rates[0] + (together.tokens_out or 0) / rates[1]) / 3600
        lines.append(
            f"Hours, at {rates[0]:g} tokens a second read and {rates[1]:g} written, if every answer reaches its cap: {hours:.2f}"
        )
    if price:
        lines.append(f"Cost at most: {price.of(together):.2f}, in the unit of the price table")
    return lines
