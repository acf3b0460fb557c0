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
        "12345 papers",
        "12,345 papers",
        "an accuracy of 0.92",
        "an accuracy of 91.7%",
        "85.3 %",
        "7.5 percent",
        "7.5 per cent",
        "3 datasets",
        "three datasets",
        "1.5M tokens",
        "1,500,000 tokens",
        "two annotators",
        "2 annotators",
        "about 0.85",
    ],
)
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


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("We use RAG here", "several paragraphs about fragile storage"),
        ("We use NER here", "a general idea"),
        ("an RL method", "the world of"),
        ("on CIFAR-10 data", "on CIFAR-100 data with 10 classes"),
        ("with GPT-3 here", "with GPT-35 here"),
        ("with LLaMA-1 here", "LLaMA-13B"),
        ("with T5 models", "at 5 pm"),
        ("it uses Adam", "madam"),
        ("made by Meta", "metadata"),
        ("the ResNet-50 net", "ResNet-101 with 50 layers"),
        ("made in the US", "it let us do this"),
        ("the work of Müller", "the work of Muller"),
    ],
)
def test_names_inside_other_words_are_not_names(answer: str, shown: str) -> None:
    assert support_of_names(answer, Shown(shown)).share == 0.0


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("We use LLMs", "an LLM is used"),
        ("the ResNet-50 net", "ResNet50 and ResNet 101"),
        ("the ResNet50 net", "a ResNet-50"),
        ("a Llama-3-Based model", "Llama 3 is based on"),
        ("the work of Müller", "Müller showed"),
        ("two GNNs", "a GNN"),
        ("with RL", "by RL-based training"),
        ("the RNN", "RNNs are"),
        ("by NeurIPS", "at neurips"),
        ("the US", "in the US, where"),
    ],
)
def test_names_in_other_forms_are_the_same(answer: str, shown: str) -> None:
    assert support_of_names(answer, Shown(shown)).share == 1.0


@pytest.mark.parametrize(
    ("answer", "shown", "share"),
    [
        ("a rate of 2e-5", "a rate of 2e-3", 0.0),
        ("a rate of 2e-5", "a rate of 2e-5", 1.0),
        ("a rate of 1e-5", "a rate of 0.00001", 1.0),
        ("a rate of $10^{-5}$", "a rate of 1e-5", 1.0),
        ("a rate of $10^{-5}$", "a rate of 10−5", 1.0),
        ("a rate of 3e-4", "a rate of 3 × 10−4", 1.0),
        (r"$3\times 10^4$ steps", "30,000 steps", 1.0),
        ("2^10 items", "1024 items", 1.0),
        ("1e5 steps", "100000 steps", 1.0),
        ("45e6 steps", "45e9 steps", 0.0),
        ("1e999 steps", "1e999 steps", 0.0),
        ("1" * 400 + " points", "1" * 400, 0.0),
        ("9" * 300 + " trillion", "9" * 300, 0.0),
        ("it weighs 250 kg", "it weighs 250 g", 0.0),
        ("it weighs 250 g", "it weighs 0.25 kg", 1.0),
        ("it takes 52 ms", "it takes 0.052 s", 1.0),
        ("it takes 90 minutes", "it takes 1.5 hours", 1.0),
        ("it takes 90 minutes", "it takes 1.7 hours", 0.0),
        ("it runs at 300 MHz", "it runs at 300 Hz", 0.0),
        ("for 24 weeks", "for 24 days", 0.0),
        ("of 36 months", "of 3 years", 1.0),
        ("twenty-five labels", "25 labels", 1.0),
        ("25 labels", "twenty-five labels", 1.0),
        ("three hundred papers", "300 papers", 1.0),
        ("300 papers", "three hundred papers", 1.0),
        ("2500 papers", "two thousand five hundred papers", 1.0),
        ("two thousand five hundred papers", "2,500 papers", 1.0),
        ("twenty-six labels", "25 labels", 0.0),
        ("1.5 times", "150% of it", 1.0),
        ("150% of it", "1.5 times it", 1.0),
        ("a score of 0.873", "Score 87.3 61.2", 1.0),
        ("a score of 0.873", "Score 87.2 61.2", 0.0),
        ("p of 0.5", "p of .5", 1.0),
        ("p of .5", "p of 0.5", 1.0),
        ("v.5", "5", None),
        ("about 12,000 papers", "12,345 papers", 1.0),
        ("12,000 papers", "12,345 papers", 0.0),
        ("more than 12,000 papers", "12,500 papers", 1.0),
        ("two thirds of them", "nothing", None),
        ("three-quarters of them", "nothing", None),
    ],
)
def test_forms_of_numbers(answer: str, shown: str, share: float | None) -> None:
    assert support_of_numbers(answer, Shown(shown)).share == share


@pytest.mark.parametrize(
    "text",
    ["\\" + "cite" * 20_000, "\\cite{" * 20_000, "1," * 40_000, "Aa" * 40_000, "9^" * 40_000, "twenty " * 20_000],
)
@pytest.mark.slow
def test_long_answers_take_no_longer_than_their_length(text: str) -> None:
    """Each of these was quadratic once, or might be: minutes, against the limit of a test."""
    support_of_numbers(text, Shown("x"))
    support_of_names(text, Shown("x"))
