"""The tasks for Inspect (https://inspect.aisi.org.uk): `inspect eval academiceval/abs_9k --model ...`, with the extra `inspect`.

Each task is made from the task file that lm-eval reads: the same prompts, cut in the same way, and the same scores. Standard errors are
clustered by first author. Inspect loads this module through an entry point of the package.
"""

from collections.abc import Callable
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Metric, Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState, generate

from lm_eval_tasks.base.contract import GENERATED
from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.base.metadata import ALL, NO_MODEL, check
from lm_eval_tasks.compat.inspect_ai import StopError, as_package
from lm_eval_tasks.compat.lm_eval import quiet
from lm_eval_tasks.compat.run_tasks import RunTasks
from lm_eval_tasks.data.options import Options
from lm_eval_tasks.families.descriptor import CAPPED
from lm_eval_tasks.families.reading.hook import doc_to_text
from lm_eval_tasks.llm.usage import finish_of
from lm_eval_tasks.samples.answers import Generated, ScoredAnswer
from lm_eval_tasks.samples.prompt_row import PromptRow
from lm_eval_tasks.tasks.catalogue import TASKS as RECORDS
from lm_eval_tasks.tasks.catalogue import tasks_path

_SHOWN = ("round", "dataset_revision", "prompt_version", "bertscore_model")


def _factory(name: str) -> Callable[..., Task]:

    def make(dataset: str | None = None, dataset_revision: str | None = None, **options: Any) -> Task:
        arguments = {**options, "dataset": dataset, "dataset_revision": dataset_revision}
        try:
            return _make_task(name, {key: value for key, value in arguments.items() if value is not None})
        except EvalError as err:
            raise StopError(str(err)) from err

    make.__name__, make.__doc__ = name, f"`{name}` of lm-eval, with its options as arguments."
    return make


def _make_task(name: str, metadata: dict[str, object]) -> Task:
    check(metadata)
    quiet()
    [eval_task] = (
        RunTasks([tasks_path()], metadata, Options.of(metadata).reasoning_tokens).load([name])["tasks"].values()
    )
    docs = list(eval_task.dataset["test"])
    rows = list(map(PromptRow.of_doc, docs))
    samples = [
        Sample(
            doc_to_text(doc),
            target=row.target,
            id=row.id,
            metadata={name: value for name, value in doc.items() if name != "prompt"},
        )
        for row, doc in zip(rows, docs, strict=True)
    ]
    [steps] = eval_task.config.filter_list
    return Task(
        MemoryDataset(samples, name=rows[0].setting),
        solver=generate(),
        scorer=_scorer_of(rows[0])(steps["filter"][0]["filter_fn"]),
        config=GenerateConfig(
            temperature=eval_task.config.generation_kwargs["temperature"], max_tokens=rows[0].answer_cap
        ),
        version=str(eval_task.config.metadata["version"]),
        metadata={name: getattr(rows[0], name) for name in _SHOWN},
    )


def _scorer_of(row: PromptRow) -> Callable[[Any], Scorer]:
    """Return the scorer of a task's answers: headline metrics with their floors, or all if they are asked for; and the share of capped
    answers.
    """
    metrics = [
        metric
        for metric in row.family.metrics
        if (metric.headline or row.metrics == ALL)
        and (row.bertscore_model != NO_MODEL or not metric.name.startswith("bertscore"))
    ]
    names = dict.fromkeys(name for metric in metrics for name in (metric.name, *metric.zero))
    aggregations: list[Metric] = [mean(), stderr(cluster="first_author")]

    @scorer(metrics={name: aggregations for name in (*names, CAPPED.name)}, name="academiceval")
    @as_package
    def academiceval(score: Callable[..., list[str]]) -> Scorer:
        async def of(state: TaskState, target: Target) -> Score:
            reason = state.output.stop_reason if state.output.choices else "unknown"
            answer = Generated.of(state.output.completion, finish_of(reason))
            scored = ScoredAnswer.from_text(score([[answer]], [{**state.metadata, "prompt": state.input_text}])[0])
            value = {name: scored.scores.get(name, float("nan")) for name in (*names, CAPPED.name)}
            return Score(value=value, answer=scored.answer, metadata={"scores": scored.scores})

        return of

    return academiceval


TASKS = {
    short: task(name=f"academiceval/{short}")(as_package(_factory(record.name)))
    for record in RECORDS
    if record.way == GENERATED
    for short in (record.name.removeprefix("academiceval_"),)
}
