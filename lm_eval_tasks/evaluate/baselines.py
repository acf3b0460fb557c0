"""Models that need no weights: what a score is worth is its distance from theirs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM

from lm_eval_tasks.core.errors import EvalError
from lm_eval_tasks.evaluate.generation import BASELINES
from lm_eval_tasks.metrics.scored import NOT_APPLICABLE, Generated

_CANDIDATES = "candidate_ids"
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


def lead(doc: Mapping[str, Any]) -> str:
    """The first words of the body, as many as the median train target has; for SCALAR, the first candidate."""
    if _CANDIDATES in doc:
        return _choice(0)
    return " ".join(doc["content"].split()[: doc["lead_words"]])


def copy_demo(doc: Mapping[str, Any]) -> str | None:
    """The output of the demonstration nearest to the answer; None if there are no demonstrations."""
    demonstrations = doc.get("demonstrations")
    return str(demonstrations[-1]["output"]) if demonstrations else None


def random_sentence(doc: Mapping[str, Any]) -> str:
    """Sentences of the body in a random order that the row's id decides, as many words as the median train target.

    For SCALAR, any candidate, chosen by the question's id.
    """
    if _CANDIDATES in doc:
        return _choice(int(hashlib.sha256(doc["id"].encode()).hexdigest(), 16) % len(doc[_CANDIDATES]))
    sentences = _SENTENCE.split(doc["content"])
    order = sorted(range(len(sentences)), key=lambda i: hashlib.sha256(f"{doc['id']}|{i}".encode()).digest())
    return " ".join(" ".join(sentences[i] for i in order).split()[: doc["lead_words"]])


def _choice(index: int) -> str:
    return f"<answer>{index}</answer>"


_ANSWERS: dict[str, Callable[[Mapping[str, Any]], str | None]] = dict(
    zip(BASELINES, (lead, copy_demo, random_sentence), strict=True)
)


class BaselineLM(LM):  # type: ignore[misc]
    """A baseline as an lm-eval model; the tasks must be loaded with the metadata `keep_parts`.

    Args:
        name: a key of `BASELINES`.
    """

    tokenizer_name = ""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self._answer = _ANSWERS[name]

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        if any("content" not in request.doc and _CANDIDATES not in request.doc for request in requests):
            raise EvalError(
                f"the baseline {self.name} reads the body itself: load the tasks with metadata keep_parts=True"
            )
        answers = [self._answer(request.doc) for request in requests]
        # The empty text stands for an answer that a baseline does not have.
        return [Generated.of(text or "", "stop" if text is not None else NOT_APPLICABLE) for text in answers]

    def loglikelihood(self, requests: list[Instance], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        raise NotImplementedError("the baselines only generate")

    def loglikelihood_rolling(self, requests: list[Instance], disable_tqdm: bool = False) -> list[float]:
        raise NotImplementedError("the baselines only generate")

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        return chat_history[-1]["content"]
