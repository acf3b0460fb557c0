"""The files that follow from the records: lm-eval's task files, its in-tree edition, and the tables of tasks in the docs.

`python -m lm_eval_tasks.tasks` (`make tasks`) writes them into a clone; they are committed, and a test compares them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lm_eval_tasks.tasks.catalogue import GROUPS, TAGS, TASKS, Task, TaskGroup
from lm_eval_tasks.tasks.records import (
    ALL_LEVELS,
    CORE_READINGS,
    FULL,
    LEVELS,
    PLAIN,
    READINGS,
    ROLES,
    SETTINGS,
    TARGETS,
    TINY,
    slug_of,
)

ROOT = Path(__file__).resolve().parents[2]
_OURS = ROOT / "lm_eval_tasks"
_TREE = ROOT / "docs" / "upstream" / "academiceval"
_GREEDY = "generation_kwargs: {{do_sample: false, temperature: 0.0, max_gen_toks: {tokens}, until: []}}\n"
_TITLE_FILTER = """filter_list:
  - name: score
    filter:
      - function: custom
        filter_fn: !function lm_eval_tasks.metrics.score.score_title
"""
# The part of the in-tree edition's module that is ours word for word: it begins here, to the end of both files.
_REFINEMENT = "_YES = "
# The same of the module that reads answers to questions: where a stretch of ours begins, and before what it ends.
_ANSWERS = "_MARK = "
_LABELS = ("_LISTS = ", "def strict_set_of")
_FENCES = ("def _without_fence", "def _strict_numbers")
# Reading family -> its metrics.
_TREE_READINGS = {"walk": ("exact", "set_f1"), "next": ("share_right",)}
_BLOCK = re.compile(r"(?<=<!-- tasks -->\n).*?(?=<!-- end of tasks -->)", re.DOTALL)
_DEMONSTRATIONS = {
    "plain": "none",
    "random": "two, of the same category",
    "graph": "two, by co-authors",
    "mixed": "two of each",
}


def contents() -> dict[Path, str]:
    """File -> what it should contain."""
    return {**_task_files(), **_tree_files(), **_tables()}


def left_over(files: dict[Path, str]) -> list[Path]:
    """Task files that no record stands for any more."""
    folders = {path.parent for path in files if path.suffix == ".yaml"}
    return sorted(path for folder in folders for path in folder.glob("*.yaml") if path not in files)


# --- lm-eval's task files


def _task_files() -> dict[Path, str]:
    files = {_OURS / task.folder / f"{_stem(task)}.yaml": task_text(task) for task in TASKS}
    files |= {_OURS / group.folder / f"{_group_stem(group)}.yaml": _group(group) for group in GROUPS}
    for target in TARGETS:
        own_filter = _TITLE_FILTER if target.name == "title" else ""
        text = f"include: _base_yaml\n{own_filter}{_GREEDY.format(tokens=target.answer_tokens)}"
        files[_OURS / "academiceval" / f"_{target.name}_yaml"] = text
    return files


def _stem(task: Task) -> str:
    return task.name.removeprefix("academiceval_").removeprefix(f"{task.folder}_")


def _group_stem(group: TaskGroup) -> str:
    return f"_group{group.name.removeprefix('academiceval_' + group.folder).removeprefix(group.folder)}"


def task_text(task: Task, include: str = "") -> str:
    """The file of a task.

    Args:
        include: its base file, "" for that in its folder.
    """
    arguments = {"setting": task.configuration, "answer_tokens": task.answer_tokens}
    if task.role != PLAIN.role:
        arguments["role"] = task.role
    if task.size is not None:
        arguments["size"] = task.size
    if task.context != FULL:
        arguments["shown"] = task.context
    lines = [f"include: {include or task.base}", f"task: {task.name}", f'task_alias: "{task.display_name}"']
    if task.tag:
        lines.append(f"tag: {task.tag}")
    lines.append(f"dataset_kwargs: {{{', '.join(f'{key}: {value}' for key, value in arguments.items())}}}")
    own_length = task.folder == "academiceval" and task.base == "_base_yaml"
    return "\n".join(lines) + "\n" + (_GREEDY.format(tokens=task.answer_tokens) if own_length else "")


def _group(group: TaskGroup) -> str:
    members = "".join(f"  - {name}\n" for name in group.members)
    mean = f"aggregate_metric_list: !function lm_eval_tasks.metrics.registry.{str(group.mean_of).upper()}_GROUP_LIST\n"
    return f"group: {group.name}\ntask:\n{members}{mean if group.mean_of else ''}metadata: {{version: 1.0}}\n"


# --- the edition for lm-evaluation-harness itself


def _tree_files() -> dict[Path, str]:
    prompts = _OURS / "prompts"
    names = sorted({PLAIN.prompt.format(task=setting.task, length=setting.length) for setting in SETTINGS})
    files = {_TREE / "prompts" / f"{name}.txt": (prompts / f"{name}.txt").read_text(encoding="utf-8") for name in names}
    plain = [task for task in TASKS if task.tag]
    files |= {_TREE / f"{task.name}.yaml": _tree_task(task) for task in plain}
    members = "".join(f"  - {task.name}\n" for task in plain)
    files[_TREE / "_academiceval.yaml"] = (
        f"group: academiceval\ntask:\n{members}aggregate_metric_list:\n"
        "  - {metric: rougeL, aggregation: mean, weight_by_size: false}\nmetadata: {version: 1.0}\n"
    )
    head = (_TREE / "utils.py").read_text(encoding="utf-8").partition(_REFINEMENT)[0]
    files[_TREE / "utils.py"] = head + _stretch(_OURS / "samples" / "refine.py", _REFINEMENT)
    return {**files, **_tree_questions()}


def _tree_questions() -> dict[Path, str]:
    """SCALAR, and the reading core as far as it needs neither a tokenizer nor a choice of its own."""
    readings = {reading.name: reading for reading in CORE_READINGS if reading.task in _TREE_READINGS}
    asked = [task for task in TASKS if task.configuration in readings and not task.alias]
    files = {_TREE / f"{slug_of(level.name)}.yaml": _tree_level(level.name) for level in LEVELS}
    files |= {_TREE / f"{task.name}.yaml": _tree_reading(task, readings[task.configuration].task) for task in asked}
    members = {
        "scalar": [slug_of(level.name) for level in LEVELS],
        "academiceval_reading": [task.name for task in asked],
    }
    for group, tasks in members.items():
        listed = "".join(f"  - {task}\n" for task in tasks)
        files[_TREE / f"_{group}.yaml"] = f"group: {group}\ntask:\n{listed}metadata: {{version: 1.0}}\n"
    for name in ("scalar", "scalar_candidate", "walk", "walk_questions", "next"):
        files[_TREE / "prompts" / f"{name}.txt"] = (_OURS / "prompts" / f"{name}.txt").read_text(encoding="utf-8")
    head = (_TREE / "questions.py").read_text(encoding="utf-8").partition(_ANSWERS)[0]
    labels = _OURS / "metrics" / "answer_labels.py"
    stretches = (
        _stretch(_OURS / "metrics" / "answer_index.py", _ANSWERS),
        _stretch(labels, *_LABELS),
        _stretch(labels, *_FENCES),
    )
    return {**files, _TREE / "questions.py": head + "\n\n\n".join(text.rstrip() for text in stretches) + "\n"}


def _tree_level(name: str) -> str:
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
    return "\n".join(lines) + "\n" + _GREEDY.format(tokens=2000)


def _tree_reading(task: Task, family: str) -> str:
    lines = [
        f"task: {task.name}",
        f"task_alias: {task.configuration}",
        "custom_dataset: !function questions.load",
        f'dataset_kwargs: {{path: ORG/academiceval, name: {task.configuration}, revision: "2026.11"}}',
        "test_split: test",
        "output_type: generate_until",
        'doc_to_text: "{{prompt}}"',
        'doc_to_target: "{{answer}}"',
        f"process_results: !function questions.process_{family}",
        "metric_list:",
        *(f"  - {{metric: {name}, aggregation: mean, higher_is_better: true}}" for name in _TREE_READINGS[family]),
        "metadata: {version: 1.0}",
    ]
    return "\n".join(lines) + "\n" + _GREEDY.format(tokens=task.answer_tokens)


def _stretch(path: Path, begins: str, ends: str = "") -> str:
    """A file's text from the first of two marks to the second, or to its end."""
    _, mark, text = path.read_text(encoding="utf-8").partition(begins)
    return mark + (text.partition(ends)[0] if ends else text)


def _tree_task(task: Task) -> str:
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
    return "\n".join(lines) + "\n" + _GREEDY.format(tokens=task.answer_tokens)


# --- the tables of tasks in the docs


def _tables() -> dict[Path, str]:
    tables = {
        ROOT / "docs" / "evaluate.md": _by_demonstrations(),
        ROOT / "docs" / "scalar.md": _levels(),
        ROOT / "docs" / "reading.md": _readings(),
        _OURS / "academiceval" / "README.md": _names(),
    }
    return {
        path: _BLOCK.sub("\n".join(lines) + "\n", path.read_text(encoding="utf-8")) for path, lines in tables.items()
    }


def _by_demonstrations() -> list[str]:
    rows = []
    for kind, words in _DEMONSTRATIONS.items():
        slugs = [
            setting.slug
            for target in TARGETS
            for setting in SETTINGS
            if setting.task == target.name and setting.demonstrations == kind
        ]
        rows.append(f"| {words} | {' | '.join(f'`{slug}`' for slug in slugs)} |")
    head = f"| demonstrations | {' | '.join(target.label for target in TARGETS)} |"
    return [head, "| --- |" + " --- |" * len(TARGETS), *rows]


def _levels() -> Iterator[str]:
    yield from (
        "| configuration | question paper | citation | distractors | candidates |",
        "| --- | --- | --- | --- | --- |",
    )
    for level in ALL_LEVELS:
        yield f"| `{level.name}` | {level.question} | {level.citation} | {level.distractors} | {level.candidates} |"


def _readings() -> Iterator[str]:
    yield from ("| family | tasks: `academiceval_` and |", "| --- | --- |")
    slugs = {task.configuration: task.name.removeprefix("academiceval_") for task in TASKS if not task.alias}
    for family in dict.fromkeys(reading.task for reading in READINGS):
        shown = [f"`{slugs[reading.name]}`" for reading in READINGS if reading.task == family]
        yield f"| {family.title()} | {', '.join(shown)} |"


def _names() -> Iterator[str]:
    yield from ("| tasks | what they ask | group |", "| --- | --- | --- |")
    shows = "no demonstrations, or two random ones; `_g`: two by co-authors; `_m`: two of each"
    yield f"| `academiceval_<task>_<length>` | {shows} | `academiceval`, `academiceval_<task>` |"
    for role in (*ROLES[1:], TINY):
        targets = {setting.task for setting in SETTINGS if not role.settings or setting.name in role.settings}
        word = targets.pop() if len(targets) == 1 else "<task>"
        name = role.name.format(slug=f"{word}_<length>", task=word)
        if len(role.settings) == 1:
            name = next(task.name for task in TASKS if task.alias == role.alias)
        group = role.group.format(task="<task>")
        parent_group = f"`{role.group.removesuffix('_{task}')}`, " if "{task}" in role.group else ""
        yield f"| `{name}` | {role.shows} | {f'{parent_group}`{group}`' if group else ''} |"
    yield ""
    yield f"Tags, each with one setting of all four tasks: {', '.join(f'`{tag}`' for tag in TAGS)}."
