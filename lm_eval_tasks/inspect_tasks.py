"""The tasks for Inspect (https://inspect.aisi.org.uk): `inspect eval academiceval/abs_9k --model ...`, with the extra `inspect`.

Each task is made from the task file that lm-eval reads: the same prompts, cut in the same way, and the same scores. Standard errors are
clustered by first author. Inspect loads this module through an entry point of the package.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Metric, Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState, generate

from lm_eval_tasks.compat.inspect_ai import StopError, as_package
from lm_eval_tasks.compat.lm_eval import quiet
from lm_eval_tasks.compat.run_tasks import RunTasks
from lm_eval_tasks.core.errors import EvalError
from lm_eval_tasks.core.metadata import ALL, check
from lm_eval_tasks.data.options import Options
from lm_eval_tasks.metrics import registry
from lm_eval_tasks.metrics.bertscore import NO_MODEL
from lm_eval_tasks.samples.answers import Generated, ScoredAnswer
from lm_eval_tasks.samples.row import PromptRow
from lm_eval_tasks.tasks.folder import tasks_path
from lm_eval_tasks.tasks.records import TASKS as RECORDS

_PREFIX = "academiceval_"
# Why an answer ended, in Inspect's words -> in lm-eval's.
_FINISH = {"max_tokens": "length", "model_length": "length"}
_SHOWN = ("round", "dataset_revision", "prompt_version", "bertscore_model")
Factory = Callable[..., Task]


def _factory(name: str) -> Factory:
    """What makes one task.

    Args:
        name: of lm-eval's task.
    """

    def make(dataset: str | None = None, dataset_revision: str | None = None, **options: Any) -> Task:
        given = {**options, "dataset": dataset, "dataset_revision": dataset_revision}
        try:
            return _made(name, {key: value for key, value in given.items() if value is not None})
        except EvalError as err:
            raise StopError(str(err)) from err

    make.__name__, make.__doc__ = name, f"`{name}` of lm-eval, with its options as arguments."
    return make


def _made(name: str, given: dict[str, Any]) -> Task:
    check(given)
    quiet()
    reasoning = Options.of(given).reasoning_tokens
    [made] = RunTasks(tasks_path(), given, reasoning).load([name])["tasks"].values()
    docs = list(made.dataset["test"])
    rows = list(map(PromptRow.of_doc, docs))
    samples = [
        Sample(row.prompt, target=row.target, id=row.id, metadata=_about(doc))
        for row, doc in zip(rows, docs, strict=True)
    ]
    asked = made.config.generation_kwargs
    [steps] = made.config.filter_list
    return Task(
        MemoryDataset(samples, name=rows[0].setting),
        solver=generate(),
        scorer=_scorer_of(rows[0])(steps["filter"][0]["filter_fn"]),
        config=GenerateConfig(temperature=asked["temperature"], max_tokens=asked["max_gen_toks"]),
        version=str(made.config.metadata["version"]),
        metadata={name: getattr(rows[0], name) for name in _SHOWN},
    )


def _about(doc: dict[str, Any]) -> dict[str, Any]:
    """A row without its prompt, which is the sample's input."""
    return {name: value for name, value in doc.items() if name != "prompt"}


def _scorer_of(row: PromptRow) -> Callable[[Any], Scorer]:
    """The scorer of a task's answers: headline metrics with their floors, or all if they are asked for; and the share of capped answers."""
    wanted = [metric for metric in registry.of_kind(row.kind) if metric.headline or row.metrics == ALL]
    known = [metric for metric in wanted if not metric.name.startswith("bertscore") or row.bertscore_model != NO_MODEL]
    names = dict.fromkeys(name for metric in known for name in (metric.name, metric.zero) if name)
    over: list[Metric] = [mean(), stderr(cluster="first_author")]

    @scorer(metrics={name: over for name in (*names, registry.CAPPED)}, name="academiceval")
    @as_package
    def academiceval(score: Callable[..., list[str]]) -> Scorer:
        async def of(state: TaskState, target: Target) -> Score:
            reason = state.output.stop_reason if state.output.choices else "unknown"
            answer = Generated.of(state.output.completion, _FINISH.get(reason, "stop"))
            scored = ScoredAnswer.from_text(score([[answer]], [{**state.metadata, "prompt": state.input_text}])[0])
            value = {name: scored.scores.get(name, float("nan")) for name in (*names, registry.CAPPED)}
            return Score(value=value, answer=scored.answer, metadata={"scores": scored.scores})

        return of

    return academiceval


TASKS = {
    short: task(name=f"academiceval/{short}")(as_package(_factory(record.name)))
    for record in RECORDS
    for short in (record.name.removeprefix(_PREFIX),)
}
