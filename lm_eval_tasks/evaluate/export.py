"""`academiceval export`: a setting's prompts, cut to a model, as JSON lines that other tools read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from lm_eval_tasks.base.errors import OptionError
from lm_eval_tasks.base.files import write_together
from lm_eval_tasks.base.metadata import check
from lm_eval_tasks.compat import lm_eval as command_line
from lm_eval_tasks.compat.run_tasks import RunTasks
from lm_eval_tasks.families.reading.hook import doc_to_text
from lm_eval_tasks.tasks.catalogue import TASKS, task_of
from lm_eval_tasks.tasks.folder import tasks_path

_KEPT = (
    "id",
    "row_hash",
    "setting",
    "shown",
    "prompt_name",
    "prompt_version",
    "round",
    "dataset_revision",
    "first_author",
    "published",
    "answer_cap",
    "licenses",
)


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
    arguments = command_line.parse_args(model_args)
    task_metadata = {**metadata, **config, **arguments, "whole_answers": True, "bertscore_model": "none"}
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
    messages = [{"role": "user", "content": doc_to_text(doc)}]
    return {**kept, "tokens_before": before, "prompt_tokens": after, "messages": messages, "target": doc["target"]}
