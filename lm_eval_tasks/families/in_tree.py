"""The edition of the tasks for lm-evaluation-harness itself: writing, SCALAR, and what of the reading core needs neither a tokenizer nor a
choice of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lm_eval_tasks.families.family import FAMILIES_FOLDER, Task, TaskGroup, slug_of
from lm_eval_tasks.families.scalar import LEVELS
from lm_eval_tasks.families.writing.settings import PLAIN, SETTINGS

TREE = Path(__file__).resolve().parents[2] / "docs" / "upstream" / "academiceval"
GREEDY = "generation_kwargs: {{do_sample: false, temperature: 0.0, max_gen_toks: {tokens}, until: []}}\n"
# The part of the in-tree edition's module that is ours word for word: it begins here, to the end of both files.
_REFINEMENT = "_YES = "
# The same of the module that reads answers to questions.
_ANSWERS = "_MARKS = "
# Reading family -> its metrics.
_READINGS = {"walk": ("exact", "set_f1"), "next": ("share_right",)}
_QUESTION_PROMPTS = ("scalar/scalar", "scalar/scalar_candidate", "walk/walk", "walk/walk_questions", "next/next")


def contents(tasks: Iterable[Task], groups: Iterable[TaskGroup]) -> dict[Path, str]:
    """File -> what it should contain."""
    every = list(tasks)
    names = sorted({f"writing/{PLAIN.prompt.format(task=setting.task, length=setting.length)}" for setting in SETTINGS})
    files = {
        TREE / "prompts" / f"{Path(name).name}.txt": (FAMILIES_FOLDER / f"{name}.txt").read_text(encoding="utf-8")
        for name in (*names, *_QUESTION_PROMPTS)
    }
    plain = [task for task in every if task.tag]
    files |= {TREE / f"{task.name}.yaml": _task(task) for task in plain}
    members = "".join(f"  - {task.name}\n" for task in plain)
    files[TREE / "_academiceval.yaml"] = (
        f"group: academiceval\ntask:\n{members}aggregate_metric_list:\n"
        "  - {metric: rougeL, aggregation: mean, weight_by_size: false}\nmetadata: {version: 1.0}\n"
    )
    head = (TREE / "utils.py").read_text(encoding="utf-8").partition(_REFINEMENT)[0]
    files[TREE / "utils.py"] = head + _stretch("writing/refine.py", _REFINEMENT)
    return {**files, **_questions(every, {name for group in groups for name in group.members})}


def _questions(tasks: Iterable[Task], grouped: Iterable[str]) -> dict[Path, str]:
    asked = [task for task in tasks if task.family in _READINGS and not task.alias and task.name in grouped]
    files = {TREE / f"{slug_of(level.name)}.yaml": _level(level.name) for level in LEVELS}
    files |= {TREE / f"{task.name}.yaml": _reading(task) for task in asked}
    members = {
        "scalar": [slug_of(level.name) for level in LEVELS],
        "academiceval_reading": [task.name for task in asked],
    }
    for group, names in members.items():
        listed = "".join(f"  - {name}\n" for name in names)
        files[TREE / f"_{group}.yaml"] = f"group: {group}\ntask:\n{listed}metadata: {{version: 1.0}}\n"
    head = (TREE / "questions.py").read_text(encoding="utf-8").partition(_ANSWERS)[0]
    files[TREE / "questions.py"] = head + _stretch("labels.py", _ANSWERS)
    return files


def _level(name: str) -> str:
    lines = [
        "include: _default_yaml",
        f"task: {slug_of(name)}",
        f"task_alias: {name}",
        f"dataset_name: {name}",
        "doc_to_text: !function questions.scalar",
        'doc_to_target: "{{label}}"',
        "process_results: !function questions.process_scalar",
        "metric_list:",
        "  - {metric: acc, aggregation: mean, higher_is_better: true}",
    ]
    return "\n".join(lines) + "\n" + GREEDY.format(tokens=2000)


def _reading(task: Task) -> str:
    lines = [
        f"task: {task.name}",
        f"task_alias: {task.configuration}",
        "custom_dataset: !function questions.load",
        f'dataset_kwargs: {{path: ORG/academiceval, name: {task.configuration}, revision: "2026.11"}}',
        "test_split: test",
        "output_type: generate_until",
        "num_fewshot: 0",
        'doc_to_text: "{{prompt}}"',
        'doc_to_target: "{{answer}}"',
        f"process_results: !function questions.process_{task.family}",
        "metric_list:",
        *(f"  - {{metric: {name}, aggregation: mean, higher_is_better: true}}" for name in _READINGS[task.family]),
        "metadata: {version: 1.0}",
    ]
    return "\n".join(lines) + "\n" + GREEDY.format(tokens=task.answer_tokens)


def _stretch(file: str, begins: str) -> str:
    """A file's text from a mark to its end."""
    _, mark, text = (FAMILIES_FOLDER / file).read_text(encoding="utf-8").partition(begins)
    return mark + text


def _task(task: Task) -> str:
    [setting] = [setting for setting in SETTINGS if setting.name == task.configuration]
    lines = [
        "include: _default_yaml",
        f"task: {task.name}",
        f"task_alias: {task.configuration}",
        f"tag: {task.tag}",
        f"dataset_name: {task.configuration}",
        f"doc_to_text: !function utils.{setting.task}_{setting.length}",
        *(["process_results: !function utils.process_title"] if setting.task == "title" else []),
    ]
    return "\n".join(lines) + "\n" + GREEDY.format(tokens=task.answer_tokens)
