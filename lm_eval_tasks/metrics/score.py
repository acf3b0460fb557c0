"""The hooks that lm-eval calls with a task's answers: all of them are scored at once, by every metric of the registry."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lm_eval_tasks.core.metadata import ALL
from lm_eval_tasks.core.row_format import paper_of
from lm_eval_tasks.llm.thoughts import reply_of
from lm_eval_tasks.metrics import refine, registry
from lm_eval_tasks.metrics.answer_index import answer_of
from lm_eval_tasks.metrics.scored import NOT_APPLICABLE, Answers, Kind, ScoredAnswer, mean_of

Docs = Sequence[Mapping[str, Any]]


def score(resps: Sequence[Sequence[str]], docs: Docs) -> list[str]:
    """Score the answers of a writing task; lm-eval's `filter_fn`.

    Args:
        resps: for each row the model's answers, several if the run repeats each prompt.
        docs: the rows, as `data.hook.load` gave them.

    Returns:
        For each row a `ScoredAnswer` as text; for several answers the first, with the mean scores of all.
    """
    return _score(resps, list(docs), "writing", lambda text, _: text)


def score_title(resps: Sequence[Sequence[str]], docs: Docs) -> list[str]:
    """As `score`, with the answers refined to titles first."""
    return _score(resps, list(docs), "writing", lambda text, doc: refine.title(text, str(doc["target"])))


def score_cloze(resps: Sequence[Sequence[str]], docs: Docs) -> list[str]:
    """As `score`, for SCALAR; what is kept of an answer is the index of its candidate, "" if it names none."""
    return _score(resps, list(docs), "cloze", _index)


def unpack(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
    """The scores of one row that lm-eval prints; its `process_results`."""
    scores = ScoredAnswer.from_text(results[0]).scores
    printed = scores if doc["metrics"] == ALL else {name: scores[name] for name in registry.printed() if name in scores}
    return registry.with_usual(printed)


def others_of(ids: Sequence[str]) -> list[int]:
    """For each row a row of another paper, always the same for the same ids: the next in an order that nothing else depends on."""
    papers = [paper_of(one) for one in ids]
    order = sorted(range(len(ids)), key=lambda i: (hashlib.sha256(papers[i].encode()).digest(), ids[i]))
    # Rows of one paper are adjacent: the next paper's first row is a step beyond the last of its own.
    following: dict[int, int] = {}
    after = order[0] if order else 0
    for place in range(len(order) - 1, -1, -1):
        behind = order[(place + 1) % len(order)]
        after = behind if papers[behind] != papers[order[place]] else after
        following[order[place]] = after
    return [following[i] for i in range(len(ids))]


def _score(
    resps: Sequence[Sequence[str]], docs: Docs, kind: Kind, refined: Callable[[str, Mapping[str, Any]], str]
) -> list[str]:
    asked = [doc for doc, answers in zip(docs, resps, strict=True) for _ in answers]
    whole = ["" if text is None else text for answers in resps for text in answers]
    replies = [reply_of(text, doc) for text, doc in zip(whole, asked, strict=True)]
    others = [doc["other"] for doc in asked if doc.get("other") is not None]
    answers = Answers(
        docs=asked,
        texts=[refined(reply.answer, doc) for reply, doc in zip(replies, asked, strict=True)],
        unfinished=[reply.unfinished for reply in replies],
        targets=[str(doc["target"]) for doc in asked],
        others=others if len(others) == len(asked) else [],
        raw=[reply.answer for reply in replies],
        whole=whole,
    )
    values = {one.name: one.compute(answers) for one in registry.of_kind(kind)}
    nothing = [getattr(text, "finish", "") == NOT_APPLICABLE for text in whole]
    scored = iter(
        ScoredAnswer(
            text, {} if nothing[i] else {name: known for name, of in values.items() if (known := of[i]) is not None}
        )
        for i, text in enumerate(answers.texts)
    )
    return [mean_of([next(scored) for _ in answers]).to_text() for answers in resps]


def _index(text: str, doc: Mapping[str, Any]) -> str:
    chosen = answer_of(text, len(doc["candidate_ids"]))
    return "" if chosen is None else str(chosen)
