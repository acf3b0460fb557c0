"""Scores of a task's answers, all at once: parity columns, what surrounds them, and floors. An empty answer scores 0.

ROUGE-L and BERTScore are the columns of the AcademicEval paper (section 4.3). The floors tell what a score is worth: the
answer against another paper's target ("random pair"), and another paper's target, a human text, as the answer ("wrong
paper").
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval_tasks.metrics import citation_mentions, refine, rouge
from lm_eval_tasks.metrics.bertscore import NO_MODEL, bertscore
from lm_eval_tasks.word_runs import longest_common_run, run_words

Row = dict[str, float | str]


def score(resps: Sequence[Sequence[str]], docs: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Score all answers of a task at once; lm-eval's `filter_fn`.

    Args:
        resps: for each row the model's answers, of which there is one.
        docs: the rows, as `loading.load` gave them.

    Returns:
        For each row its scores and the text that was scored.
    """
    return _score([resp[0] for resp in resps], list(docs))


def score_title(resps: Sequence[Sequence[str]], docs: Sequence[Mapping[str, Any]]) -> list[Row]:
    """As `score`, with the answers refined to titles first."""
    return _score([resp[0] for resp in resps], list(docs), titles=True)


def unpack(doc: Mapping[str, Any], results: Sequence[Mapping[str, float | str]]) -> dict[str, float]:
    """The scores of one row; lm-eval's `process_results`."""
    return {name: value for name, value in results[0].items() if isinstance(value, float)}


def _score(texts: Sequence[str], docs: Sequence[Mapping[str, Any]], titles: bool = False) -> list[Row]:
    stripped = [refine.strip_reasoning(text or "") for text in texts]
    answers = [refine.title(answer) if titles else answer for answer, _ in stripped]
    targets = [str(doc["target"]) for doc in docs]
    others = [targets[i] for i in others_of([str(doc["id"]) for doc in docs])] if len(docs) > 1 else []
    rows: list[Row] = [
        {
            **_rouge(target, answer),
            "empty": float(not answer),
            "unfinished": float(unfinished),
            **cutting(doc),
            "length_ratio": len(answer.split()) / max(1, len(target.split())),
            **_copies(answer, doc),
            **_citations(answer, doc),
            "answer": answer,
        }
        for answer, target, doc, (_, unfinished) in zip(answers, targets, docs, stripped, strict=True)
    ]
    floors = {"_random_pair": (others, answers), "_wrong_paper": (targets, others)} if others else {}
    for name, (one, another) in floors.items():
        for row, target, answer in zip(rows, one, another, strict=True):
            row[f"rouge_l{name}"] = rouge.rouge_l(target, answer)
    model = str(docs[0]["bertscore_model"]) if docs else NO_MODEL
    if model != NO_MODEL:
        for name, (one, another) in {"": (targets, answers), **floors}.items():
            for row, value in zip(rows, bertscore(one, another, model), strict=True):
                row[f"bertscore{name}"] = value
    return rows


def others_of(ids: Sequence[str]) -> list[int]:
    """For each row another row, always the same for the same ids: the next in an order that nothing else depends on."""
    order = sorted(range(len(ids)), key=lambda i: hashlib.sha256(ids[i].encode()).digest())
    following = dict(zip(order, [*order[1:], *order[:1]], strict=True))
    return [following[i] for i in range(len(ids))]


def _rouge(target: str, answer: str) -> dict[str, float]:
    return {
        "rouge_l": rouge.rouge_l(target, answer),
        "rouge_1": rouge.rouge_n(target, answer, 1),
        "rouge_2": rouge.rouge_n(target, answer, 2),
        "rouge_lsum": rouge.rouge_lsum(target, answer),
    }


def cutting(doc: Mapping[str, Any]) -> dict[str, float]:
    """Whether the prompt was cut, and the share of its tokens that was."""
    return {
        "truncated": float(doc["tokens_cut"] > 0),
        "cut_share": doc["tokens_cut"] / doc["tokens_before"] if doc["tokens_before"] else 0.0,
    }


def _copies(answer: str, doc: Mapping[str, Any]) -> dict[str, float]:
    """Words of the longest runs that the answer shares with what the model saw of the target and of demonstrations."""
    prompt, begins = str(doc["prompt"]), int(doc["target_at"])
    words = run_words(answer)
    return {
        "copied_from_input": float(longest_common_run(words, run_words(prompt[begins:]))),
        "copied_from_demonstrations": float(longest_common_run(words, run_words(prompt[:begins]))),
    }


def _citations(answer: str, doc: Mapping[str, Any]) -> dict[str, float]:
    if not doc.get("cited_titles"):
        return {}
    found = citation_mentions.mentions(answer, doc["cited_titles"])
    return {"citations_mentioned": found.mentioned_share, "citations_not_given": found.other_share}
