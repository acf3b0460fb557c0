"""`eval.yaml`: SCALAR's levels of a round as a benchmark of the Hub, which Inspect runs by `inspect eval hf/ORG/academiceval`.

https://huggingface.co/docs/hub/eval-results. The Hub lists benchmarks with a framework that it knows, among them Inspect. Inspect takes
questions with choices in plain columns and has a closed list of scorers (`inspect_ai._eval.task.hf`): SCALAR's fit, other tasks do not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from builder.round.toml_file import problem_in
from hub_scripts.errors import HubError
from lm_eval_tasks.base.yaml_text import parse_yaml
from lm_eval_tasks.families import of_task
from lm_eval_tasks.families.family import slug_of

if TYPE_CHECKING:
    from builder.dataset.manifest import Manifest

EVAL = "eval.yaml"
FRAMEWORK = "inspect-ai"
# {question}, {choices} and {letters} are Inspect's. The words are the published prompt's, with letters in place of numbers.
TEMPLATE = """\
You are given a paper with a placeholder "**[MASKED_CITATION]**" in its content. Your task is to select the most appropriate reference \
from the provided reference list to replace the mask. The paper content is enclosed within <Paper> and </Paper>, the reference list \
within <References> and </References>.

<Paper>

{question}</Paper>

<References>
{choices}
</References>
Write the letter of the selected reference, one of {letters}, on the last line, in the form 'ANSWER: $LETTER' (without quotes)."""
_SPLIT: Literal["test"] = "test"
# Columns of a question that go into Inspect's logs.
_NOTED = ("id", "paper_id", "published", "round")


_Name = Annotated[str, Field(pattern=r"^[\w.-]+$")]
_Text = Annotated[str, Field(pattern=r"\S")]


class _Task(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    id: _Name
    config: _Name
    split: _Name
    # Inspect reads and checks these; benchmarks of others need not have them.
    field_spec: dict[str, Any] = {}
    solvers: list[dict[str, Any]] = []
    scorers: list[dict[str, Any]] = []


class _EvalFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    name: _Text
    description: _Text
    evaluation_framework: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    tasks: Annotated[list[_Task], Field(min_length=1)]


_EVAL_FILE = TypeAdapter(_EvalFile)


def task_id(configuration: str, revision: str, metric: str) -> str:
    """A task's id, with the round's revision in it: a leaderboard may put results of all revisions side by side."""
    return f"{slug_of(configuration)}_{metric}_{revision.replace('.', '_')}"


def eval_yaml(manifest: Manifest) -> str | None:
    """The text of `eval.yaml`: a task for each level with test questions; None if there are none."""
    configurations = [
        configuration
        for configuration in manifest.configurations
        if configuration.statistics(_SPLIT).samples
        and configuration.form == "questions"
        and of_task(configuration.task).is_multiple_choice
    ]
    if not configurations:
        return None
    content = {
        "name": f"AcademicEval {manifest.published_as}",
        "description": "SCALAR over new papers: a citation is masked; which of four papers was meant? Each task is a level of one round.",
        "evaluation_framework": FRAMEWORK,
        "tasks": [
            {
                "id": task_id(
                    configuration.name,
                    manifest.published_as,
                    of_task(configuration.task).ranking,
                ),
                "config": configuration.name,
                "split": _SPLIT,
                "field_spec": {"input": "question", "target": "target", "choices": "choices", "metadata": list(_NOTED)},
                "solvers": [{"name": "multiple_choice", "args": {"template": TEMPLATE}}],
                "scorers": [{"name": "choice"}],
            }
            for configuration in configurations
        ],
    }
    check_eval(content)
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def task_ids(data: bytes, what: str) -> frozenset[str]:
    """The ids of the tasks of an `eval.yaml`; none if it is empty.

    Args:
        what: the file, for the message.

    Raises:
        HubError: it is not one.
    """
    try:
        content = parse_yaml(data)
    except ValueError as err:
        raise HubError(f"{what} is not valid YAML ({err!s:.200}); repair it first") from err
    if content is None:
        return frozenset()
    check_eval(content)
    return frozenset(task["id"] for task in content["tasks"])


def check_eval(content: Any) -> None:
    """Raise a HubError for what the Hub would not take as `eval.yaml`."""
    try:
        tasks = _EVAL_FILE.validate_python(content).tasks
    except ValidationError as err:
        raise HubError(f"{EVAL}: {problem_in(err, content, _EVAL_FILE)}") from err
    if len({task.id for task in tasks}) < len(tasks):
        raise HubError(f"{EVAL}: two tasks have the same id")
