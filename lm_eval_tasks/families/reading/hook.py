"""The hook for the reading families.

A row names its papers; their texts are rows of `Papers`. lm-eval keeps every `doc` in its logs, so that here a doc has no text: the
prompt is put together when it is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import datasets

from lm_eval_tasks import families
from lm_eval_tasks.base.errors import BudgetError, DatasetError, OptionError
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.base.metadata import NO_MODEL
from lm_eval_tasks.base.row_format import FULL, Context
from lm_eval_tasks.compat import lm_eval_command as command_line
from lm_eval_tasks.data import context, cutoff, prompt_columns
from lm_eval_tasks.data.options import Options, noted
from lm_eval_tasks.data.prompt_columns import row_hash
from lm_eval_tasks.data.rows import Fact, TypedRows, chosen, open_dataset, rows_of_split
from lm_eval_tasks.families.reading.answering import ReadingAnswering, reading_answering
from lm_eval_tasks.families.reading.prompt import part_texts, with_parts
from lm_eval_tasks.families.reading.row import ReadingRow, ShownPaper
from lm_eval_tasks.samples.row import PromptRow

_KEPT = 4
# Tokens that an answer may have with its reasoning, where the model's context has room for them behind the longest prompt.
_LONGEST_ANSWER = 16_384
_FACTS = ("paper_id", "published", "primary_category")


class ShownTexts(Mapping[tuple[str, str], str]):
    """The papers' texts by their configuration and versioned id, read from the files when they are wanted."""

    def __init__(self, configurations: Mapping[str, datasets.Dataset]) -> None:
        self._configurations = configurations
        self._hashes: dict[tuple[str, str], str] = {}
        self._places = {(name, id_): i for name, papers in configurations.items() for i, id_ in enumerate(papers["id"])}

    def __getitem__(self, key: tuple[str, str]) -> str:
        text: str = self._configurations[key[0]][self._places[key]]["text"]
        return text

    def hash_of(self, paper: ShownPaper) -> str:
        """The sha256 of the text of a paper that a row shows."""
        key = (paper.texts, paper.id)
        if key not in self._hashes:
            self._hashes[key] = sha256_of_bytes(self[key])
        return self._hashes[key]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


@dataclass(frozen=True, slots=True)
class AskedTask:
    """What a task of this process asks.

    Attributes:
        places: id of a row -> its place among `rows`.
    """

    answering: ReadingAnswering
    context: Context
    rows: TypedRows[ReadingRow]
    places: Mapping[str, int]
    texts: ShownTexts

    def prompt(self, id_: str) -> tuple[str, str]:
        """The prompt of a row, see `reading.prompt.prompt_of`."""
        row = self.rows[self.places[id_]]
        texts = part_texts(row, self.texts)
        shown = texts if self.context == FULL else self.answering.shortened(row, texts, self.context)
        return with_parts(row, shown, self.answering, noted(self.context))


# (dataset revision, configuration, `PromptRow.shown`) -> what was loaded of it.
_LOADED: dict[tuple[str, str, str], AskedTask] = {}


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
    shown = options.context_of(shown, setting)
    model = context.of_model(arguments, options.system_instruction)
    opened = open_dataset(config, options)
    all_rows = rows_of_split(opened, config, options, _FACTS)
    columns = all_rows.select_columns(list(_FACTS))
    facts = [Fact(row["paper_id"], row["published"], row["primary_category"]) for row in columns]
    selection = chosen(facts, config, options, size)
    rows = TypedRows(ReadingRow, all_rows, config, answering.check)
    asked_rows = [rows[place] for place in selection.places]
    texts = _texts(asked_rows, config, options)
    published = [row.published for row in asked_rows]
    cutoff.warn(config, options.model_cutoff or cutoff.of_model(arguments), published)
    # All rows: another load of the same configuration may select others.
    asked = AskedTask(answering, shown, rows, {id_: i for i, id_ in enumerate(all_rows["id"])}, texts)
    less = noted(shown)
    _LOADED[opened.revision, config, less] = asked
    tokens = _tokens(asked, [row.id for row in asked_rows], model, answer_tokens, options, config)
    if model and options.reserve is None and not options.reasoning_tokens:
        room = model.length - max(count or 0 for count in tokens)
        answer_tokens = max(answer_tokens, min(_LONGEST_ANSWER, room))
    common = {
        "setting": config,
        "prompt_name": family.name,
        "shown": less,
        "bertscore_model": NO_MODEL,
        "best_constant": answering.best_constant(rows),
        **prompt_columns.shared_columns(
            options, opened, selection, model, answer_tokens, rows=len(all_rows), version=family.version
        ),
    }
    return prompt_columns.as_split(
        PromptRow(
            **_of_row(row, answering),
            row_hash=row_hash(row, family.version, map(texts.hash_of, row.papers)),
            tokens_before=count,
            tokens_after=count,
            place=place,
            **common,
        )
        for row, count, place in zip(asked_rows, tokens, selection.places.values(), strict=True)
        if count is not None
    )


def doc_to_text(doc: Mapping[str, Any]) -> str:
    """The prompt of a doc that a hook gave in this process, of this family or another; lm-eval's `doc_to_text`."""
    if doc.get("prompt"):
        return str(doc["prompt"])
    return "".join(_LOADED[doc["dataset_revision"], doc["setting"], doc.get("shown") or ""].prompt(doc["id"]))


def _texts(rows: Sequence[ReadingRow], config: str, options: Options) -> ShownTexts:
    """The texts that rows show."""
    shown = {(paper.texts, paper.id) for row in rows for paper in row.papers}
    splits = {name: open_dataset(name, options).splits for name in sorted({name for name, _ in shown})}
    texts = ShownTexts(
        {name: datasets.concatenate_datasets(list(of_name.values())) for name, of_name in splits.items()}
    )
    if lacking := sorted(shown - set(texts)):
        name, id_ = lacking[0]
        raise DatasetError(
            f"{config} shows {id_}, whose text is not in {name} of the dataset; `academiceval fill` completes it"
        )
    return texts


def _tokens(
    asked: AskedTask,
    ids: Sequence[str],
    model: context.ModelContext | None,
    answer_tokens: int,
    options: Options,
    config: str,
) -> list[int | None]:
    """The tokens of each prompt; 0 if no tokenizer is known, None for one that `fits_only` leaves out."""
    prompt_columns.check_fits_only(options, model)
    if model is None:
        return [0] * len(ids)
    tokenizer = model.tokenizer

    @lru_cache(maxsize=_KEPT)
    def count(text: str) -> int:
        [ids] = tokenizer([text], add_special_tokens=False, verbose=False)["input_ids"]
        return len(ids)

    counts = [sum(map(count, asked.prompt(id_))) for id_ in ids]
    room = model.length - prompt_columns.answer_cap(options, answer_tokens)
    if options.fits_only:
        prompt_columns.tell_of_longer(config, sum(count > room for count in counts), len(counts), room)
        return [count if count <= room else None for count in counts]
    if max(counts) > room:
        raise BudgetError(
            f"{config}: a prompt has {max(counts)} tokens, but the model's context leaves {room}, and contexts of reading "
            "questions are never cut: use a model with a longer context, a smaller configuration, or leave such rows out by "
            "--metadata '{\"fits_only\": true}'"
        )
    return list(counts)


def _of_row(row: ReadingRow, answering: ReadingAnswering) -> dict[str, Any]:
    """The columns of `PromptRow` that tell what is asked."""
    names = ("id", "paper_id", "title", "primary_category", "published", "license", "round", "first_author")
    return {
        **{name: getattr(row, name) for name in (*names, "context", "order", "labels", "answer", "shortcut")},
        "question_kind": row.kind,
        "month": row.published[:7],
        "papers": len(row.papers),
        "asked": row.asked or None,
        "chance": answering.chance(row),
        "tags": row.tags or None,
        "target": answering.target(row),
        "licenses": tuple(sorted({row.license, *(paper.license for paper in row.papers)})),
    }
