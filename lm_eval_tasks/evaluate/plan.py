"""`academiceval plan` and `export`: what a run will take, and the prompts of a setting, before anything is run."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from operator import mul
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lm_eval_tasks import families
from lm_eval_tasks.base.contract import Context
from lm_eval_tasks.base.errors import OptionError
from lm_eval_tasks.base.files import sha256_of_bytes, write_together
from lm_eval_tasks.base.intervals import Interval, detectable_with
from lm_eval_tasks.base.metadata import check
from lm_eval_tasks.base.tables import Table
from lm_eval_tasks.compat import lm_eval as command_line
from lm_eval_tasks.compat.run_tasks import RunTasks
from lm_eval_tasks.evaluate.shorter import in_contexts, of_round, write_tasks
from lm_eval_tasks.families.reading.hook import doc_to_text
from lm_eval_tasks.families.registry import comparisons
from lm_eval_tasks.llm.usage import CHARACTERS_OF_TOKEN, Price, Usage
from lm_eval_tasks.samples.prompt_row import PromptRow
from lm_eval_tasks.tasks.catalogue import TASKS, check_tasks, task_of, tasks_path

# Between two models: what a decision may hang on.
_DIFFERENCE = 0.05
_KEPT = (
    "id row_hash setting shown prompt_name prompt_version round "
    "dataset_revision first_author published answer_cap licenses"
).split()


@dataclass(frozen=True, slots=True)
class TaskPlan:
    """What one task takes.

    Attributes:
        tokens_in: of all prompts, after cutting; None if the model's tokenizer is not known.
        most_out: tokens of all answers, if each reaches its cap.
        cut: share of the prompts that will be cut; None likewise.
        longest: tokens of the longest prompt and its answer; None likewise.
        detectable: the smallest difference between two models that the samples show in four out of five cases, after the correction
            for all rows of their comparison. Those of one first author count as one.
        guessed: tokens of all prompts at three characters each, if they are not known.
    """

    task: str
    samples: int
    tokens_in: int | None
    most_out: int
    cut: float | None
    longest: int | None
    detectable: float | None
    guessed: int | None = None

    @property
    def tokens_to_show(self) -> int | None:
        """Tokens of as many such prompts as would show `_DIFFERENCE`; None if it is not known."""
        return (
            None
            if self.tokens_in is None or self.detectable is None
            else round(self.tokens_in * (self.detectable / _DIFFERENCE) ** 2)
        )


def plan(
    model_args: str,
    tasks: Sequence[str],
    metadata: Mapping[str, object],
    limit: float | None = None,
    repeats: int = 1,
    contexts: Sequence[Context] = (),
    like: Mapping[str, Interval] | None = None,
) -> list[TaskPlan]:
    """What each task takes with a model.

    Args:
        model_args: lm-eval's; they name the tokenizer and the context that prompts are cut to.
        limit, repeats, contexts: as for `academiceval eval`.
        like: configuration -> difference of two runs over its samples; where it is over as many samples as are
            asked, it tells what is detectable.

    Raises:
        EvalError: an unknown task, a dataset or tokenizer that is missing, a context that is too short.
    """
    check(metadata)
    check_tasks(tasks)
    command_line.quiet()
    task_metadata = {
        **metadata,
        **command_line.parse_args(model_args),
        "whole_answers": True,
        "bertscore_model": "none",
    }
    tasks = of_round(tasks, metadata)
    asked = in_contexts(tasks, contexts) if contexts else []
    with TemporaryDirectory() as folder:
        write_tasks(asked, Path(folder))
        names = [task.name for task in asked] or list(tasks)
        loaded = RunTasks([tasks_path(), Path(folder)], task_metadata).load(names)["tasks"]
    # One prompt of several contexts is asked once.
    seen: set[str] | None = set() if asked and repeats == 1 else None
    shown = {name: PromptRow.of_doc(_first(task)).name for name, task in loaded.items()}
    rows = comparisons({shown[name]: families.of_task(_target(task)).board for name, task in loaded.items()})
    planned = [
        _plan_task(name, task, limit, repeats, seen, rows, (like or {}).get(shown[name]))
        for name, task in sorted(loaded.items())
    ]
    sizes = {name: over.samples for name, over in (like or {}).items()}
    if sizes and not any(sizes.get(shown[entry.task]) == entry.samples for entry in planned):
        raise OptionError(
            f"the runs of --like share answers to {', '.join(f'{n} samples of {name}' for name, n in sizes.items())}, and to no task as it "
            "is planned; leave --like out, or give runs over these samples"
        )
    return planned


def _first(task: Any) -> Any:
    return task.dataset[task.config.test_split][0]


def _target(task: Any) -> str:
    return families.task_of_prompt(_first(task)["prompt_name"])


def _plan_task(
    name: str,
    task: Any,
    limit: float | None,
    repeats: int,
    seen: set[str] | None,
    rows: int,
    difference: Interval | None,
) -> TaskPlan:
    docs = task.dataset[task.config.test_split]
    count = len(docs) if limit is None else min(len(docs), limit if limit >= 1 else ceil(limit * len(docs)))
    docs = docs.select(range(int(count)))
    caps, before = list(docs["answer_cap"]), list(docs["tokens_before"])
    after, cut = list(docs["tokens_after"]), list(docs["tokens_cut"])
    counts = [repeats if seen is None or _is_new(doc_to_text(doc), seen) else 0 for doc in docs]
    most = sum(map(mul, counts, caps))
    shows = (
        difference.detectable(rows)
        if difference and difference.samples == len(docs)
        else detectable_with(Counter(docs["first_author"]).values(), families.target_of(_target(task)).spread, rows)
    )
    if not all(before):
        guessed = (
            sum(count * len(doc_to_text(doc)) for count, doc in zip(counts, docs, strict=True)) // CHARACTERS_OF_TOKEN
        )
        return TaskPlan(name, len(docs), None, most, None, None, shows, guessed)
    longest = max(tokens + cap for tokens, cap in zip(after, caps, strict=True))
    return TaskPlan(
        name, len(docs), sum(map(mul, counts, after)), most, sum(map(bool, cut)) / len(docs), longest, shows
    )


def _is_new(prompt: str, seen: set[str]) -> bool:
    digest = sha256_of_bytes(prompt.encode())
    is_new = digest not in seen
    seen.add(digest)
    return is_new


def table(planned: Sequence[TaskPlan]) -> Table:
    """A row for each task and one for all."""
    rows = [
        (
            entry.task,
            entry.samples,
            entry.tokens_in,
            entry.most_out,
            None if entry.cut is None else f"{entry.cut:.2f}",
            entry.longest,
            None if entry.detectable is None else f"{entry.detectable:.3f}",
            entry.tokens_to_show,
        )
        for entry in planned
    ]
    together = total(planned)
    tokens_in = None if any(entry.tokens_in is None for entry in planned) else together.tokens_in
    to_show = [entry.tokens_to_show for entry in planned]
    show_all = None if None in to_show else sum(filter(None, to_show))
    samples = sum(entry.samples for entry in planned)
    total_row = ("all", samples, tokens_in, together.tokens_out, None, None, None, show_all)
    head = (
        "Task",
        "Samples",
        "Input tokens",
        "Output tokens, at most",
        "Prompts cut",
        "Longest prompt and answer",
        "Detectable",
        f"Input tokens that show {_DIFFERENCE}",
    )
    return Table(head, "lrrrrrrr", [*rows, *([total_row] if len(rows) > 1 else [])], main=head[:-1])


def total(planned: Sequence[TaskPlan]) -> Usage:
    """The tokens of all tasks; those of the prompts are guessed if they are not known."""
    prompts = sum(entry.tokens_in if entry.tokens_in is not None else entry.guessed or 0 for entry in planned)
    return Usage(prompts, sum(entry.most_out for entry in planned))


def sentences(planned: Sequence[TaskPlan], price: Price | None, rates: Sequence[float] | None) -> list[str]:
    """What the table does not say: hours, at some rates in tokens a second (of prompts and of answers), and money."""
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


def export(setting: str, model_args: str, metadata: Mapping[str, object], output: Path) -> int:
    """Write a setting's test prompts and return how many there are.

    Args:
        setting: a configuration of the dataset.
        model_args: lm-eval's; they name the tokenizer and context that prompts are cut to. Without them prompts are whole.

    Raises:
        EvalError: the dataset or setting is missing, or a prompt cannot fit.
    """
    check(metadata)
    command_line.quiet()
    name, config = task_asking(setting)
    task_metadata = {
        **metadata,
        **config,
        **command_line.parse_args(model_args),
        "whole_answers": True,
        "bertscore_model": "none",
    }
    [task] = RunTasks([tasks_path()], task_metadata).load([name])["tasks"].values()
    docs = task.dataset[task.config.test_split]
    output.parent.mkdir(parents=True, exist_ok=True)
    write_together({output: (json.dumps(_line_of(doc), ensure_ascii=False) + "\n" for doc in docs)})
    return len(docs)


def task_asking(setting: str) -> tuple[str, dict[str, str]]:
    """The lm-eval task that asks a setting, and the metadata that it needs if the setting is one of the round's own."""
    if task := task_of(setting):
        return task.name, {}
    begins = f"{setting.partition('-')[0]}-".casefold()
    usual = next(
        (task.name for task in TASKS if task.configuration.casefold().startswith(begins) and not task.alias), None
    )
    if usual is None:
        raise OptionError(
            f"no task asks the setting {setting!r}; settings begin with Title-, Abs-, Intro-, Related-, SCALAR- "
            "or the name of a reading family"
        )
    return usual, {"config": setting}


def _line_of(doc: Mapping[str, object]) -> dict[str, object]:
    kept = {name: doc[name] for name in _KEPT if name in doc}
    # Without a tokenizer nothing has counted them.
    before, after = (doc["tokens_before"], doc["tokens_after"]) if doc.get("tokenizer") else (None, None)
    prompt = doc_to_text(doc)
    counts = {"tokens_before": before, "prompt_tokens": after, "size": len(prompt)}
    return {**kept, **counts, "messages": [{"role": "user", "content": prompt}], "target": doc["target"]}
