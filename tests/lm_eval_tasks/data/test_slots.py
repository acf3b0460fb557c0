from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from lm_eval_tasks.base.errors import BudgetError
from lm_eval_tasks.data import slots
from lm_eval_tasks.prompts import Slot


class Words:
    """A tokenizer whose tokens are words with the blank before them."""

    def __init__(self) -> None:
        self._tokenizer = Tokenizer(models.WordLevel({"?": 0}, unk_token="?"))
        self._tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_next")

    def __call__(self, text: Any, **kwargs: Any) -> Any:
        fast = PreTrainedTokenizerFast(tokenizer_object=self._tokenizer, unk_token="?")
        return fast(text, **kwargs)


def words(n: int, tag: str) -> str:
    return "".join(f" {tag}{i}" for i in range(n))


def fit(prompt: Sequence[Slot], budget: int, tokenizer: Tokenizer, cut: slots.Cut = "end") -> slots.CutPrompt:
    [fitted] = slots.fit_all([prompt], budget, tokenizer, cut)
    assert fitted is not None
    return fitted


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
    fitted = fit(prompt(), TOTAL, Words())
    assert fitted.text == "".join(slot.text for slot in prompt())
    assert (fitted.tokens_before, fitted.tokens_after, fitted.cut) == (TOTAL, TOTAL, {})


def test_the_farthest_demonstration_goes_first() -> None:
    fitted = fit(prompt(), TOTAL - 4, Words())
    assert "da5" in fitted.text
    assert "da6" not in fitted.text
    assert "oa0 oa1" in fitted.text
    assert fitted.cut == {"demonstration": 4}
    fitted = fit(prompt(), TOTAL - 14, Words())
    assert "oa" not in fitted.text
    assert "db7" in fitted.text
    assert "db8" not in fitted.text


def test_then_the_end_of_the_body_then_the_citations_abstracts() -> None:
    fitted = fit(prompt(), TOTAL - 24 - 5, Words())
    assert "b14" in fitted.text
    assert "b15" not in fitted.text
    assert fitted.cut == {"demonstration": 24, "body": 5}
    fitted = fit(prompt(), TOTAL - 24 - 20 - 3, Words())
    assert "ca4" in fitted.text
    assert "ca5" not in fitted.text


def test_the_citations_abstracts_are_shortened_to_a_like_length() -> None:
    many = [
        slot
        for i, n in enumerate((4, 30, 12, 30))
        for slot in (
            Slot(words(2, f"t{i}x"), "citation", i, "title"),
            Slot(words(n, f"a{i}x"), "citation", i, "abstract"),
        )
    ]
    fitted = fit([*prompt(), *many], TOTAL + 8 + 4 + 3 * 10 - 24 - 20, Words())
    kept = {span.index: fitted.text[span.start : span.end].split() for span in fitted.spans if span.field == "abstract"}
    assert [len(kept[i]) for i in (1, 2, 3)] == [10, 10, 10]
    assert fitted.cut["citation"] == 20 + 2 + 20
    assert all(f"t{i}x1" in fitted.text for i in range(4))


def test_instruction_title_citation_titles_and_cue_are_never_cut() -> None:
    least = TOTAL - 24 - 20 - 8
    fitted = fit(prompt(), least, Words())
    assert fitted.text == " Instruction ct0 ct1 t0 t1 t2 Answer"
    with pytest.raises(BudgetError, match=f"has {least} tokens.*leaves {least - 1}"):
        fit(prompt(), least - 1, Words())


@settings(max_examples=200, deadline=None)
@given(budget=st.integers(7, TOTAL + 5))
def test_a_cut_prompt_fits_and_loses_only_tails(budget: int) -> None:
    fitted = fit(prompt(), budget, Words())
    assert fitted.tokens_after <= budget
    assert fitted.tokens_after == min(TOTAL, budget)
    rest = fitted.text
    for slot in prompt():
        ends = [0, *(i for i, c in enumerate(slot.text) if i and c == " "), len(slot.text)]
        kept = max(end for end in ends if rest.startswith(slot.text[:end]))
        if slot.component == "fixed":
            assert kept == len(slot.text)
        rest = rest[kept:]
    assert rest == ""


def trained(kind: str) -> PreTrainedTokenizerFast:
    """A small tokenizer of each family in use: byte-level BPE, WordPiece, SentencePiece-like BPE, Unigram."""
    lines = ["Please read the following Target Content carefully, naïve “quotes” — and 字 as required.\n"] * 5
    special = ["<unk>"]
    if kind == "byte-level":
        raw = Tokenizer(models.BPE())
        raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        trainer: Any = trainers.BpeTrainer(vocab_size=400, special_tokens=special)
    elif kind == "wordpiece":
        raw = Tokenizer(models.WordPiece(unk_token="<unk>"))
        raw.normalizer = normalizers.BertNormalizer(lowercase=True)
        raw.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(vocab_size=300, special_tokens=special)
    elif kind == "sentencepiece":
        raw = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
        raw.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
        trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=special)
    else:
        raw = Tokenizer(models.Unigram())
        raw.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.UnigramTrainer(vocab_size=80, special_tokens=special, unk_token="<unk>")
    raw.train_from_iterator(lines, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=raw, unk_token="<unk>")


@pytest.mark.parametrize("kind", ["byte-level", "wordpiece", "sentencepiece", "unigram"])
@pytest.mark.parametrize("cut", ["end", "middle"])
def test_the_count_after_cutting_is_that_of_the_text(kind: str, cut: slots.Cut) -> None:
    tokenizer = trained(kind)
    sentence = "Target Content, naïve “quotes” — read 字 and 😀 required.\n"
    texts = [
        Slot("Please read the following.\n### Reference 0: "),
        Slot(sentence * 9, "demonstration", 0, "content"),
        Slot("\n### Output 0: "),
        Slot("carefully  " * 30, "demonstration", 0, "output"),
        Slot("\n### Target Content: "),
        Slot(sentence * 12, "body", 0, "content"),
        Slot("\nPlease write it as required."),
    ]
    whole = tokenizer("".join(slot.text for slot in texts), add_special_tokens=False)["input_ids"]
    for budget in range(90, len(whole) + 5, 13):
        fitted = fit(texts, budget, tokenizer, cut)
        counted = len(tokenizer(fitted.text, add_special_tokens=False)["input_ids"])
        assert fitted.tokens_before == len(whole)
        assert counted <= fitted.tokens_after <= min(budget, counted + 4)
        assert fitted.text[fitted.target_at :].startswith("\n### Target Content: ")
        body = fitted.text[fitted.target_at :].removeprefix(texts[4].text).removesuffix(texts[6].text)
        assert cut == "middle" or texts[5].text.startswith(body)


def test_the_body_may_lose_its_middle() -> None:
    fitted = fit(prompt(), TOTAL - 24 - 6, Words(), "middle")
    assert " b6 b13" in fitted.text
    assert " b0 b1" in fitted.text
    assert " b18 b19 t0" in fitted.text


def test_chunks_go_from_the_last_rank() -> None:
    chunks = [Slot(words(5, f"c{i}x"), "chunk", i, "content") for i in range(3)]
    fitted = fit([Slot(" Begin"), *chunks, Slot(" End")], 2 + 8, Words())
    assert fitted.text == " Begin" + words(5, "c0x") + words(3, "c1x") + " End"
    assert fitted.cut == {"chunk": 7}
