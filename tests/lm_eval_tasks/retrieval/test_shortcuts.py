"""SCALAR's shortcuts: the candidate that fits the sentence with the mask, chosen without reading the paper."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lm_eval_tasks.base.contract import BM25_LOCAL, BODY, EMBED_LOCAL, MASK, OF_SCALAR, Shortcut
from lm_eval_tasks.families.scalar.scalar_row import ScalarRow
from lm_eval_tasks.families.scalar.shortcuts import around_the_mask, chooser
from tests.helpers.typed_rows import scalar_row

TOPICS = {
    "Parsing with neural networks": "A parser builds the syntax tree of a sentence word by word.",
    "Folding proteins": "Proteins fold into their shape, which a network predicts from their amino acids.",
    "Weather over oceans": "Storms over the ocean are forecast from the pressure and the temperature of the sea.",
    "Markets and prices": "Traders set prices in markets by supply and demand of goods.",
}


def row(sentence: str, text: str = "full") -> ScalarRow:
    """A question whose paper is about proteins, but for one sentence."""
    elsewhere = "Proteins fold into their shape, which a network predicts from their amino acids. " * 20
    candidates = []
    for title, about in TOPICS.items():
        content = f"<Abstract>Abstract: {about}</Abstract><Content>\n{about * 20}\n</Content>"
        candidates.append(
            {"title": title, "content": f"<Content>\n\n{about * 20}\n\n</Content>" if text == BODY else content}
        )
    return scalar_row(question=f"T\n\n{elsewhere}{sentence} {elsewhere}", candidates=candidates, candidate_text=text)


@pytest.mark.parametrize("text", ["full", BODY])
@pytest.mark.parametrize("shortcut", OF_SCALAR)
def test_the_sentence_decides_and_not_the_paper(shortcut: Shortcut, text: str) -> None:
    choose = chooser(shortcut)
    assert choose(row(f"Storms at sea are forecast from pressure {MASK}.", text)) == 2
    assert choose(row(f"As traders know {MASK}, prices follow demand.", text)) == 3


def test_titles_count_only_where_the_prompt_shows_them() -> None:
    asked = row(f"We use oceans {MASK}.")
    content = "<Abstract>Abstract: Nothing of the kind.</Abstract>"
    candidates = [replace(candidate, content=content) for candidate in asked.candidates]
    named = replace(asked, candidates=tuple(candidates), candidate_text="concise")
    assert chooser(BM25_LOCAL)(named) == 2
    assert chooser(EMBED_LOCAL)(named) == 2
    candidates[3] = replace(candidates[3], content="Oceans.")
    assert chooser(BM25_LOCAL)(replace(named, candidates=tuple(candidates), candidate_text=BODY)) == 3


def test_what_is_around_the_mask() -> None:
    assert around_the_mask(f"First. Then we use {MASK} here. Last.").split() == ["Then", "we", "use", "here."]
    cut = around_the_mask(f"It is late. As Ek et al. say of Fig. 2 in {MASK}, e.g. at night.\n## Method\nNo.")
    assert cut.split() == "As Ek et al. say of Fig. 2 in , e.g. at night.".split()
    long = "word " * 200
    assert len(around_the_mask(f"{long}{MASK}{long}")) == 501
    assert chooser(BM25_LOCAL)(row(f"{'.' * 9} {MASK} {'.' * 9}")) == 0
