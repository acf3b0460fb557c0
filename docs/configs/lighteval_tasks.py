"""The writing tasks for lighteval, in an environment of its own:

    pip install "lighteval==0.13.0" "huggingface-hub<1" "transformers<5" "datasets<5" "xxhash<4" academiceval
    ACADEMICEVAL_DATASET=ORG/academiceval lighteval vllm model_name=ORG/MODEL academiceval:abs_9k --custom-tasks lighteval_tasks.py

Prompts are whole, with our words; answers are scored by our ROUGE-L. For floors, intervals, cutting and all other metrics use
`academiceval eval`.
"""

import os

import numpy as np
from lighteval.metrics.metrics_sample import SampleLevelComputation
from lighteval.metrics.utils.metric_utils import SampleLevelMetric
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc, SamplingMethod

from lm_eval_tasks.data.hook import prompt_of
from lm_eval_tasks.metrics.rouge import rouge_l
from lm_eval_tasks.samples.refine import title
from lm_eval_tasks.tasks.derived import TASKS
from lm_eval_tasks.tasks.records import slug_of

DATASET = os.environ.get("ACADEMICEVAL_DATASET", "academiceval")
# Setting -> the most tokens of an answer.
SETTINGS = {
    task.configuration: task.answer_tokens for task in TASKS if task.folder == "academiceval" and not task.alias
}


class RougeL(SampleLevelComputation):
    """ROUGE-L of the answer against what the authors wrote; titles are freed from what surrounds them."""

    def compute(self, doc, model_response, **_):
        answer, target = model_response.final_text[0], doc.choices[0]
        return rouge_l(target, title(answer, target) if doc.task_name.startswith("academiceval:title") else answer)


METRIC = SampleLevelMetric("rougeL", True, SamplingMethod.GENERATIVE, RougeL(), np.mean)


def _task(setting, tokens):
    def prompt(row, task_name=""):
        return Doc(query=prompt_of(row, setting), choices=[row["target"]], gold_index=0, task_name=task_name)

    name = f"academiceval:{slug_of(setting)}"
    return LightevalTaskConfig(
        name,
        prompt,
        DATASET,
        setting,
        [METRIC],
        hf_avail_splits=["train", "validation", "test"],
        evaluation_splits=["test"],
        generation_size=tokens,
        stop_sequence=[],
    )


TASKS_TABLE = [_task(setting, tokens) for setting, tokens in SETTINGS.items()]
