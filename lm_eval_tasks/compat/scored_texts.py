"""Texts whose likelihood is asked, as tokens: prompt and text are encoded apart, so that no token crosses the border between them."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from lm_eval_tasks.base.errors import ModelError
from lm_eval_tasks.base.likelihood import Likelihood

_LOGGER = logging.getLogger(__name__)
# SentencePiece's sign for a blank.
_DUMMY = "\u2581"
# By how much rounding may lift the logarithm of a probability above 0.
_ROUNDING = 0.01


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt as the model gets it, and the texts whose likelihood behind it is asked.

    Attributes:
        task: what is asked for, as prompts call it; a program must know it.
    """

    prompt: str
    texts: tuple[str, ...]
    task: str = ""


@dataclass(frozen=True, slots=True)
class Scored:
    """The likelihoods of a question's texts, and the tokens that were read for them."""

    likelihoods: tuple[Likelihood, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Encoded:
    """A question as tokens.

    Attributes:
        counts: of each text, the bytes that each of its tokens adds.
    """

    prompt: list[int]
    texts: list[list[int]]
    counts: list[list[int]]

    def scored(self, logs: Sequence[Sequence[float]], *, prompts_read: int) -> Scored:
        """Return the likelihoods, for which the prompt was read once or for each text; a ModelError for logarithms that no probability
        has.
        """
        wrong = [log for of_text in logs for log in of_text if not math.isfinite(log) or log > _ROUNDING]
        if wrong:
            raise ModelError(f"the model gives a token the log-probability {wrong[0]:g}, which cannot be")
        likelihoods = (Likelihood.of(of_text, counts) for of_text, counts in zip(logs, self.counts, strict=True))
        return Scored(tuple(likelihoods), prompts_read * len(self.prompt) + sum(map(len, self.texts)))


def encode(lm: Any, question: Question) -> Encoded:
    """Encode a question by a model's tokenizer; a ModelError if nothing is left of a prompt or of a text."""
    prompt = prompt_tokens(lm, question.prompt)
    pairs = [encoded_text(lm.tokenizer, text) for text in question.texts]
    if not prompt or not all(ids for ids, _ in pairs):
        raise ModelError("a prompt or a text of this task has no tokens by the model's tokenizer")
    if any(_is_lossy(lm.tokenizer, text, ids) for text, (ids, _) in zip(question.texts, pairs, strict=True)):
        _tell_of_loss(str(getattr(lm.tokenizer, "name_or_path", "")))
    return Encoded(prompt, [ids for ids, _ in pairs], [counts for _, counts in pairs])


def _is_lossy(tokenizer: Any, text: str, ids: Sequence[int]) -> bool:
    """Tell whether a tokenizer writes a text otherwise than it read it, white space aside."""
    return "".join(tokenizer.decode(list(ids)).split()) != "".join(text.split())


@cache
def _tell_of_loss(name: str) -> None:
    """Say once of a tokenizer that what it drops costs no bits."""
    _LOGGER.warning(
        "the tokenizer %s does not keep every character of these texts (capitals, accents or signs that it does not know): its model's "
        "bits per byte are too low, and cannot be compared with those of others",
        name,
    )


def prompt_tokens(lm: Any, prompt: str) -> list[int]:
    """Encode a prompt with the special tokens that the model's tokenizer puts before a text, unless a chat template has written them.
    lm-eval's vLLM and servers leave them out, without which some models need a third of a bit more for each byte.
    """
    if getattr(lm, "backend", "") == "causal":
        return list(lm.tok_encode(prompt))
    begins = str(getattr(lm.tokenizer, "bos_token", None) or "")
    is_begun = bool(begins) and prompt.startswith(begins)
    return list(lm.tokenizer(prompt, add_special_tokens=not is_begun, verbose=False)["input_ids"])


def encoded_text(tokenizer: Any, text: str) -> tuple[list[int], list[int]]:
    """Encode a text by itself, without special tokens; with the bytes that each token adds to it. A character of several tokens counts with
    its first one. Some tokenizers put a blank before what they read, as before the first word of all: theirs is the text behind a line's
    end.
    """
    ids, ends = _tokens(tokenizer, text)
    if ids and not text[0].isspace() and tokenizer.convert_ids_to_tokens(ids[:1])[0].startswith(_DUMMY):
        line_end, _ = _tokens(tokenizer, "\n")
        behind, ends_behind = _tokens(tokenizer, f"\n{text}")
        skipped = len(line_end)
        is_apart = bool(line_end) and behind[:skipped] == line_end and ends_behind[skipped - 1] == 1
        if is_apart and "\n" in tokenizer.decode(line_end):
            ids, ends = behind[skipped:], [end - 1 for end in ends_behind[skipped:]]
    reached = [0]
    for end in ends:
        reached.append(max(reached[-1], len(text[:end].encode())))
    counts = [after - before for before, after in pairwise(reached)]
    # What no token claims, such as a space that a tokenizer drops, counts with the last one.
    counts[-1:] = [counts[-1] + len(text.encode()) - reached[-1]] if counts else []
    return ids, counts


def _tokens(tokenizer: Any, text: str) -> tuple[list[int], list[int]]:
    """Return a text's tokens, without special ones, and where in the text each one ends."""
    is_fast = getattr(tokenizer, "is_fast", False)
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=is_fast, verbose=False)
    ids = list(encoded["input_ids"])
    if is_fast:
        return ids, [end for _, end in encoded["offset_mapping"]]
    return ids, [len(tokenizer.decode(ids[: i + 1])) for i in range(len(ids))]
