from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lm_eval_tasks import slots
from lm_eval_tasks.errors import BudgetError
from lm_eval_tasks.prompts import Slot


class Words:
    """A tokenizer whose tokens are words with the blank before them."""

    def __call__(
        self, text: Any, add_special_tokens: bool = False, return_offsets_mapping: bool = False
    ) -> dict[str, Any]:
        texts = [text] if isinstance(text, str) else text
        offsets = [self._offsets(one) for one in texts]
        ids = [[0] * len(one) for one in offsets]
        return {"input_ids": ids[0] if isinstance(text, str) else ids, "offset_mapping": offsets}

    def _offsets(self, text: str) -> list[tuple[int, int]]:
        starts = [i for i, c in enumerate(text) if i == 0 or c == " "]
        return list(zip(starts, [*starts[1:], len(text)], strict=True))


def words(n: int, tag: str) -> str:
    return "".join(f" {tag}{i}" for i in range(n))


def prompt() -> list[Slot]:
    return [
        Slot(" Instruction"),
        Slot(words(10, "da"), "demonstration", 0, "content"),
        Slot(words(2, "oa"), "demonstration", 0, "output"),
        Slot(words(10, "db"), "demonstration", 1, "content"),
        Slot(words(2, "ob"), "demonstration", 1, "output"),
        Slot(words(2, "ct"), "citation", 0, "title"),
        Slot(words(8, "ca"), "citation", 0, "abstract"),
        Slot(words(20, "b"), "body", 0, "content"),
        Slot(words(3, "t"), "fixed", 0, "title"),
        Slot(" Answer"),
    ]


TOTAL = 1 + 12 + 12 + 10 + 20 + 3 + 1


def test_what_fits_is_left_alone() -> None:
    fitted = slots.fit(prompt(), TOTAL, Words())
    assert fitted.text == "".join(slot.text for slot in prompt())
    assert (fitted.tokens_before, fitted.tokens_after, fitted.cut) == (TOTAL, TOTAL, {})


def test_the_farthest_demonstration_goes_first() -> None:
    fitted = slots.fit(prompt(), TOTAL - 4, Words())
    assert "da5" in fitted.text
    assert "da6" not in fitted.text
    assert "oa0 oa1" in fitted.text
    assert fitted.cut == {"demonstration": 4}
    fitted = slots.fit(prompt(), TOTAL - 14, Words())
    assert "oa" not in fitted.text
    assert "db7" in fitted.text
    assert "db8" not in fitted.text


def test_then_the_end_of_the_body_then_the_citations_abstracts() -> None:
    fitted = slots.fit(prompt(), TOTAL - 24 - 5, Words())
    assert "b14" in fitted.text
    assert "b15" not in fitted.text
    assert fitted.cut == {"demonstration": 24, "body": 5}
    fitted = slots.fit(prompt(), TOTAL - 24 - 20 - 3, Words())
    assert "ca4" in fitted.text
    assert "ca5" not in fitted.text


def test_instruction_title_citation_titles_and_cue_are_never_cut() -> None:
    least = TOTAL - 24 - 20 - 8
    fitted = slots.fit(prompt(), least, Words())
    assert fitted.text == " Instruction ct0 ct1 t0 t1 t2 Answer"
    with pytest.raises(BudgetError, match=f"have {least} tokens.*leaves {least - 1}"):
        slots.fit(prompt(), least - 1, Words())


@settings(max_examples=200, deadline=None)
@given(budget=st.integers(7, TOTAL + 5))
def test_a_cut_prompt_fits_and_loses_only_tails(budget: int) -> None:
    fitted = slots.fit(prompt(), budget, Words())
    assert fitted.tokens_after <= budget
    assert fitted.tokens_after == min(TOTAL, budget)
    rest = fitted.text
    for slot in prompt():
        ends = [0, *(end for _, end in Words()([slot.text])["offset_mapping"][0])]
        kept = max(end for end in ends if rest.startswith(slot.text[:end]))
        if slot.part == "fixed":
            assert kept == len(slot.text)
        rest = rest[kept:]
    assert rest == ""


def test_a_real_tokenizer_counts_the_joined_prompt(tiny_llama: Any) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny_llama)
    texts = [Slot("Read this.\n"), Slot("naïve “quotes” — and 字 " * 80, "body", 0, "content"), Slot("\nNow write.")]
    for budget in range(20, 200, 7):
        fitted = slots.fit(texts, budget, tokenizer)
        assert len(tokenizer(fitted.text, add_special_tokens=False)["input_ids"]) <= budget
        body = fitted.text.removeprefix("Read this.\n").removesuffix("\nNow write.")
        assert texts[1].text.startswith(body)
