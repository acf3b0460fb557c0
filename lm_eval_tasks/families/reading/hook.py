"""The hook for the reading families.

A row names its papers; their texts are rows of `Papers`. lm-eval keeps every `doc` in its logs, so that here a doc has no text: the
prompt is put together when it is asked.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from typing import Any

import datasets

from lm_eval_tasks import families
from lm_eval_tasks.base.contract import FULL, Context
from lm_eval_tasks.base.errors import BudgetError, DatasetError, OptionError
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.compat import lm_eval_command as command_line
from lm_eval_tasks.data import prompt_columns
from lm_eval_tasks.data.opened import TypedRows, open_dataset
from lm_eval_tasks.data.options import Options, noted
from lm_eval_tasks.data.prompt_columns import TaskData
from lm_eval_tasks.families.reading.answering import ReadingAnswering, reading_answering
from lm_eval_tasks.families.reading.prompt import part_texts, with_parts
from lm_eval_tasks.families.reading.reading_row import PapersRow, ReadingOwn, ReadingRow, ShownPaper
from lm_eval_tasks.samples.prompt_row import PromptRow

# Tokens that an answer may have with its reasoning, where the model's context has room for them behind the longest prompt.
_LONGEST_ANSWER = 16_384
_FACTS = ("paper_id", "published", "primary_category")


# Of a row's id: its prompt, see `reading.prompt.prompt_of`.
Asking = Callable[[str], tuple[str, str]]
# (dataset revision, configuration, `PromptRow.shown`) -> what asks its rows in this process.
_LOADED: dict[tuple[str, str, str], Asking] = {}


@command_line.errors_end_the_process()
def load(
    setting: str, answer_tokens: int, size: int | None = None, shown: Context | None = None, **arguments: object
) -> dict[str, datasets.Dataset]:
    """Load a reading configuration's test split; lm-eval's `custom_dataset`. The arguments and errors are those of
    `writing.hook.load`.

    Raises:
        BudgetError: the model's context is too short: these prompts are never cut.
    """
    options = Options.of(arguments)
    config = options.config or setting
    answering = reading_answering(families.configuration_of(setting).task)
    if config.partition("-")[0] != setting.partition("-")[0]:
        raise OptionError(
            f"the option config={config!r} is a configuration of another family than {setting}; ask it by a task of its own"
        )
    family = answering.family
    data = TaskData.of(setting, options, arguments, answer_tokens=answer_tokens, shown=shown)
    asked = data.asked(ReadingRow, _FACTS, size, check=answering.check)
    rows, asked_rows = asked.all, asked.rows
    data.warn_of_cutoff(row.published for row in asked_rows)
    text_of = texts_of(asked_rows, config, options)
    hash_of = cache(lambda paper: sha256_of_bytes(text_of(paper)))
    # All rows: another load of the same configuration may select others.
    ask = _asking(rows, text_of, answering, data.shown)
    _LOADED[data.opened.revision, config, noted(data.shown)] = ask
    whole = ask if data.shown == FULL else _asking(rows, text_of, answering, FULL)
    tokens = _tokens(ask, [row.id for row in asked_rows], data)
    if data.window and options.reserve is None and not options.reasoning_tokens:
        room = data.window.length - max(count or 0 for count in tokens)
        data = replace(data, answer_tokens=max(answer_tokens, min(_LONGEST_ANSWER, room)))
    common = data.shared_columns(family.name, family.version, asked)
    best_constant = answering.best_constant(rows)
    return prompt_columns.as_split(
        PromptRow(
            **prompt_columns.of_paper(row, row.papers),
            target=answering.target(row),
            own=ReadingOwn.of(
                row,
                paper_count=len(row.papers),
                chance=answering.chance(row),
                best_constant=best_constant,
                by_place=answering.by_place(row, partial(whole, row.id)),
            ),
            row_hash=prompt_columns.row_hash(row, family.version, map(hash_of, row.papers)),
            tokens_before=length,
            tokens_after=length,
            position=position,
            **common,
        )
        for row, length, position in zip(asked_rows, tokens, asked.positions, strict=True)
        if length is not None
    )


def doc_to_text(doc: Mapping[str, Any]) -> str:
    """Return the prompt of a doc that a hook gave in this process, of this family or another; lm-eval's `doc_to_text`."""
    if doc.get("prompt"):
        return str(doc["prompt"])
    return "".join(_LOADED[doc["dataset_revision"], doc["setting"], doc.get("shown") or ""](doc["id"]))


def _asking(
    rows: TypedRows[ReadingRow], text_of: Callable[[ShownPaper], str], answering: ReadingAnswering, shown: Context
) -> Asking:
    indices = {id_: i for i, id_ in enumerate(rows.rows["id"])}

    def ask(id_: str) -> tuple[str, str]:
        row = rows[indices[id_]]
        texts = part_texts(row, {(paper.texts, paper.id): text_of(paper) for paper in row.papers})
        parts = texts if shown == FULL else answering.shortened(row, texts, shown)
        return with_parts(row, parts, answering, noted(shown))

    return ask


def texts_of(rows: Sequence[PapersRow], config: str, options: Options) -> Callable[[ShownPaper], str]:
    """Return what reads the text of a paper that rows show from the files, when it is wanted."""
    shown = {(paper.texts, paper.id) for row in rows for paper in row.papers}
    splits = {name: open_dataset(name, options).splits for name in sorted({name for name, _ in shown})}
    papers = {name: datasets.concatenate_datasets(list(of_name.values())) for name, of_name in splits.items()}
    indices = {(name, id_): i for name, of_name in papers.items() for i, id_ in enumerate(of_name["id"])}
    if lacking := sorted(shown - indices.keys()):
        name, id_ = lacking[0]
        raise DatasetError(
            f"{config} shows {id_}, whose text is not in {name} of the dataset; `academiceval fill` completes it"
        )
    return lambda paper: str(papers[paper.texts][indices[paper.texts, paper.id]]["text"])


def _tokens(ask: Asking, ids: Sequence[str], data: TaskData) -> list[int | None]:
    """Count the tokens of each prompt; 0 if no tokenizer is known, None for one that `fits_only` leaves out."""
    prompt_columns.check_fits_only(data.options, data.window)
    if data.window is None:
        return [0] * len(ids)
    tokenizer = data.window.tokenizer

    @lru_cache(maxsize=4)
    def count(text: str) -> int:
        [ids] = tokenizer([text], add_special_tokens=False, verbose=False)["input_ids"]
        return len(ids)

    counts = [sum(map(count, ask(id_))) for id_ in ids]
    room = data.window.length - data.answer_cap
    if data.options.fits_only:
        prompt_columns.tell_of_longer(data.config, sum(count > room for count in counts), len(counts), room)
        return [count if count <= room else None for count in counts]
    if max(counts) > room:
        raise BudgetError(
            f"{data.config}: a prompt has {max(counts)} tokens, but the model's context leaves {room}, and contexts of reading "
            "questions are never cut: use a model with a longer context, a smaller configuration, or leave such rows out by "
            "--metadata '{\"fits_only\": true}'"
        )
    return list(counts)
