"""What the hooks of all families share: prompts that fit the model, and the columns of `PromptRow` that do not depend on what is asked."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Self, TypeVar

import datasets
import msgspec

from lm_eval_tasks.base.contract import GENERATED, LIKELIHOOD, Context, Way
from lm_eval_tasks.base.errors import BudgetError, DatasetError, NothingFitsError, OptionError
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.base.metadata import NO_MODEL
from lm_eval_tasks.data import cutoff, slots, window
from lm_eval_tasks.data.opened import Opened, TypedRows, open_dataset, rows_of_split
from lm_eval_tasks.data.options import Options, noted
from lm_eval_tasks.data.selection import Asked, Fact, chosen
from lm_eval_tasks.data.window import ModelWindow
from lm_eval_tasks.prompts import Slot, behind
from lm_eval_tasks.samples.prompt_row import PromptRow, to_docs

_Row = TypeVar("_Row")
_LOGGER = logging.getLogger(__name__)
# What a row says that is neither shown, nor asked, nor right.
_BESIDE = frozenset(("round", "license", "published", "primary_category", "authors", "context", "shortcut", "tags"))
# What a row of a family says of its paper; where `id` is the paper's own there is no `paper_id`.
_OF_PAPER = ("id", "paper_id", "title", "primary_category", "published", "license", "round", "first_author")


def as_split(rows: Iterable[PromptRow]) -> dict[str, datasets.Dataset]:
    """Return the rows as lm-eval's `custom_dataset` returns them."""
    return {"test": datasets.Dataset.from_list(to_docs(rows))}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskData:
    """What a hook has opened of a task, and how its rows are asked.

    Attributes:
        setting: the configuration that the task is named after.
        config: the configuration whose rows are asked.
        shown: how much of what it shows a row shows.
        window: of the model; None if it is not known.
        model_cutoff: the month up to which the model was trained; None likewise.
        answer_tokens: that the window must leave for the answer.
    """

    setting: str
    config: str
    options: Options
    shown: Context
    way: Way
    opened: Opened
    window: ModelWindow | None
    model_cutoff: str | None
    answer_tokens: int

    @classmethod
    def of(
        cls,
        setting: str,
        options: Options,
        arguments: Mapping[str, object],
        *,
        answer_tokens: int,
        shown: Context | None,
        way: Way = GENERATED,
    ) -> Self:
        """Open what a hook is asked for.

        Args:
            arguments: all of --model_args and --metadata, of which `options` are read.
            shown: what the task always shows; None for what the option `context` says.

        Raises:
            EvalError: a context that the setting does not have, a dataset or tokenizer that is missing, and so on.
        """
        context = options.context_of(shown, setting)
        model = window.of_model(arguments, options.system_instruction)
        config = options.config or setting
        return cls(
            setting=setting,
            config=config,
            options=options,
            shown=context,
            way=way,
            opened=open_dataset(config, options),
            window=model,
            model_cutoff=options.model_cutoff or cutoff.of_model(arguments),
            answer_tokens=answer_tokens,
        )

    def asked(
        self,
        type_: type[_Row],
        columns: tuple[str, str, str],
        size: int | None,
        *,
        more: Sequence[str] = (),
        check: Callable[[_Row], None] = lambda row: None,
    ) -> Asked[_Row]:
        """Choose the rows that a run asks, see `chosen`.

        Args:
            columns: those of a `Fact`.
            more: columns that the rows must have too.
            check: see `TypedRows`.

        Raises:
            DatasetError: see `rows_of_split` and `chosen`; or a row does not say one of the facts.
        """
        split = rows_of_split(self.opened, self.config, self.options, (*columns, *more))
        facts = [Fact(*(row[name] for name in columns)) for row in split.select_columns(list(columns))]
        unknown = [i for i, fact in enumerate(facts) if None in (fact.paper, fact.published, fact.category)]
        if unknown:
            raise DatasetError(
                f"row {unknown[0]} of {self.config} lacks one of {', '.join(columns)}: get the dataset again"
            )
        return Asked(TypedRows(type_, split, self.config, check), chosen(facts, self.config, self.options, size))

    def warn_of_cutoff(self, days: Iterable[str]) -> None:
        """Warn how many papers of these days the model may have seen."""
        cutoff.warn(self.config, self.model_cutoff, list(days))

    @property
    def answer_cap(self) -> int:
        """Tokens that an answer may have, its reasoning included."""
        return (self.options.reserve or self.answer_tokens) + self.options.reasoning_tokens

    def shared_columns(self, prompt_name: str, version: int, asked: Asked[Any]) -> dict[str, Any]:
        """Make the columns of `PromptRow` that all rows of a task share: where they are from, and how they are asked."""
        options = self.options
        # Behind a text whose likelihood is asked stands no answer.
        of_way = {"way": self.way, "chat": options.chat} if self.way == LIKELIHOOD else self._answered_columns()
        return {
            **of_way,
            "setting": self.config,
            "prompt_name": prompt_name,
            "prompt_version": version,
            "shown": noted(self.shown),
            "bertscore_model": NO_MODEL,
            "made_up": self.opened.made_up or None,
            "cut": options.cut,
            "metrics": options.metrics,
            "positions": asked.selection.count,
            "of": len(asked.all.rows) + self.opened.sizes(options.split)[1],
            "dataset_revision": self.opened.revision,
            "tokenizer": self.window.name if self.window else "",
        }

    def _answered_columns(self) -> dict[str, Any]:
        options, model = self.options, self.window
        opens, (begins, closes) = (model.opens, model.marks) if model and options.sees_marks else ("", ("", ""))
        return {
            "answer_cap": self.answer_cap,
            "opens": opens,
            "begins": begins,
            "closes": options.think_end or closes,
        }

    def fit(
        self, all_slots: Sequence[Sequence[Slot]], longest: Sequence[str], *, seam: int = 0
    ) -> dict[int, slots.CutPrompt]:
        """Make the prompts, by their numbers, cut if the model is known, with room for what follows: the answer and its reasoning, or the
        text whose likelihood is asked; with `fits_only` those that need no cutting.

        Args:
            longest: of each row the longest text whose likelihood is asked, if it is asked so. Rows whose text does not fit are left out.
            seam: tokens that may come in where prompt and text meet.

        Raises:
            BudgetError: a prompt that cannot fit.
            NothingFitsError: with `fits_only` or by likelihood, all of them.
        """
        options, model = self.options, self.window
        check_fits_only(options, model)
        if self.way == LIKELIHOOD:
            all_slots = [behind(of_row, is_chat=options.chat) for of_row in all_slots]
        if model is None:
            return {i: slots.uncut(prompt_slots) for i, prompt_slots in enumerate(all_slots)}
        rooms: list[int] = []
        if self.way == LIKELIHOOD:
            encoded = model.tokenizer(list(longest), add_special_tokens=False, verbose=False)["input_ids"]
            # Servers write one token behind it.
            rooms = [len(ids) + seam + 1 for ids in encoded]
        budget = model.length if rooms else model.length - self.answer_cap
        cut = None if options.fits_only else options.cut
        try:
            fitted = enumerate(slots.fit_all(all_slots, budget, model.tokenizer, cut, rooms))
            kept = {i: prompt for i, prompt in fitted if prompt is not None}
        except BudgetError as err:
            raise BudgetError(
                f"{self.config}: {err} beside the {self.answer_cap} of the answer: use a model with a longer context, or allow shorter "
                "answers (max_gen_toks)"
            ) from err
        tell_of_longer(self.config, len(all_slots) - len(kept), len(all_slots), budget)
        self._tell_of_cut(list(kept.values()), budget)
        return kept

    def _tell_of_cut(self, prompts: Sequence[slots.CutPrompt], budget: int) -> None:
        lost = [sum(prompt.cut.values()) / prompt.tokens_before for prompt in prompts if prompt.cut]
        if lost:
            _LOGGER.warning(
                "%s: %d of %d prompts are cut to the %d tokens that the model's context has room for, the median one by %.0f %%",
                self.config,
                len(lost),
                len(prompts),
                budget,
                100 * median(lost),
            )


def check_fits_only(options: Options, window: ModelWindow | None) -> None:
    """Raise an OptionError if nothing can tell which prompts fit."""
    if options.fits_only and window is None:
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


def of_prompt(fitted: slots.CutPrompt) -> dict[str, Any]:
    """Return the columns of `PromptRow` that tell what a prompt shows, what was cut, and the room for a text behind it."""
    room = {"answer_cap": fitted.room} if fitted.room else {}
    return {
        **room,
        "prompt": fitted.text,
        "target_at": fitted.target_at,
        "tokens_before": fitted.tokens_before,
        "tokens_after": fitted.tokens_after,
        "tokens_cut": sum(fitted.cut.values()),
        "cuts": {component: fitted.cut.get(component, 0) for component in slots.CUT_COMPONENTS},
        "slots": fitted.spans,
    }


def of_paper(row: Any, shown: Iterable[Any]) -> dict[str, Any]:
    """Return the columns of `PromptRow` that tell which paper a row asks about, and the licences of all that it shows."""
    columns = {name: getattr(row, name) for name in _OF_PAPER if hasattr(row, name)}
    return {**columns, "licenses": tuple(sorted({row.license, *(each.license for each in shown)}))}


def row_hash(row: object, version: int, texts: Iterable[str] = ()) -> str:
    """Return the sha256 of what a family's row shows, with texts of other configurations, asks and calls right, and its prompt's
    version.
    """
    content = [version, _bare(msgspec.to_builtins(row)), list(texts)]
    return sha256_of_bytes(msgspec.json.encode(content, order="deterministic"))


def _bare(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _bare(item) for name, item in value.items() if name not in _BESIDE}
    return [_bare(item) for item in value] if isinstance(value, list | tuple) else value
