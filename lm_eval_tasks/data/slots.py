"""Cut prompts to a budget, slot by slot, in tokens of the model's own tokenizer.

Demonstrations go first, the farthest from the answer before the nearer ones, then retrieved chunks from the last rank,
then the body, last the citations' abstracts, which are shortened to a like length. Instruction, title, abstract, citation
titles and the answer cue are never cut. The head of what is cut is kept; the body may lose its middle instead.

In a SCALAR prompt the candidates' texts are shortened to a like length first, then the paper on both sides of the mask, last
the candidates' abstracts; never the mask, the titles or the instruction.

Every prompt is tokenized once, whole. What a cut changes is counted where the kept stretches meet, not all over again.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from lm_eval_tasks.base.errors import BudgetError
from lm_eval_tasks.base.metadata import Cut
from lm_eval_tasks.prompts import BEFORE, Slot
from lm_eval_tasks.samples.prompt_row import Span

_FIELD_ORDER = ("content", "output", "abstract", "title")
CUT_COMPONENTS = ("demonstration", "chunk", "body", "citation", "candidate", "around", "candidate_abstract")
# Components whose slots are shortened together, the longest first.
_LEVELLED = ("citation", "candidate", "around", "candidate_abstract")
_BATCH = 16
# What is needed from a `transformers` tokenizer with a fast version.
Tokenizer = Callable[..., Any]
# Tokens on each side of a cut that are counted again; a tokenizer's decisions reach no further.
_REACH = 32


@dataclass(frozen=True, slots=True)
class CutPrompt:
    """A prompt that fits.

    Attributes:
        tokens_before, tokens_after: prompt tokens without and with cutting, special tokens left out.
        cut: tokens taken from each of `CUT_COMPONENTS`, those that lost none left out.
        target_at: the character at which what the prompt shows of the target begins, after the demonstrations.
        spans: the slots that contain a text of the row, in order.
        room: tokens of the text that fits behind it, if there is one.
    """

    text: str
    tokens_before: int
    tokens_after: int
    cut: dict[str, int]
    target_at: int
    spans: tuple[Span, ...] = ()
    room: int = 0


def fit_all(
    prompts: Sequence[Sequence[Slot]],
    budget: int,
    tokenizer: Tokenizer,
    cut: Cut | None = "end",
    rooms: Sequence[int] = (),
) -> Iterator[CutPrompt | None]:
    """Yield the prompts, tokenized in batches, each within a budget of tokens; if nothing is to be cut, None for one that is longer.

    Args:
        rooms: for each prompt the tokens of the text that must fit behind it, out of the budget; None is yielded where it does not.
    """
    for start in range(0, len(prompts), _BATCH):
        batch = prompts[start : start + _BATCH]
        encoded = tokenizer(
            ["".join(slot.text for slot in slots) for slots in batch], add_special_tokens=False, verbose=False
        )
        for i, slots in enumerate(batch):
            room = rooms[start + i] if rooms else 0
            left = budget - room
            is_longer = cut is None and len(encoded[i]) > left
            prompt = _Prompt(slots, encoded[i], tokenizer)
            try:
                yield None if is_longer else replace(prompt.cut_to(left, cut or "end"), room=room)
            except BudgetError:
                if not rooms:
                    raise
                yield None


def uncut(slots: Sequence[Slot]) -> CutPrompt:
    """Return the whole prompt if no tokenizer is known; 0 tokens stand for an unknown number."""
    return _joined(slots, [slot.text for slot in slots], 0, 0, {})


def _joined(slots: Sequence[Slot], texts: Sequence[str], before: int, after: int, cut: dict[str, int]) -> CutPrompt:
    target_at = start = 0
    spans: list[Span] = []
    for slot, text in zip(slots, texts, strict=True):
        end = start + len(text)
        if slot.field:
            spans.append(Span(slot.component, slot.index, slot.field, len(slot.text), start, end))
        # What is shown of the target begins behind the last demonstration.
        target_at = end if slot.component == "demonstration" else target_at
        start = end
    return CutPrompt("".join(texts), before, after, cut, target_at, tuple(spans))


class _Prompt:
    """One tokenized prompt. Tokens are numbered through the whole prompt and belong to the slot that they begin in."""

    def __init__(self, slots: Sequence[Slot], encoding: Any, tokenizer: Tokenizer) -> None:
        self._slots, self._encoding, self._tokenizer = slots, encoding, tokenizer
        self._total = len(encoding)
        self._text = "".join(slot.text for slot in slots)
        # Where each slot begins, and the last one ends.
        self._starts = list(accumulate((len(slot.text) for slot in slots), initial=0))
        self._tokens = [self._token_at(start) for start in self._starts]

    def cut_to(self, budget: int, cut: Cut) -> CutPrompt:
        lengths = [after - before for before, after in zip(self._tokens, self._tokens[1:], strict=False)]
        keep, after = list(lengths), self._total
        kept = [[(start, end)] for start, end in zip(self._starts, self._starts[1:], strict=False)]
        while after > budget:
            if _take(self._slots, keep, after - budget) > 0:
                raise BudgetError(
                    f"what is never cut of a prompt has {sum(keep)} tokens, but the model's context leaves {budget}"
                )
            kept = [self._kept_stretches(i, keep[i], cut) for i in range(len(keep))]
            after = self._count(_join_stretches(kept))
        texts = ["".join(self._text[start:end] for start, end in ranges) for ranges in kept]
        lost: Counter[str] = Counter()
        for slot, length, left in zip(self._slots, lengths, keep, strict=True):
            lost[slot.component] += length - left
        return _joined(self._slots, texts, self._total, after, dict(+lost))

    def _token_at(self, character: int) -> int:
        return bisect_left(range(self._total), character, key=lambda i: self._encoding.token_to_chars(i)[0])

    def _kept_stretches(self, i: int, keep: int, cut: Cut) -> list[tuple[int, int]]:
        start, end = self._starts[i], self._starts[i + 1]
        first, behind = self._tokens[i], self._tokens[i + 1]
        if keep == behind - first:
            return [(start, end)]
        slot = self._slots[i]
        # How many of the tokens that it keeps are at its end.
        tail = keep // 2 if cut == "middle" and slot.component == "body" else 0
        if slot.component == "around" and slot.field == BEFORE:
            tail = keep
        head = keep - tail
        stretches = []
        if head:
            stretches.append((start, min(end, self._encoding.token_to_chars(first + head - 1)[1])))
        if tail:
            stretches.append((max(start, self._encoding.token_to_chars(behind - tail)[0]), end))
        return stretches

    def _count(self, stretches: Sequence[tuple[int, int]]) -> int:
        """Count the tokens of the joined stretches: the inner ones are known, those near a seam are counted again."""
        count, regions = 0, [""]
        for n, (start, end) in enumerate(stretches):
            is_last = n == len(stretches) - 1
            first = self._token_at(start) + (_REACH if n else 0)
            last = self._token_at(end) - (0 if is_last else _REACH)
            if last <= first:
                regions[-1] += self._text[start:end]
                continue
            count += last - first
            if n:
                regions[-1] += self._text[start : self._encoding.token_to_chars(first - 1)[1]]
            regions.append("" if is_last else self._text[self._encoding.token_to_chars(last - 1)[1] : end])
        recounted = self._tokenizer(list(filter(None, regions)) or [""], add_special_tokens=False, verbose=False)
        return count + sum(len(ids) for ids in recounted["input_ids"])


def _join_stretches(kept: Sequence[Sequence[tuple[int, int]]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in (stretch for stretches in kept for stretch in stretches):
        if joined and joined[-1][1] == start:
            joined[-1] = joined[-1][0], end
        elif start < end:
            joined.append((start, end))
    return joined


def _take(slots: Sequence[Slot], keep: list[int], excess: int) -> int:
    """Lower `keep` by `excess` tokens in cutting order; returns how many could not be taken."""
    for members in _groups(slots):
        if excess <= 0:
            break
        before = {i: keep[i] for i in members}
        cap = _cap(list(before.values()), excess)
        spare = sum(max(0, n - cap) for n in before.values()) - excess
        for i, n in before.items():
            # The cap is a whole number: what it takes away in excess is given back, one token each.
            given_back = 1 if n > cap and spare > 0 else 0
            keep[i] = min(n, cap + given_back)
            spare -= given_back
        excess = -spare
    return max(0, excess)


def _groups(slots: Sequence[Slot]) -> list[list[int]]:
    """Return the slots that are cut, in cutting order; those that are shortened together form one group."""
    groups: dict[tuple[int, int, int], list[int]] = {}
    for i, slot in enumerate(slots):
        if slot.component in CUT_COMPONENTS and not (slot.component == "citation" and slot.field == "title"):
            groups.setdefault(_priority(slot), []).append(i)
    return [groups[key] for key in sorted(groups)]


def _priority(slot: Slot) -> tuple[int, int, int]:
    component = CUT_COMPONENTS.index(slot.component)
    if slot.component in _LEVELLED:
        return component, 0, 0
    return component, -slot.index if slot.component == "chunk" else slot.index, _FIELD_ORDER.index(slot.field)


def _cap(lengths: Sequence[int], excess: int) -> int:
    """Return the most tokens that each of some slots may keep for all to lose `excess` together."""
    left = sum(lengths) - excess
    for n, length in enumerate(sorted(lengths)):
        share = left // (len(lengths) - n)
        if length > share:
            return max(0, share)
        left -= length
    return max(lengths)
