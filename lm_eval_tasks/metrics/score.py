"""The hooks that lm-eval calls with a task's answers: all of them are scored at once, by every metric of the registry."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lm_eval_tasks.metrics import refine, registry
from lm_eval_tasks.metrics.answer_index import answer_of
from lm_eval_tasks.metrics.scored import ALL, Answers, Kind, ScoredAnswer
from lm_eval_tasks.row_format import paper_of

Docs = Sequence[Mapping[str, Any]]


def score(resps: Sequence[Sequence[str]], docs: Docs) -> list[str]:
    """Score the answers of a writing task; lm-eval's `filter_fn`.

    Args:
        resps: for each row the model's answers, of which there is one.
        docs: the rows, as `data.hook.load` gave them.

    Returns:
        For each row a `ScoredAnswer` as text.
    """
    return _score(resps, list(docs), "writing", lambda text, _: text)


def score_title(resps: Sequence[Sequence[str]], docs: Docs) -> list[str]:
    """As `score`, with the answers refined to titles first."""
    return _score(resps, list(docs), "writing", lambda text, doc: refine.title(text, str(doc["target"])))


def score_cloze(resps: Sequence[Sequence[str]], docs: Docs) -> list[str]:
    """As `score`, for SCALAR; of an answer the index of its candidate is kept, "" where it names none."""
    return _score(resps, list(docs), "cloze", _index)


def unpack(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
    """The scores of one row that lm-eval prints; its `process_results`."""
    scores = ScoredAnswer.from_text(results[0]).scores
    return scores if doc["metrics"] == ALL else {name: scores[name] for name in registry.headline() if name in scores}


def others_of(ids: Sequence[str]) -> list[int]:
    """For each row a row of another paper, always the same for the same ids: the next in an order that nothing else depends on."""
    papers = [paper_of(one) for one in ids]
    order = sorted(range(len(ids)), key=lambda i: (hashlib.sha256(papers[i].encode()).digest(), ids[i]))
    # Rows of one paper stand together: the next paper's first row is a step beyond the last of its own.
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
    stripped = [refine.strip_reasoning(resp[0] or "") for resp in resps]
    targets = [str(doc["target"]) for doc in docs]
    answers = Answers(
        docs=docs,
        texts=[refined(text, doc) for (text, _), doc in zip(stripped, docs, strict=True)],
        unfinished=[unfinished for _, unfinished in stripped],
        targets=targets,
        others=[targets[i] for i in others_of([str(doc["id"]) for doc in docs])] if len(docs) > 1 else [],
        raw=[text for text, _ in stripped],
    )
    values = {one.name: one.compute(answers) for one in registry.of_kind(kind)}
    return [
        ScoredAnswer(
            text,
            {name: of[i] for name, of in values.items() if of[i] is not None},  # type: ignore[misc]
        ).to_text()
        for i, text in enumerate(answers.texts)
    ]


def _index(text: str, doc: Mapping[str, Any]) -> str:
    chosen = answer_of(text, len(doc["candidate_ids"]))
    return "" if chosen is None else str(chosen)
