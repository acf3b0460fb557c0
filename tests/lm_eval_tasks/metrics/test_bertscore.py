"""Our BERTScore against bert_score's."""

from __future__ import annotations

import random
from typing import Any

import pytest
from cachetools import LRUCache

from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.llm.weights import minilm_path
from lm_eval_tasks.metrics import bertscore

pytestmark = pytest.mark.slow

WORDS = "sparse routing of long inputs model naïve 3.5 attention 字 memory holds, when [UNK] tested.".split()


def texts(seed: int, n: int) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.choice((1, 3, 40, 200, 700)))) for _ in range(n)]


@pytest.fixture
def scorer() -> bertscore.Scorer:
    return bertscore.Scorer("minilm")


@pytest.mark.long
def test_the_numbers_are_those_of_bert_score(scorer: bertscore.Scorer) -> None:
    from bert_score import BERTScorer

    theirs = BERTScorer(model_type=minilm_path("test"), num_layers=6)
    theirs._tokenizer.model_max_length = 512
    targets, answers = texts(1, 12), texts(2, 12)
    # In its larger batches padding counts as a similarity of 0, so that a score depends on the other pairs.
    _, _, expected = theirs.score(answers, targets, batch_size=1)
    assert scorer.score(targets, answers) == pytest.approx(expected.tolist(), abs=2e-5)


def test_references_are_embedded_once(scorer: bertscore.Scorer, monkeypatch: pytest.MonkeyPatch) -> None:
    embedded: list[str] = []
    embed = scorer._embed
    monkeypatch.setattr(scorer, "_embed", lambda texts: [embedded.extend(texts), *embed(texts)][1:])
    targets, answers = texts(1, 6), texts(2, 6)
    first = scorer.score(targets, answers)
    again = scorer.score(targets, answers)
    assert first == again
    assert len([one for one in embedded if one in targets]) == len(set(targets))


@pytest.mark.long
def test_references_are_forgotten_when_there_are_too_many(
    scorer: bertscore.Scorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: LRUCache[str, bertscore.Embedded] = LRUCache(4_000_000, lambda embedded: embedded[0].nbytes)
    monkeypatch.setattr(scorer, "_kept", kept)
    targets = texts(1, 20)
    scores = scorer.score(targets, targets)
    assert scores == pytest.approx([1.0] * 20, abs=1e-5)
    assert 0 < len(kept) < 20
    assert kept.currsize <= 4_000_000


def test_empty_texts_score_zero(scorer: bertscore.Scorer) -> None:
    assert scorer.score(["a study", "", "a study"], ["", "a study", " \n"]) == [0.0, 0.0, 0.0]
    assert scorer.score([], []) == []


def test_a_model_that_is_not_there_is_named(monkeypatch: Any) -> None:
    with pytest.raises(EvalError, match="'nobody/nothing' cannot be loaded"):
        bertscore.check_model("nobody/nothing")
    with pytest.raises(EvalError, match="deberta-xlarge-mnli"):
        bertscore.check_model(None)
    with pytest.raises(EvalError, match="tuned no layer"):
        bertscore.check_model(minilm_path("test"))
    assert bertscore.check_model("none") == "none"
