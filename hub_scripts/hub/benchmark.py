"""`eval.yaml`: SCALAR's levels of a round as a benchmark of the Hub, which Inspect runs by `inspect eval hf/ORG/academiceval`.

https://huggingface.co/docs/hub/eval-results. The Hub lists benchmarks with a framework that it knows, among them Inspect. Inspect takes
questions with choices in plain columns and has a closed list of scorers (`inspect_ai._eval.task.hf`): SCALAR's fit, other tasks do not.
"""

import msgspec
import yaml

from builder.dataset.card import registered
from hub_scripts.errors import HubError
from lm_eval_tasks.base.manifest import Manifest
from lm_eval_tasks.base.typed import Name, typed
from lm_eval_tasks.base.yaml_text import parse_yaml
from lm_eval_tasks.families import of_task
from lm_eval_tasks.families.descriptor import slug_of

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


class _Task(msgspec.Struct):
    id: Name


class _EvalFile(msgspec.Struct):
    tasks: list[_Task]


def task_id(configuration: str, revision: str, metric: str) -> str:
    """Return a task's id, with the round's revision in it: a leaderboard may put results of all revisions side by side."""
    return f"{slug_of(configuration)}_{metric}_{revision.replace('.', '_')}"


def eval_yaml(manifest: Manifest) -> str | None:
    """Return the text of `eval.yaml`: a task for each level with test questions; None if there are none."""
    configurations = registered(manifest)
    if not configurations:
        return None
    content = {
        "name": f"AcademicEval {manifest.published_as}",
        "description": "SCALAR over new papers: a citation is masked; which of four papers was meant? Each task is a level of one round.",
        "evaluation_framework": FRAMEWORK,
        "tasks": [
            {
                "id": task_id(configuration.name, manifest.published_as, of_task(configuration.task).ranking),
                "config": configuration.name,
                "split": "test",
                "field_spec": {
                    "input": "question",
                    "target": "target",
                    "choices": "choices",
                    # What goes into Inspect's logs.
                    "metadata": ["id", "paper_id", "published", "round"],
                },
                "solvers": [{"name": "multiple_choice", "args": {"template": TEMPLATE}}],
                "scorers": [{"name": "choice"}],
            }
            for configuration in configurations
        ],
    }
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def task_ids(data: bytes, what: str) -> frozenset[str]:
    """Return the ids of the tasks of an `eval.yaml`, none if it is empty; a HubError if it is something else."""
    try:
        content = parse_yaml(data)
        return frozenset(task.id for task in typed(_EvalFile, content).tasks) if content is not None else frozenset()
    except ValueError as err:
        raise HubError(f"{what} cannot be used ({err!s:.200}); repair it first") from err
