"""Cut a prompt to a budget, slot by slot, in tokens of the model's own tokenizer.

Demonstrations go first, the farthest from the answer before the nearer ones, then the end of the body, last the ends of
the citations' abstracts. Instruction, title, abstract, citation titles and the answer cue are never cut (section 4.2 of
the AcademicEval paper keeps the head of what it cuts).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from lm_eval_tasks.errors import BudgetError
from lm_eval_tasks.prompts import Slot

_FIELD_ORDER = ("content", "output", "abstract", "title")
_PART_ORDER = ("demonstration", "body", "citation")


class Tokenizer(Protocol):
    """What is needed of a `transformers` tokenizer."""

    def __call__(self, text: Any, **kwargs: Any) -> Any: ...


@dataclass(frozen=True, slots=True)
class CutPrompt:
    """A prompt that fits.

    Attributes:
        tokens_before, tokens_after: prompt tokens without and with cutting, special tokens left out.
        cut: tokens taken from each part ("demonstration", "body", "citation"), parts that lost none left out.
    """

    text: str
    tokens_before: int
    tokens_after: int
    cut: dict[str, int]


def fit(slots: Sequence[Slot], budget: int, tokenizer: Tokenizer) -> CutPrompt:
    """Cut a prompt's slots until it has at most `budget` tokens.

    Raises:
        BudgetError: the parts that are never cut have more.
    """
    encoded = tokenizer([slot.text for slot in slots], add_special_tokens=False, return_offsets_mapping=True)
    offsets: list[list[tuple[int, int]]] = encoded["offset_mapping"]
    lengths = [len(one) for one in offsets]
    before = sum(lengths)
    keep = list(lengths)
    excess = before - budget
    while True:
        left = _take(slots, keep, excess)
        if left > 0:
            fixed = sum(keep)
            raise BudgetError(
                f"the parts of a prompt that are never cut have {fixed} tokens, but the model's context leaves {budget}: "
                "use a model with a longer context"
            )
        text = "".join(_head(slot.text, offsets[i], keep[i]) for i, slot in enumerate(slots))
        after = sum(keep)
        if keep != lengths:
            # Joined slots may have a token more than their sum where two of them meet.
            after = len(tokenizer(text, add_special_tokens=False)["input_ids"])
        excess = after - budget
        if excess <= 0:
            return CutPrompt(text, before, after, _lost(slots, lengths, keep))


def _take(slots: Sequence[Slot], keep: list[int], excess: int) -> int:
    """Lower `keep` by `excess` tokens in cutting order; returns how many could not be taken."""
    order = sorted((i for i, slot in enumerate(slots) if _is_cut(slot)), key=lambda i: _priority(slots[i]))
    for i in order:
        if excess <= 0:
            break
        taken = min(keep[i], excess)
        keep[i] -= taken
        excess -= taken
    return max(0, excess)


def _is_cut(slot: Slot) -> bool:
    return slot.part in _PART_ORDER and not (slot.part == "citation" and slot.field == "title")


def _priority(slot: Slot) -> tuple[int, int, int]:
    return _PART_ORDER.index(slot.part), slot.index, _FIELD_ORDER.index(slot.field)


def _head(text: str, offsets: Sequence[tuple[int, int]], count: int) -> str:
    """The prefix of a text that holds its first `count` tokens; no decoding, so that no character changes."""
    if count == len(offsets):
        return text
    return text[: offsets[count - 1][1]] if count else ""


def _lost(slots: Sequence[Slot], lengths: Sequence[int], keep: Sequence[int]) -> dict[str, int]:
    lost: dict[str, int] = {}
    for slot, length, kept in zip(slots, lengths, keep, strict=True):
        if kept < length:
            lost[slot.part] = lost.get(slot.part, 0) + length - kept
    return lost
