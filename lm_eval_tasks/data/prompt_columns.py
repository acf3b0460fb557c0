"""What the hooks of all families share: prompts that fit the model, and the columns of `PromptRow` that do not depend on what is asked."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import datasets
import msgspec

from lm_eval_tasks.base.contract import GENERATED, LIKELIHOOD, Way
from lm_eval_tasks.base.errors import BudgetError, NothingFitsError, OptionError
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.data import slots
from lm_eval_tasks.data.opened import Opened
from lm_eval_tasks.data.options import Options
from lm_eval_tasks.data.window import ModelWindow
from lm_eval_tasks.prompts import Slot
from lm_eval_tasks.samples.prompt_row import PromptRow, to_docs

_LOGGER = logging.getLogger(__name__)
# What a row says that is neither shown, nor asked, nor right.
_BESIDE = frozenset(("round", "license", "published", "primary_category", "authors", "context", "shortcut", "tags"))
# What a row of a family says of its paper; where `id` is the paper's own there is no `paper_id`.
_OF_PAPER = ("id", "paper_id", "title", "primary_category", "published", "license", "round", "first_author")


def as_split(rows: Iterable[PromptRow]) -> dict[str, datasets.Dataset]:
    """Return the rows as lm-eval's `custom_dataset` returns them."""
    return {"test": datasets.Dataset.from_list(to_docs(rows))}


@dataclass(frozen=True, slots=True)
class TaskData:
    """What a hook has opened of a task.

    Attributes:
        config: the configuration whose rows are asked.
        window: of the model; None if it is not known.
        answer_tokens: that the window must leave for the answer.
    """

    config: str
    options: Options
    opened: Opened
    window: ModelWindow | None
    answer_tokens: int

    @property
    def answer_cap(self) -> int:
        """Tokens that an answer may have, its reasoning included."""
        return (self.options.reserve or self.answer_tokens) + self.options.reasoning_tokens

    def shared_columns(self, *, positions: int, rows: int, version: int, way: Way = GENERATED) -> dict[str, Any]:
        """Make the columns of `PromptRow` that all rows of a task share: where they are from, and how answers are generated.

        Args:
            positions: how many samples the run asks for in all its shards.
            rows: how many there are that are whole here.
            version: of the prompts.
            way: how the rows are asked; behind a text whose likelihood is asked stands no answer.
        """
        options, window = self.options, self.window
        if way == LIKELIHOOD:
            asked = {"way": way, "chat": options.chat}
        else:
            asked = self._answered_columns()
        return {
            **asked,
            "prompt_version": version,
            "made_up": self.opened.made_up or None,
            "cut": options.cut,
            "metrics": options.metrics,
            "positions": positions,
            "of": rows + self.opened.sizes(options.split)[1],
            "dataset_revision": self.opened.revision,
            "tokenizer": window.name if window else "",
        }

    def _answered_columns(self) -> dict[str, Any]:
        options, window = self.options, self.window
        opens, (begins, closes) = (window.opens, window.marks) if window and options.sees_marks else ("", ("", ""))
        return {
            "answer_cap": self.answer_cap,
            "opens": opens,
            "begins": begins,
            "closes": options.think_end or closes,
        }

    def rooms(self, all_texts: Sequence[Sequence[str]]) -> list[int]:
        """Count the tokens that each row by likelihood needs behind its prompt: those of the longest of its texts, and one that servers
        write; 0 without a tokenizer.
        """
        if self.window is None:
            return [0] * len(all_texts)
        longest = [max(texts, key=len) for texts in all_texts]
        encoded = self.window.tokenizer(longest, add_special_tokens=False, verbose=False)["input_ids"]
        return [len(ids) + 1 for ids in encoded]

    def fit(self, all_slots: Sequence[Sequence[Slot]], rooms: Sequence[int] = ()) -> dict[int, slots.CutPrompt]:
        """Make the prompts, by their numbers, cut if the model is known, with room for the answer and its reasoning; or with `fits_only`
        those that need no cutting.

        Args:
            rooms: see the function of that name; prompts behind which the text does not fit are left out.

        Raises:
            BudgetError: a prompt that cannot fit.
            NothingFitsError: with `fits_only` or `rooms`, all of them.
        """
        options, window = self.options, self.window
        check_fits_only(options, window)
        if window is None:
            return {i: slots.uncut(prompt_slots) for i, prompt_slots in enumerate(all_slots)}
        budget = window.length if rooms else window.length - self.answer_cap
        cut = None if options.fits_only else options.cut
        try:
            fitted = enumerate(slots.fit_all(all_slots, budget, window.tokenizer, cut, rooms))
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
        lost = [sum(prompt.cut.values()) / max(1, prompt.tokens_before) for prompt in prompts]
        cut = sum(share > 0 for share in lost)
        if cut:
            _LOGGER.warning(
                "%s: %d of %d prompts are cut to the %d tokens that the model's context has room for, the median one by %.0f %%",
                self.config,
                cut,
                len(lost),
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
    """Return the columns of `PromptRow` that tell what a prompt shows and what was cut."""
    return {
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
