"""The hooks that lm-eval calls with a task's answers: all of them are scored at once, by every metric of their family."""

import hashlib
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Literal

from lm_eval_tasks.base.contract import GENERATED, LIKELIHOOD
from lm_eval_tasks.base.errors import EvalError, PromptError
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.base.likelihood import Likelihood
from lm_eval_tasks.base.metadata import ALL
from lm_eval_tasks.base.text import ODD
from lm_eval_tasks.families import of_task, task_of_prompt
from lm_eval_tasks.families.answering import answering_of
from lm_eval_tasks.families.descriptor import Metric
from lm_eval_tasks.samples.answers import NOT_APPLICABLE, Answer, Answers, ScoredAnswer, mean_of
from lm_eval_tasks.samples.prompt_row import PromptRow

_LOGGER = logging.getLogger(__name__)
Docs = Sequence[Mapping[str, object]]
# Raised whenever an answer is read otherwise, or a metric that `score_again` computes or an interval has another value.
SCORER = 10
# Over how many other papers a floor is averaged: the standard error of a round's floor is then at most 0.003.
OTHERS = 16


Failed = Literal["failed"]
# In place of a score: the metric could not be computed.
FAILED: Failed = "failed"
# What a text may make a metric raise; anything else is not a text's fault.
_OF_A_TEXT = (*ODD, ArithmeticError, AssertionError, RecursionError, re.error)


def score(resps: Sequence[Sequence[str]], docs: Docs) -> list[str]:
    """Score the answers of a task by the metrics of its family; lm-eval's `filter_fn`.

    Args:
        resps: for each row the model's answers, several if the run repeats each prompt.
        docs: the rows, as the families' `load` gave them.

    Returns:
        For each row a `ScoredAnswer` as text; for several answers the first, with the mean scores of all.
    """
    rows = [PromptRow.of_doc(doc) for doc in docs]
    answers = Answers(
        Answer.of(row, text, answering_of(row.task).refine)
        for row, texts in zip(rows, resps, strict=True)
        for text in texts
    )
    scored = _score_answers(answers)
    means = (mean_of([next(scored) for _ in texts]) for texts in resps)
    return [replace(mean, scorer=SCORER, asked=_asked(doc)).to_text() for mean, doc in zip(means, docs, strict=True)]


def score_likelihoods(resps: Sequence[Sequence[Any]], docs: Docs) -> list[str]:
    """Score the rows of a task by likelihood; lm-eval's `filter_fn`.

    Args:
        resps: for each text that is asked for the one likelihood that the model gives it, those of a row one behind the other.
        docs: for each the row, as the families' `load` gave it.

    Returns:
        For each text the `ScoredAnswer` of its row as text.
    """
    answered = list(_by_row(resps, docs))
    answers = Answers(_readable(doc, values) for doc, values in answered)
    texts: list[str] = []
    for (doc, values), scored in zip(answered, _score_answers(answers), strict=True):
        texts += [replace(scored, scorer=SCORER, asked=_asked(doc)).to_text()] * len(values)
    return texts


def _by_row(resps: Sequence[Sequence[Any]], docs: Docs) -> Iterator[tuple[Mapping[str, object], list[Any]]]:
    """Yield each row with its texts' likelihoods; rows of one task have ids of their own."""
    for _, of_row in groupby(zip(docs, resps, strict=True), key=lambda pair: pair[0]["id"]):
        together = list(of_row)
        yield together[0][0], [values[0] for _, values in together]


def _readable(doc: Mapping[str, object], values: Sequence[Any]) -> Answer:
    """Read what a model gave for a row; an EvalError that names the row if it is no likelihood."""
    row = PromptRow.of_doc(doc)
    try:
        return _of_likelihoods(row, doc, values)
    except ODD as err:
        raise EvalError(
            f"the model's likelihood of {doc['id']} cannot be read ({err}); if it is no number, ask again with dtype=bfloat16 or float32"
        ) from err


def _of_likelihoods(row: PromptRow, doc: Mapping[str, object], values: Sequence[Any]) -> Answer:
    answering = answering_of(row.task)
    texts = answering.likelihoods(doc)
    likelihoods = tuple(Likelihood.of_logged(value, text) for value, text in zip(values, texts, strict=True))
    if not all(likelihood.counts for likelihood in likelihoods):
        return Answer(row, "", "", "", NOT_APPLICABLE, likelihoods=likelihoods)
    return Answer(row, answering.likeliest(likelihoods), "", "", likelihoods=likelihoods)


def score_again(row: PromptRow, replies: Sequence[str]) -> ScoredAnswer:
    """Score the stored answers to a row again, by the metrics that need no more than an answer without its reasoning and the row."""
    return _again(row, [Answer(row, answering_of(row.task).refine(reply, row), reply, reply) for reply in replies])


def score_likelihoods_again(row: PromptRow, doc: Mapping[str, object], values: Sequence[Any]) -> ScoredAnswer:
    """Score the stored likelihoods of a row again, likewise."""
    return _again(row, [_of_likelihoods(row, doc, values)])


def _again(row: PromptRow, answers: Sequence[Answer]) -> ScoredAnswer:
    metrics = [metric for metric in row.of_way if metric.of_answer]
    return mean_of(list(_score_by(metrics, Answers(answers))))


def unpack(doc: Mapping[str, object], results: Sequence[str]) -> dict[str, float]:
    """Return the scores of one row that lm-eval prints; its `process_results`. A PromptError if the answer is to another prompt."""
    scored = ScoredAnswer.from_text(results[0])
    if scored.asked != _asked(doc):
        raise PromptError(
            f"{doc['id']} was asked with another prompt than the dataset gives now: lm_eval kept requests of an earlier one "
            "(--cache_requests); ask again with --cache_requests refresh"
        )
    scores = scored.scores
    metrics = of_task(task_of_prompt(str(doc["prompt_name"]))).metrics_of(
        LIKELIHOOD if doc.get("way") == LIKELIHOOD else GENERATED
    )
    shown = [metric for metric in metrics if doc["metrics"] == ALL or metric.is_printed]
    names = ((name, metric.name) for metric in shown for name in (metric.name, metric.usual) if name)
    return {printed: scores[name] for printed, name in names if name in scores}


def others_of(ids: Sequence[str], count: int = OTHERS) -> list[list[int]]:
    """Choose for each row at most `count` other ones, always the same for the same ids: the next in an order of their own."""
    order = sorted(range(len(ids)), key=lambda i: hashlib.sha256(ids[i].encode()).digest())
    rank = {i: k for k, i in enumerate(order)}
    steps = range(1, min(count + 1, len(ids)))
    return [[order[(rank[i] + step) % len(ids)] for step in steps] for i in range(len(ids))]


def _asked(doc: Mapping[str, object]) -> str:
    """Name the prompt of a row, and what the row calls right."""
    return sha256_of_bytes(f"{doc.get('row_hash', '')}\0{doc['target']}\0{doc.get('prompt', '')}")[:16]


def _score_answers(answers: Answers) -> Iterator[ScoredAnswer]:
    return _score_by(answers.rows[0].of_way if answers.each else (), answers)


def _score_by(metrics: Sequence[Metric], answers: Answers) -> Iterator[ScoredAnswer]:
    values = {metric.name: _values(metric, answers) for metric in metrics}
    for i, answer in enumerate(answers.each):
        if answer.finish == NOT_APPLICABLE:
            yield ScoredAnswer(answer.text, {})
        else:
            failed = tuple(name for name, of in values.items() if of[i] == FAILED)
            scores = {name: value for name, of in values.items() if isinstance(value := of[i], int | float)}
            yield ScoredAnswer(answer.text, scores, failed=failed)


def _values(metric: Metric, answers: Answers) -> list[float | Failed | None]:
    """Return a metric of all answers; if a text makes it fail, of one answer after the other, so that only that answer has none."""
    try:
        return list(metric.compute(answers))
    except _OF_A_TEXT as err:
        values = [_value(metric, answer) for answer in answers.each]
        _LOGGER.warning(
            "%s could not be computed for %d of %d answers (%s: %.200s): these samples have no such score, and name it as failed",
            metric.name,
            values.count(FAILED),
            len(values),
            type(err).__name__,
            err,
        )
        return values


def _value(metric: Metric, answer: Answer) -> float | Failed | None:
    try:
        return metric.compute(Answers([answer]))[0]
    except _OF_A_TEXT:
        return FAILED
