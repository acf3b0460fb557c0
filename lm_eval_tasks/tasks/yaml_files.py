"""The files that follow from the families' descriptors: lm-eval's task files, its in-tree edition, and the tables of tasks in the docs.

`python -m lm_eval_tasks.tasks.yaml_files` (`make tasks`) writes them into a clone; they are committed, and a test compares them.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from lm_eval_tasks.base.row_format import FULL
from lm_eval_tasks.families.family import FAMILIES_FOLDER, Task, TaskGroup, slug_of
from lm_eval_tasks.families.reading import ReadingFamily
from lm_eval_tasks.families.registry import FAMILIES
from lm_eval_tasks.families.scalar import ALL_LEVELS, LEVELS
from lm_eval_tasks.families.writing.settings import ROLES, SETTINGS, TARGETS
from lm_eval_tasks.tasks.catalogue import GROUPS, TAGS, TASKS

_PREFIX = "academiceval_"
BASE = "_base_yaml"
_DOCS = Path(__file__).resolve().parents[2] / "docs"
_TREE = _DOCS / "upstream" / "academiceval"
GREEDY = "generation_kwargs: {{do_sample: false, temperature: 0.0, max_gen_toks: {tokens}, until: []}}\n"
# Reading family -> its metrics.
_READINGS = {"walk": ("exact", "set_f1"), "next": ("share_right",)}
_QUESTION_PROMPTS = ("scalar/scalar", "scalar/scalar_candidate", "walk/walk", "walk/walk_questions", "next/next")
_BLOCK = re.compile(r"(?<=<!-- tasks -->\n).*?(?=<!-- end of tasks -->)", re.DOTALL)
_DEMONSTRATIONS = {
    "plain": "none",
    "random": "two, of the same category",
    "graph": "two, by co-authors",
    "mixed": "two of each",
}


def contents() -> dict[Path, str]:
    """File -> what it should contain."""
    return {**_task_files(), **_in_tree(), **_doc_tables()}


def left_over(files: dict[Path, str]) -> list[Path]:
    """Task files that no record stands for any more."""
    folders = {path.parent for path in files if path.suffix == ".yaml"}
    return sorted(path for folder in folders for path in folder.glob("*.yaml") if path not in files)


def _task_files() -> dict[Path, str]:
    files = {
        FAMILIES_FOLDER / task.family / f"{task.name.removeprefix(_PREFIX)}.yaml": task_text(task) for task in TASKS
    }
    return files | {
        FAMILIES_FOLDER / group.family / f"_group_{group.name.removeprefix(_PREFIX)}.yaml": _group(group)
        for group in GROUPS
    }


def task_text(task: Task, include: str = "") -> str:
    """The file of a task, which includes that base file, or else the one in its folder."""
    arguments = {
        "setting": task.configuration,
        "answer_tokens": task.answer_tokens,
        "size": task.size,
        "shown": None if task.context == FULL else task.context,
    }
    given = ", ".join(f"{key}: {value}" for key, value in arguments.items() if value is not None)
    return _file(
        task.answer_tokens,
        f"include: {include or BASE}",
        f"task: {task.name}",
        f'task_alias: "{task.display_name}"',
        *([f"tag: {task.tag}"] if task.tag else []),
        f"dataset_kwargs: {{{given}}}",
    )


def _file(answer_tokens: int, *lines: str) -> str:
    return "\n".join(lines) + "\n" + GREEDY.format(tokens=answer_tokens)


def _group(group: TaskGroup) -> str:
    members = "".join(f"  - {name}\n" for name in group.members)
    mean = f"aggregate_metric_list: !function lm_eval_tasks.families.{group.family}.GROUP_LIST\n"
    return f"group: {group.name}\ntask:\n{members}{mean if group.has_mean else ''}metadata: {{version: 1.0}}\n"


# --- the in-tree edition


def _in_tree() -> dict[Path, str]:
    """The edition of the tasks for lm-evaluation-harness itself: writing, SCALAR, and what of the reading core needs neither a tokenizer
    nor a choice of its own.
    """
    names = sorted({f"writing/{setting.task}_{setting.length}" for setting in SETTINGS})
    files = {
        _TREE / "prompts" / f"{Path(name).name}.txt": (FAMILIES_FOLDER / f"{name}.txt").read_text(encoding="utf-8")
        for name in (*names, *_QUESTION_PROMPTS)
    }
    plain = [task for task in TASKS if task.tag]
    files |= {_TREE / f"{task.name}.yaml": _task(task) for task in plain}
    members = "".join(f"  - {task.name}\n" for task in plain)
    files[_TREE / "_academiceval.yaml"] = (
        f"group: academiceval\ntask:\n{members}aggregate_metric_list:\n"
        "  - {metric: rougeL, aggregation: mean, weight_by_size: false}\nmetadata: {version: 1.0}\n"
    )
    files[_TREE / "utils.py"] = _with_ours("utils.py", "writing/refine.py", "_YES = ")
    grouped = {name for group in GROUPS for name in group.members}
    asked = [task for task in TASKS if task.family in _READINGS and not task.alias and task.name in grouped]
    files |= {_TREE / f"{slug_of(level.name)}.yaml": _level(level.name) for level in LEVELS}
    files |= {_TREE / f"{task.name}.yaml": _reading(task) for task in asked}
    listed_in = {
        "scalar": [slug_of(level.name) for level in LEVELS],
        "academiceval_reading": [task.name for task in asked],
    }
    for group, names in listed_in.items():
        listed = "".join(f"  - {name}\n" for name in names)
        files[_TREE / f"_{group}.yaml"] = f"group: {group}\ntask:\n{listed}metadata: {{version: 1.0}}\n"
    files[_TREE / "questions.py"] = _with_ours("questions.py", "labels.py", "_MARKS = ")
    return files


def _level(name: str) -> str:
    return _file(
        2000,
        "include: _default_yaml",
        f"task: {slug_of(name)}",
        f"task_alias: {name}",
        f"dataset_name: {name}",
        "doc_to_text: !function questions.scalar",
        'doc_to_target: "{{label}}"',
        "process_results: !function questions.process_scalar",
        "metric_list:",
        "  - {metric: acc, aggregation: mean, higher_is_better: true}",
    )


def _reading(task: Task) -> str:
    return _file(
        task.answer_tokens,
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
    )


def _with_ours(theirs: str, ours: str, begins: str) -> str:
    """A module of the in-tree edition; from a mark to the end of both files it is ours word for word."""
    head = (_TREE / theirs).read_text(encoding="utf-8").partition(begins)[0]
    _, mark, text = (FAMILIES_FOLDER / ours).read_text(encoding="utf-8").partition(begins)
    return head + mark + text


def _task(task: Task) -> str:
    [setting] = [setting for setting in SETTINGS if setting.name == task.configuration]
    return _file(
        task.answer_tokens,
        "include: _default_yaml",
        f"task: {task.name}",
        f"task_alias: {task.configuration}",
        f"tag: {task.tag}",
        f"dataset_name: {task.configuration}",
        f"doc_to_text: !function utils.{setting.task}_{setting.length}",
        *(["process_results: !function utils.process_title"] if setting.task == "title" else []),
    )


# --- the tables in the docs


def _doc_tables() -> dict[Path, str]:
    tables: dict[Path, Iterable[str]] = {
        _DOCS / "evaluate.md": _by_demonstrations(),
        _DOCS / "scalar.md": _levels(),
        _DOCS / "reading.md": _readings(),
        FAMILIES_FOLDER / "writing" / "README.md": _names(),
    }
    return {
        path: _BLOCK.sub("\n".join(lines) + "\n", path.read_text(encoding="utf-8")) for path, lines in tables.items()
    }


def _by_demonstrations() -> Iterator[str]:
    yield from (
        f"| demonstrations | {' | '.join(target.label for target in TARGETS)} |",
        "| --- |" + " --- |" * len(TARGETS),
    )
    for kind, words in _DEMONSTRATIONS.items():
        slugs = [
            slug_of(setting.name)
            for target in TARGETS
            for setting in SETTINGS
            if setting.task == target.name and setting.demonstrations == kind
        ]
        yield f"| {words} | {' | '.join(f'`{slug}`' for slug in slugs)} |"


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
    for family in (family for family in FAMILIES if isinstance(family, ReadingFamily)):
        shown = [f"`{slugs[reading.name]}`" for reading in family.configurations]
        yield f"| {family.label} | {', '.join(shown)} |"


def _names() -> Iterator[str]:
    shows = "no demonstrations, or two random ones; `_g`: two by co-authors; `_m`: two of each"
    yield from (
        "| tasks | what they ask | group |",
        "| --- | --- | --- |",
        f"| `academiceval_<task>_<length>` | {shows} | `academiceval`, `academiceval_<task>` |",
    )
    for role in ROLES[1:]:
        targets = {setting.task for setting in SETTINGS if not role.settings or setting.name in role.settings}
        word = targets.pop() if len(targets) == 1 else "<task>"
        name = role.name.format(slug=f"{word}_<length>", task=word)
        if len(role.settings) == 1:
            name = next(task.name for task in TASKS if task.alias == role.alias)
        group = role.group.format(task="<task>")
        parent_group = f"`{role.group.removesuffix('_{task}')}`, " if "{task}" in role.group else ""
        yield f"| `{name}` | {role.shows} | {f'{parent_group}`{group}`' if group else ''} |"
    yield from ("", f"Tags, each with one setting of all four tasks: {', '.join(f'`{tag}`' for tag in TAGS)}.")


if __name__ == "__main__":
    files = contents()
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for path in left_over(files):
        path.unlink()
