"""The hook that lm-eval calls for a task's data: dataset folder or Hub id -> rows with their prompts, cut to the model."""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import datasets
from datasets.exceptions import DatasetNotFoundError
from datasets.packaged_modules.cache.cache import Cache

from lm_eval_tasks import context, metrics, prompts, slots
from lm_eval_tasks.errors import BudgetError, DatasetError, EvalError
from lm_eval_tasks.prompts import Slot

DEFAULT_DATASET = "academiceval"
VARIABLE = "ACADEMICEVAL_DATASET"
_LOGGED = ("id", "title", "abstract", "primary_category", "published", "license", "target", "round")
_PARTS = ("content", "demonstrations")


def load(setting: str, prompt: str, answer_tokens: int, **arguments: Any) -> dict[str, datasets.Dataset]:
    """Load a setting's test split with a `prompt` for every row; lm-eval's `custom_dataset`.

    Args:
        setting: the dataset's configuration, e.g. "Abs-29K-G".
        prompt: name of the prompt file.
        answer_tokens: tokens that the context must leave for the answer.
        arguments: all of --model_args and --metadata. Read here: `dataset` (folder or Hub id), `dataset_revision`,
            `published_after`, `published_before` (ISO days, both excluded), `config` (a setting of the round's own
            to run in place of the task's), `core` (the samples carried along from an older round), `bertscore_model`,
            `keep_parts` (keep the texts beside the prompt, for baselines), and what
            `context.of_model` reads.

    Raises:
        EvalError: dataset or tokenizer not there, a prompt that cannot fit, the metric's model missing. Under lm-eval's
            own command line the process ends with that sentence instead.
    """
    try:
        return _load(setting, prompt, answer_tokens, arguments)
    except EvalError as err:
        if Path(sys.argv[0]).stem in ("lm_eval", "lm-eval"):
            raise SystemExit(f"error: {err}") from None
        raise


def _load(setting: str, prompt: str, answer_tokens: int, arguments: Mapping[str, Any]) -> dict[str, datasets.Dataset]:
    setting = str(arguments.get("config") or setting)
    if arguments.get("core"):
        setting = f"{setting}-core"
    scorer = metrics.check_model(arguments.get("bertscore_model"))
    every = _open(setting, arguments)
    if "test" not in every:
        raise DatasetError(f"the setting {setting} has no test sample in this dataset; take another round")
    rows = _in_window(every["test"], arguments.get("published_after"), arguments.get("published_before"))
    if not len(rows):
        raise DatasetError(
            f"no test sample of {setting} is left in the publication window; widen it or take another round"
        )
    template = prompts.load(prompt)
    model = context.of_model(arguments)
    keep_parts = bool(arguments.get("keep_parts"))
    lead_words = _median_words(every.get("train")) if keep_parts else 0

    def assemble(row: dict[str, Any]) -> dict[str, Any]:
        return {
            **{name: row[name] for name in _LOGGED + (_PARTS if keep_parts else ())},
            **_prompt(template.slots(_without_target(row)), model, answer_tokens),
            "setting": setting,
            "bertscore_model": scorer,
            **({"lead_words": lead_words} if keep_parts else {}),
        }

    try:
        return {"test": datasets.Dataset.from_list([assemble(row) for row in rows])}
    except BudgetError as err:
        raise BudgetError(f"{setting}: {err}") from err


def _open(setting: str, arguments: Mapping[str, Any]) -> datasets.DatasetDict:
    name = str(arguments.get("dataset") or os.environ.get(VARIABLE) or DEFAULT_DATASET)
    folder = Path(name).expanduser()
    if folder.is_dir() and not (folder / "manifest.json").is_file():
        raise DatasetError(f"{folder} has no manifest.json, so it is no finished dataset; build it again")
    path = str(folder) if folder.is_dir() else name
    try:
        builder = datasets.load_dataset_builder(path, setting, revision=arguments.get("dataset_revision"))
        if isinstance(builder, Cache) and "/" not in name:
            # With no such folder and no network, `datasets` would serve whatever folder of that name it saw last.
            raise FileNotFoundError(name)
        builder.download_and_prepare()
        loaded = builder.as_dataset()
    except (DatasetNotFoundError, FileNotFoundError, ConnectionError) as err:
        raise DatasetError(
            f"the dataset {name!r} is neither a folder here nor reachable on the Hub; give its folder or Hub id with "
            f'--metadata \'{{"dataset": "..."}}\' or in {VARIABLE}'
        ) from err
    except ValueError as err:
        if "BuilderConfig" not in str(err):
            raise
        raise DatasetError(f"the dataset {name!r} has no setting {setting}; its card lists those that it has") from err
    assert isinstance(loaded, datasets.DatasetDict)
    return loaded


def _in_window(rows: datasets.Dataset, after: object, before: object) -> datasets.Dataset:
    """Rows published after and before the given ISO days."""
    if not after and not before:
        return rows
    days = rows["published"]
    return rows.select(
        [i for i, day in enumerate(days) if (not after or day > str(after)) and (not before or day < str(before))]
    )


def _without_target(row: dict[str, Any]) -> dict[str, Any]:
    """The row with its exact target removed from the body, as the reference does for titles."""
    return {**row, "content": row["content"].replace(row["target"], "")}


def _prompt(parts: list[Slot], model: context.Context | None, answer_tokens: int) -> dict[str, Any]:
    if model is None:
        text = "".join(part.text for part in parts)
        return {"prompt": text, "tokens_before": 0, "tokens_after": 0, "tokens_cut": 0}
    fitted = slots.fit(parts, model.length - answer_tokens, model.tokenizer)
    return {
        "prompt": fitted.text,
        "tokens_before": fitted.tokens_before,
        "tokens_after": fitted.tokens_after,
        "tokens_cut": sum(fitted.cut.values()),
        **{f"cut_{part}": fitted.cut.get(part, 0) for part in ("demonstration", "body", "citation")},
    }


def _median_words(train: datasets.Dataset | None) -> int:
    lengths = [len(target.split()) for target in train["target"]] if train is not None else []
    return int(statistics.median(lengths)) if lengths else 0
