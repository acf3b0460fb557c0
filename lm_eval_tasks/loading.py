"""The hook that lm-eval calls for a task's data: dataset folder or Hub id -> rows with their prompts, cut to the model."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import datasets
from datasets.exceptions import DatasetNotFoundError
from datasets.packaged_modules.cache.cache import Cache

from lm_eval_tasks import bertscore, commandline, context, cutoff, prompts, retrieval, slots
from lm_eval_tasks.errors import BudgetError, DatasetError, EvalError
from lm_eval_tasks.options import VARIABLE, Options, cache_folder
from lm_eval_tasks.prompts import Slot, registry
from lm_eval_tasks.slots import CutPrompt

_LOGGED = ("id", "title", "abstract", "primary_category", "published", "license", "target", "round")
_PARTS = ("content", "demonstrations")
_CUT_PARTS = ("demonstration", "chunk", "body", "citation")
_RALM = "ralm"


def load(setting: str, answer_tokens: int, role: str = "prompt", **arguments: Any) -> dict[str, datasets.Dataset]:
    """Load a setting's test split with a `prompt` for every row; lm-eval's `custom_dataset`.

    Args:
        setting: the dataset's configuration, e.g. "Abs-29K-G".
        answer_tokens: tokens that the context must leave for the answer.
        role: which of the setting's prompts, see `prompts.registry.prompt_of`; "ralm" retrieves.
        arguments: all of --model_args and --metadata; `options.Options` and `context.of_model` say what is read.

    Raises:
        EvalError: dataset or tokenizer not there, a prompt that cannot fit, the metric's model missing, and so on. Under
            lm-eval's own command line the process ends with that sentence instead.
    """
    try:
        return _load(setting, answer_tokens, role, arguments)
    except EvalError as err:
        if commandline.is_lm_eval():
            raise SystemExit(f"error: {err}") from None
        raise


def _load(setting: str, answer_tokens: int, role: str, arguments: Mapping[str, Any]) -> dict[str, datasets.Dataset]:
    options = Options.of(arguments)
    name = registry.prompt_of(setting, role)
    query = registry.prompt_of(setting, "query") if role == _RALM else None
    config = (options.config or setting) + ("-core" if options.core else "")
    scorer = bertscore.check_model(options.bertscore_model)
    if query:
        retrieval.check(options.retriever)
    model = context.of_model(arguments, options.system_instruction)
    every = _open(config, options)
    rows = _test_rows(every, config, options)
    cutoff.warn(config, options.model_cutoff or cutoff.of_model(arguments), rows["published"])
    lead_words = _median_words(every.get("train")) if options.keep_parts else 0
    prepared = _with_chunks([_without_target(row) for row in rows], query, options)
    all_slots = [prompts.load(name).slots(row) for row in prepared]
    same = {
        "setting": config, "prompt_name": name, "prompt_version": registry.version(), "cut": options.cut,
        "bertscore_model": scorer, "retriever": options.retriever if query else "",
        **({"lead_words": lead_words} if options.keep_parts else {}),
    }  # fmt: skip
    kept = _LOGGED + (_PARTS if options.keep_parts else ())
    fitted = _fit(all_slots, model, options.reserve or answer_tokens, options, config)
    return {
        "test": datasets.Dataset.from_list(
            [
                {**{key: row[key] for key in kept}, **_derived(row), **_prompt(one), **same}
                for row, one in zip(rows, fitted, strict=True)
            ]
        )
    }


def _open(setting: str, options: Options) -> datasets.DatasetDict:
    name = options.dataset
    folder = Path(name).expanduser()
    if folder.is_dir() and not (folder / "manifest.json").is_file():
        raise DatasetError(f"{folder} has no manifest.json, so it is no finished dataset; build it again")
    path = str(folder) if folder.is_dir() else name
    try:
        builder = datasets.load_dataset_builder(path, setting, revision=options.dataset_revision)
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


def _test_rows(every: datasets.DatasetDict, config: str, options: Options) -> datasets.Dataset:
    """The test split, of the round that was asked for and within the window."""
    if "test" not in every:
        raise DatasetError(f"the setting {config} has no test sample in this dataset; take another round")
    rows = every["test"]
    round_ = rows[0]["round"]
    if options.round and options.round != round_:
        raise DatasetError(
            f"the dataset {options.dataset!r} is round {round_}, but round {options.round} was asked for; "
            "give its folder, or its revision with dataset_revision"
        )
    rows = _in_window(rows, options.published_after, options.published_before)
    if not len(rows):
        raise DatasetError(
            f"no test sample of {config} is left in the publication window; widen it or take another round"
        )
    return rows


def _in_window(rows: datasets.Dataset, after: str | None, before: str | None) -> datasets.Dataset:
    """Rows published after and before the given ISO days."""
    if not after and not before:
        return rows
    days = rows["published"]
    return rows.select([i for i, day in enumerate(days) if (not after or day > after) and (not before or day < before)])


def _without_target(row: dict[str, Any]) -> dict[str, Any]:
    """The row with its exact target removed from the body, as the reference does for titles."""
    return {**row, "content": row["content"].replace(row["target"], "")}


def _with_chunks(rows: list[dict[str, Any]], query: str | None, options: Options) -> list[dict[str, Any]]:
    """The rows with what was retrieved for them, where a query is given."""
    if query is None:
        return rows
    template = prompts.load(query)
    questions = [
        retrieval.Question("".join(slot.text for slot in template.slots(row)), retrieval.corpus(row)) for row in rows
    ]
    found = retrieval.retrieve(questions, options.retriever, options.chunking, cache_folder() / "retrieval")
    return [
        {**row, "chunks": [{"content": chunk} for chunk in chunks]} for row, chunks in zip(rows, found, strict=True)
    ]


def _fit(
    all_slots: Sequence[Sequence[Slot]], model: context.Context | None, reserve: int, options: Options, config: str
) -> list[CutPrompt]:
    """The prompts, cut where the model is known."""
    if model is None:
        return [slots.uncut(one) for one in all_slots]
    try:
        return list(slots.fit_all(all_slots, model.length - reserve, model.tokenizer, options.cut))
    except BudgetError as err:
        raise BudgetError(f"{config}: {err}") from err


def _derived(row: Mapping[str, Any]) -> dict[str, Any]:
    """What statistics need of a row beside its logged columns."""
    titles = [one["title"] for one in row.get("citations") or ()]
    return {
        "first_author": row["authors"][0], "month": row["published"][:7], **({"cited_titles": titles} if titles else {})
    }  # fmt: skip


def _prompt(fitted: CutPrompt) -> dict[str, Any]:
    return {
        "prompt": fitted.text,
        "target_at": fitted.target_at,
        "tokens_before": fitted.tokens_before,
        "tokens_after": fitted.tokens_after,
        "tokens_cut": sum(fitted.cut.values()),
        **{f"cut_{part}": fitted.cut.get(part, 0) for part in _CUT_PARTS},
    }


def _median_words(train: datasets.Dataset | None) -> int:
    lengths = [len(target.split()) for target in train["target"]] if train is not None else []
    return int(statistics.median(lengths)) if lengths else 0
