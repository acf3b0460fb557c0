"""The hook that lm-eval calls for a task's data: dataset folder or Hub id -> rows with their prompts, cut to the model."""

from __future__ import annotations

import logging
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import datasets

from lm_eval_tasks.compat import lm_eval as command_line
from lm_eval_tasks.core.errors import BudgetError, NothingFitsError, OptionError
from lm_eval_tasks.core.files import cache_folder
from lm_eval_tasks.core.listing import check_dataset
from lm_eval_tasks.core.row_format import paper_of
from lm_eval_tasks.data import context, cutoff, folds, slots
from lm_eval_tasks.data.options import Options, noted
from lm_eval_tasks.data.rows import ChosenSamples, Fact, Opened, chosen, open_dataset, rows_of_split
from lm_eval_tasks.metrics import bertscore
from lm_eval_tasks.metrics.score import others_of
from lm_eval_tasks.prompts import registry, templates
from lm_eval_tasks.samples.row import PromptRow, to_docs
from lm_eval_tasks.tasks.records import FULL, RETRIEVED, SETTINGS, START, task_of_configuration

if TYPE_CHECKING:
    from lm_eval_tasks.core.metadata import Context
    from lm_eval_tasks.data.slots import CutPrompt
    from lm_eval_tasks.prompts.templates import Slot

_LOGGER = logging.getLogger(__name__)
_PROMPT, _SECTION = "prompt", "section"
# Words of a body that are its beginning: some 2,000 tokens, the same for all models.
_START_WORDS = 1500


def load(
    setting: str,
    answer_tokens: int,
    role: str = _PROMPT,
    size: int | None = None,
    shown: Context | None = None,
    **arguments: Any,
) -> dict[str, datasets.Dataset]:
    """Load a setting's test split with a `prompt` for every row; lm-eval's `custom_dataset`.

    Args:
        setting: the dataset's configuration, e.g. "Abs-29K-G".
        answer_tokens: tokens that the context must leave for the answer.
        role: which of the setting's prompts, one of `tasks.records.ROLES`; "section" asks for each section of each paper.
        size: of a sample that represents all rows; None for all of them.
        shown: with how much less a task always asks, see `tasks.records`; None for what the option `context` says.
        arguments: all of --model_args and --metadata; `options.Options` and `context.of_model` say what is read.

    Raises:
        EvalError: the dataset or tokenizer is missing, a prompt cannot fit, the metric's model is missing, and so on.
            Under lm-eval's own command line, the process ends with that sentence instead.
    """
    with command_line.errors_end_the_process():
        return _load(setting, answer_tokens, role, size, shown, arguments)


def _load(
    setting: str,
    answer_tokens: int,
    role: str,
    size: int | None,
    shown: Context | None,
    arguments: Mapping[str, Any],
) -> dict[str, datasets.Dataset]:
    options = Options.of(arguments)
    _check_config(options.config, setting)
    shown = options.context_of(shown, task_of_configuration(setting), setting, is_usual=role == _PROMPT)
    name = registry.prompt_of(setting, role if shown == FULL else shown)
    query = registry.prompt_of(setting, "query") if shown == RETRIEVED else None
    config = options.config or setting
    # Before the model: a command that is offered in its place must find the dataset.
    check_dataset(options.dataset)
    scorer = bertscore.check_model(options.bertscore_model)
    if query:
        from lm_eval_tasks.retrieval import retrieve

        retrieve.check(options.retrieval)
    model = context.of_model(arguments, options.system_instruction)
    opened = open_dataset(config, options)
    all_rows = list(_rows_of_role(rows_of_split(opened, config, options), role))
    others = _targets_of_others(all_rows)
    facts = [Fact(paper_of(row["id"]), row["published"], row["primary_category"]) for row in all_rows]
    selection = chosen(facts, config, options, size)
    rows = [all_rows[i] for i in selection.places]
    cutoff.warn(config, options.model_cutoff or cutoff.of_model(arguments), [row["published"] for row in rows])
    lead_words = _median_words(opened, role)
    prepared = _with_chunks([_without_target(row) for row in rows], query, options)
    if shown == START:
        prepared = [{**row, "content": _start(row["content"])} for row in prepared]
    template = templates.load(name)
    fitted = fit([template.slots(row) for row in prepared], model, answer_tokens, options, config)
    places = list(selection.places.items())
    common = {
        "setting": config,
        "prompt_name": name,
        "bertscore_model": scorer,
        "lead_words": lead_words if options.keep_parts else None,
        "retriever": options.retrieval.label if query else "",
        "shown": noted(shown),
        **shared_columns(options, opened, selection, model, answer_tokens, len(all_rows)),
    }
    return as_split(
        PromptRow(
            **_of_paper(rows[n]),
            **_parts(rows[n], options),
            lead=" ".join(rows[n]["content"].split()[:lead_words]) if lead_words else None,
            **of_prompt(cut),
            others=others[places[n][0]],
            place=places[n][1],
            **common,
        )
        for n, cut in fitted.items()
    )


def _check_config(config: str | None, setting: str) -> None:
    """Raise an OptionError for a built-in setting of another task, which the prompt would not fit."""
    tasks = {record.name: record.task for record in SETTINGS}
    if config in tasks and tasks[config] != tasks[setting]:
        raise OptionError(
            f"the option config={config!r} is a setting of another task than {setting}; ask it by a task of its own"
        )


def prompt_of(row: Mapping[str, Any], setting: str) -> str:
    """The whole prompt of a row of a dataset, as it is asked if nothing is cut."""
    return "".join(
        slot.text for slot in templates.load(registry.prompt_of(setting, "prompt")).slots(_without_target(dict(row)))
    )


def _rows_of_role(rows: Iterable[dict[str, Any]], role: str) -> Iterable[dict[str, Any]]:
    """The rows, or one for each section if sections are asked for."""
    return folds.by_fold(rows) if role == _SECTION else rows


def _targets_of_others(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """For each row other papers' targets, always the same, however few of the rows a run asks for."""
    return [tuple(rows[i]["target"] for i in others) for others in others_of([row["id"] for row in rows])]


def as_split(rows: Iterable[PromptRow]) -> dict[str, datasets.Dataset]:
    """The rows as lm-eval's `custom_dataset` returns them."""
    return {"test": datasets.Dataset.from_list(to_docs(rows))}


def shared_columns(
    options: Options,
    opened: Opened,
    selection: ChosenSamples,
    model: context.ModelContext | None,
    answer_tokens: int,
    rows: int,
) -> dict[str, Any]:
    """The columns of `PromptRow` that all rows of a task share: where they are from, and how answers are generated.

    Args:
        rows: of the split that are whole here.
    """
    how = options.generation
    opens = model.opens if model and how.chat_template and how.sees_reasoning else ""
    closes = how.think_end_token if how.whole_answers and not how.think_end_token.isdigit() else ""
    return {
        "prompt_version": registry.version(),
        "made_up": opened.made_up or None,
        "cut": options.cut,
        "metrics": options.metrics,
        "places": selection.count,
        "of": rows + opened.sizes(options.split)[1],
        "dataset_revision": opened.revision,
        "answer_cap": answer_cap(options, answer_tokens),
        "tokenizer": model.name if model else "",
        "opens": opens,
        "closes": closes,
    }


def answer_cap(options: Options, answer_tokens: int) -> int:
    """Tokens that an answer may have, its reasoning included."""
    return (options.reserve or answer_tokens) + options.reasoning_tokens


def _without_target(row: dict[str, Any]) -> dict[str, Any]:
    """The row with its exact target removed from the body, as the reference does for titles."""
    return {**row, "content": row["content"].replace(row["target"], "")}


def _start(text: str) -> str:
    """The beginning of a text."""
    words = re.finditer(r"\S+", text)
    last = next(islice(words, _START_WORDS - 1, None), None)
    return text[: last.end()] if last else text


def _with_chunks(rows: list[dict[str, Any]], query: str | None, options: Options) -> list[dict[str, Any]]:
    """The rows with what was retrieved for them, if a query is given."""
    if query is None:
        return rows
    from lm_eval_tasks.retrieval import retrieve

    template = templates.load(query)
    questions = [
        retrieve.Query("".join(slot.text for slot in template.slots(row)), retrieve.corpus(row)) for row in rows
    ]
    chunk_lists = retrieve.retrieve(questions, options.retrieval, cache_folder() / "retrieval")
    return [
        {**row, "chunks": [{"content": chunk} for chunk in chunks]}
        for row, chunks in zip(rows, chunk_lists, strict=True)
    ]


def fit(
    all_slots: Sequence[Sequence[Slot]],
    model: context.ModelContext | None,
    answer_tokens: int,
    options: Options,
    config: str,
) -> dict[int, CutPrompt]:
    """The prompts by their places, cut if the model is known, with room for the answer and its reasoning; or with `fits_only` those
    that need no cutting.

    Raises:
        BudgetError: a prompt that cannot fit.
        NothingFitsError: with `fits_only`, all of them.
    """
    check_fits_only(options, model)
    if model is None:
        return {i: slots.uncut(prompt_slots) for i, prompt_slots in enumerate(all_slots)}
    budget = model.length - answer_cap(options, answer_tokens)
    try:
        fitted = enumerate(
            slots.fit_all(all_slots, budget, model.tokenizer, None if options.fits_only else options.cut)
        )
        kept = {i: prompt for i, prompt in fitted if prompt is not None}
    except BudgetError as err:
        raise BudgetError(f"{config}: {err}") from err
    tell_of_longer(config, len(all_slots) - len(kept), len(all_slots), budget)
    return kept


def check_fits_only(options: Options, model: context.ModelContext | None) -> None:
    """Raise an OptionError if nothing can tell which prompts fit."""
    if options.fits_only and model is None:
        raise OptionError(
            "fits_only cannot tell which prompts fit: name the model's tokenizer and context (tokenizer=...,max_length=...)"
        )


def tell_of_longer(config: str, longer: int, count: int, budget: int) -> None:
    """Say how many prompts `fits_only` leaves out.

    Raises:
        NothingFitsError: all of them.
    """
    if longer == count:
        raise NothingFitsError(f"{config}: none of the {count} prompts fits into {budget} tokens")
    if longer:
        _LOGGER.warning(
            "%s: %d of %d prompts do not fit into %d tokens and are left out", config, longer, count, budget
        )


def _of_paper(row: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of `PromptRow` that tell which paper is asked about."""
    names = ("id", "title", "abstract", "primary_category", "published", "license", "target", "round")
    titles = tuple(citation["title"] for citation in row.get("citations") or ())
    return {
        **{name: row[name] for name in names},
        "first_author": row["authors"][0],
        "month": row["published"][:7],
        "licenses": licenses(row, row["demonstrations"]),
        "cited_titles": titles or None,
        "heading": row.get("heading"),
    }


def _parts(row: Mapping[str, Any], options: Options) -> dict[str, Any]:
    """The paper's body and its demonstrations, for those who read them themselves."""
    if not options.keep_parts:
        return {}
    return {"content": row["content"], "demonstrations": tuple(row["demonstrations"])}


def licenses(row: Mapping[str, Any], papers: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The licences of all papers whose texts a prompt shows; anyone who passes a sample on must check them."""
    return tuple(sorted({row["license"], *(paper["license"] for paper in papers)}))


def of_prompt(fitted: CutPrompt) -> dict[str, Any]:
    """The columns of `PromptRow` that tell what a prompt shows and what was cut."""
    return {
        "prompt": fitted.text,
        "target_at": fitted.target_at,
        "tokens_before": fitted.tokens_before,
        "tokens_after": fitted.tokens_after,
        "tokens_cut": sum(fitted.cut.values()),
        "cuts": {part: fitted.cut.get(part, 0) for part in slots.CUT_PARTS},
        "slots": fitted.spans,
    }


def _median_words(opened: Opened, role: str) -> int:
    """Words of the median target of the train split; 0 without one."""
    train = opened.splits.get("train")
    if train is None or not len(train):
        return 0
    targets = [row["target"] for row in folds.by_fold(train)] if role == _SECTION else train["target"]
    return int(statistics.median(len(target.split()) for target in targets))
