"""Numbers and names of an answer, found in what was shown or not."""

from __future__ import annotations

import pytest

from lm_eval_tasks.metrics.grounding import Shown, support_of_names, support_of_numbers
from lm_eval_tasks.metrics.names import names
from lm_eval_tasks.metrics.numbers import numbers

SHOWN = Shown(
    "We train on 12,345 papers from three datasets (see Section 4 and Fig. 7). Accuracy rises from 0.853 to 0.917, as in [12], by 7.5%. "
    "The BERT-based models use pre-trained encoders; two annotators agreed. GPT-4 needs 1.5 million tokens, GNNs fewer."
)


@pytest.mark.parametrize(
    "text",
    [
        "12345 papers", "12,345 papers", "an accuracy of 0.92", "an accuracy of 91.7%", "85.3 %", "7.5 percent", "7.5 per cent", "3 datasets",
        "three datasets", "1.5M tokens", "1,500,000 tokens", "two annotators", "2 annotators", "about 0.85",
    ],
)  # fmt: skip
def test_numbers_are_found_in_any_form(text: str) -> None:
    found = support_of_numbers(text, SHOWN)
    assert (found.count, found.unsupported) == (1, ())


@pytest.mark.parametrize(
    "text",
    [
        "12,346 papers",
        "an accuracy of 0.94",
        "7.8%",
        "4 datasets",
        "3 annotators",
        "1.7M tokens",
        "0.8534",
        "7 datasets",
        "12 papers",
        "some tables (as many as 12)",
    ],
)
def test_other_numbers_are_not(text: str) -> None:
    assert support_of_numbers(text, SHOWN).share == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "see Section 9",
        "as in [17]",
        "(1) first",
        "our concerns (all old): 1) the output, 2) the metrics",
        "https://doi.org/10.1000/182",
        r"\citep{smith2024}",
        "GPT-5",
        "no number",
        "Figure 3",
    ],
)
def test_numbers_that_state_nothing_do_not_count(text: str) -> None:
    assert support_of_numbers(text, SHOWN).share is None
    assert not list(numbers("arXiv:2401.00001"))


def test_names_are_found_in_any_form() -> None:
    assert support_of_names("We use BERT, GPT4 and a GNN with Pretrained encoders.", SHOWN).unsupported == ()
    assert support_of_names("We use RoBERTa and LLaMA-2.", SHOWN).unsupported == ("RoBERTa", "LLaMA-2")
    assert support_of_names("we use nothing", SHOWN).share is None
    assert names("However, the BERT model by Google. Results (Section 3) show BERT wins.") == ["BERT", "Google"]


@pytest.mark.parametrize(
    ("answer", "shown", "share"),
    [
        ("It takes 52 ms.", "It uses 52 GB of memory.", 0.0),
        ("It takes 52 ms.", "It takes 52 milliseconds.", 1.0),
        ("It takes 52 ms.", "Latency 48 52 61", 1.0),
        ("It is 25x faster.", "We measured 25 hours in all.", 0.0),
        ("It gains 41%.", "It runs for 41 seconds.", 0.0),
        ("It gains 41%.", "Gain 41 38", 1.0),
        ("Most (78.1%) are short.", "Of these, 32,198 (78.1%) are short.", 1.0),
        ("We label 5,158 threads.", "the threads (5,158) were labelled", 1.0),
    ],
)
def test_units_that_differ_are_other_numbers(answer: str, shown: str, share: float) -> None:
    assert support_of_numbers(answer, Shown(shown)).share == share


@pytest.mark.parametrize(
    ("answer", "shown", "share"),
    [
        ("A model with two billion parameters.", "We train two billion parameters.", 1.0),
        ("A model with 2B parameters.", "We train two billion parameters.", 1.0),
        ("It reaches at least 99%.", "It reaches 99.7% in all.", 1.0),
        ("It reaches 99%.", "It reaches 99.7% in all.", 0.0),
        ("It was seen on May 24.", "Nothing.", None),
    ],
)
def test_ways_of_saying_a_number(answer: str, shown: str, share: float | None) -> None:
    assert support_of_numbers(answer, Shown(shown)).share == share
