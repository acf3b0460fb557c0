"""`academiceval export` and `score`: prompts for other tools, and their answers as a run.

A line that is exported names its prompt by its hash and says how the prompt was made. Whoever scores an answer makes the prompt again and
compares the two, so that an answer belongs to the prompt that was asked.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from lm_eval_tasks.base.contract import GIVEN, LIKELIHOOD
from lm_eval_tasks.base.errors import EvalError, OptionError
from lm_eval_tasks.base.files import sha256_of_bytes, write_together
from lm_eval_tasks.base.metadata import KEYS, NO_MODEL, check
from lm_eval_tasks.base.redaction import redact
from lm_eval_tasks.compat import lm_eval as command_line
from lm_eval_tasks.compat.run_tasks import RunTasks
from lm_eval_tasks.evaluate.given import GivenAnswer, given_answers
from lm_eval_tasks.evaluate.run_plan import RunPlan, SampleSelection
from lm_eval_tasks.families.reading.hook import doc_to_text
from lm_eval_tasks.samples.results import FOLDER_NAME
from lm_eval_tasks.samples.sample import Sample
from lm_eval_tasks.tasks.catalogue import TASKS, task_of, tasks_path

_KEPT = (
    "id row_hash setting shown prompt_name prompt_version round dataset_revision first_author published answer_cap licenses"
).split()
# Options that decide nothing about a prompt: where the rows lie, and how answers are scored.
_NO_PROMPT = frozenset(("dataset", "bertscore_model", "metrics", "embed_local", "keep_parts", "model_cutoff"))


def export(setting: str, model_args: str, metadata: Mapping[str, object], output: Path) -> int:
    """Write a setting's test prompts and return how many there are.

    Args:
        setting: a configuration of the dataset.
        model_args: lm-eval's; they name the tokenizer and window that prompts are cut to. Without them prompts are whole.

    Raises:
        EvalError: the dataset or setting is missing, or a prompt cannot fit.
    """
    check(metadata)
    command_line.quiet()
    name, config = task_asking(setting)
    if any(task.name == name and task.way == LIKELIHOOD for task in TASKS):
        raise OptionError(
            f"{setting} is asked by likelihood: no answer is wanted, so there is nothing to export; use `academiceval eval`"
        )
    arguments = command_line.parse_args(model_args)
    task_metadata = {**metadata, **config, **arguments, "whole_answers": True, "bertscore_model": NO_MODEL}
    [task] = RunTasks([tasks_path()], task_metadata).load([name])["tasks"].values()
    docs = task.dataset[task.config.test_split]
    options = prompt_options({**metadata, **config, **arguments})
    _refuse_to_lose(output)
    output.parent.mkdir(parents=True, exist_ok=True)
    write_together({output: (json.dumps(_line_of(doc, options), ensure_ascii=False) + "\n" for doc in docs)})
    return len(docs)


def _refuse_to_lose(output: Path) -> None:
    """Raise an EvalError for a file that has answers, or that no export has written."""
    if not output.is_file():
        return
    with output.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                content = json.loads(line)
            except (ValueError, RecursionError):
                content = None
            if not isinstance(content, dict) or "prompt_hash" not in content:
                raise EvalError(f"{output} is no file of exported prompts: name another one with --output")
            if "answer" in content:
                raise EvalError(f"{output} has answers, which would be lost: name another file with --output")


def prompt_options(arguments: Mapping[str, object]) -> dict[str, object]:
    """Choose the options that a prompt depends on, besides its row: what is shown, what finds it, what it is cut to."""
    options = {key: value for key, value in arguments.items() if key in KEYS and key not in (*_NO_PROMPT, "model")}
    known: dict[str, object] = redact(dict(sorted(options.items())))
    return known


def task_asking(setting: str) -> tuple[str, dict[str, str]]:
    """Find the lm-eval task that asks a setting, and the metadata that it needs if the setting is one of the round's own."""
    task = task_of(setting)
    if task:
        return task.name, {}
    begins = f"{setting.partition('-')[0]}-".casefold()
    alike = (task.name for task in TASKS if task.configuration.casefold().startswith(begins) and not task.alias)
    usual = next(alike, None)
    if usual is None:
        raise OptionError(
            f"no task asks the setting {setting!r}; settings begin with Title-, Abs-, Intro-, Related-, SCALAR- "
            "or the name of a reading family"
        )
    return usual, {"config": setting}


def _line_of(doc: Mapping[str, object], options: Mapping[str, object]) -> dict[str, object]:
    kept = {name: doc[name] for name in _KEPT if name in doc}
    # Without a tokenizer nothing has counted them.
    before, after = (doc["tokens_before"], doc["tokens_after"]) if doc.get("tokenizer") else (None, None)
    prompt = doc_to_text(doc)
    return {
        **kept,
        "prompt_hash": sha256_of_bytes(prompt),
        "options": options,
        "tokens_before": before,
        "prompt_tokens": after,
        "size": len(prompt),
        "messages": [{"role": "user", "content": prompt}],
        "target": doc["target"],
    }


# --- the answers


def scoring_plan(
    file: Path, name: str, metadata: Mapping[str, object], selection: SampleSelection, output: Path
) -> RunPlan:
    """Plan the run that scores answers which were made elsewhere.

    Args:
        name: of the model that made them.
        metadata: what is asked besides what the lines say: the dataset, how answers are scored.

    Raises:
        EvalError: the lines say nothing that one run can be made of.
    """
    if not FOLDER_NAME.fullmatch(name):
        raise EvalError(
            f"{name!r:.80} is no name of a model: give one of letters, digits, dots and hyphens with --name"
        )
    answers = given_answers(file)
    if not answers:
        raise EvalError(f"{file} has no answer: add one to each exported line")
    options = _common_options(answers, file)
    for key, value in metadata.items():
        # On a command line a number is text.
        if key not in _NO_PROMPT and str(options.get(key, value)) != str(value):
            raise EvalError(f"the prompts in {file} were made with {key}={options[key]!r}, not {value!r}: leave it out")
    asked = [task_asking(setting) for setting in dict.fromkeys(answer.setting for answer in answers)]
    if any(config for _, config in asked) and len(asked) > 1:
        own = next(config["config"] for _, config in asked if config)
        raise EvalError(f"score the answers to {own} alone: a setting of the round's own is asked by itself")
    model_args = {GIVEN: str(file), "model": name}
    # Which dataset it is, how answers are scored, and whether a tokenizer's own code is run is not decided by who wrote the file.
    made_with = {key: value for key, value in options.items() if key not in (*_NO_PROMPT, "trust_remote_code")}
    return RunPlan.of(
        model=GIVEN,
        model_args=json.dumps(model_args),
        tasks=tuple(task for task, _ in asked),
        metadata={**made_with, **metadata, **asked[0][1]},
        selection=selection,
        output=output,
    )


def _common_options(answers: Sequence[GivenAnswer], file: Path) -> dict[str, object]:
    first = answers[0]
    for answer in answers:
        if answer.options != first.options:
            raise EvalError(
                f"the prompts of {first.id} and {answer.id} in {file} were made with different options: score those of each export alone"
            )
    return first.options


def unused_answers(file: Path, samples: Sequence[Sample]) -> list[GivenAnswer]:
    """List the answers of a file to rows that a run did not ask."""
    asked = {(sample.row.setting, sample.id) for sample in samples}
    return [answer for answer in given_answers(file) if (answer.setting, answer.id) not in asked]
