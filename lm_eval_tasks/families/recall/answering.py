"""What a model's tokens say of the spans of a text."""

import math
import re
from collections.abc import Callable, Iterator
from itertools import accumulate, pairwise
from statistics import fmean

from lm_eval_tasks.base.likelihood import Likelihood
from lm_eval_tasks.families.answering import Answering
from lm_eval_tasks.families.compressors import PPMD, compressed_size
from lm_eval_tasks.families.recall.recall_row import AskedSpan, RecallOwn
from lm_eval_tasks.samples.answers import Answer, Answers, Values
from lm_eval_tasks.samples.prompt_row import PromptRow

_WORD = re.compile(r"\s*\S+\s*?(?=\s|$)")


def own_of(row: PromptRow) -> RecallOwn:
    """Take what a row says of recall."""
    assert isinstance(row.own, RecallOwn)
    return row.own


class RecallAnswering(Answering):
    """Texts by likelihood."""

    def by_program(self, name: str, prompt: str, text: str) -> Likelihood | None:
        """Return what PPMd needs for each word, once it has read the prompt and the words before; in whole bytes."""
        if name != PPMD:
            return None
        ends = [match.end() for match in _WORD.finditer(text)]
        sizes = [compressed_size(PPMD, f"{prompt}{text[:end]}") for end in (0, *ends)]
        bits = (8.0 * max(0, after - before) for before, after in pairwise(sizes))
        counts = (len(text[start:end].encode()) for start, end in pairwise((0, *ends)))
        return Likelihood.of_bits(bits, counts)

    def part_of(self, row: PromptRow) -> str:
        return own_of(row).place


ANSWERING = RecallAnswering()
# lm-eval's `doc_to_target`.
doc_to_target = ANSWERING.text


def span_bits(answers: Answers) -> Values:
    """Mean bits per number or name, each summed over all tokens that overlap it or the space before. Lower is better."""
    return _of_spans(answers, lambda span: span.kind != "word")


def span_bits_numbers(answers: Answers) -> Values:
    """The same, of numbers."""
    return _of_spans(answers, lambda span: span.kind == "number")


def span_bits_names(answers: Answers) -> Values:
    """The same, of names."""
    return _of_spans(answers, lambda span: span.kind == "name")


def span_bits_words(answers: Answers) -> Values:
    """The same, of rare words, which the headline leaves out."""
    return _of_spans(answers, lambda span: span.kind == "word")


def span_bits_once(answers: Answers) -> Values:
    """The same, of numbers and names that the evidence has once."""
    return _of_spans(answers, lambda span: span.kind != "word" and span.times == 1)


def span_bits_more(answers: Answers) -> Values:
    """The same, of numbers and names that the evidence has more than once."""
    return _of_spans(answers, lambda span: span.kind != "word" and span.times > 1)


def straddling(answers: Answers) -> Values:
    """Share of the spans that begin or end within a token."""
    return [_mean(float(straddles) for _, _, straddles in _spans(answer)) for answer in answers.each]


def text_bits(answers: Answers) -> Values:
    """Bits per byte of the whole text, which lm-eval computes too."""
    return [answer.likelihoods[0].bits_per_byte for answer in answers.each]


def _of_spans(answers: Answers, counts: Callable[[AskedSpan], bool]) -> Values:
    return [_mean(bits for span, bits, _ in _spans(answer) if counts(span)) for answer in answers.each]


def _mean(values: Iterator[float]) -> float | None:
    known = list(values)
    return fmean(known) if known else None


def _spans(answer: Answer) -> Iterator[tuple[AskedSpan, float, bool]]:
    """Yield each span with its bits, and whether it begins or ends within a token; nothing where tokens are not known."""
    [likelihood] = answer.likelihoods
    if len(likelihood.counts) < 2:
        return
    text = ANSWERING.text({"target": answer.row.target})
    for span in own_of(answer.row).spans:
        yield span, *bits_between(likelihood, text, span.start, span.end)


def bits_between(likelihood: Likelihood, text: str, start: int, end: int) -> tuple[float, bool]:
    """Return the bits of all tokens that overlap a stretch of a text, the space before it included, and whether a token has more than that.

    Args:
        start, end: in characters.
    """
    first = start - (text[start - 1 : start] == " ")
    bounds = [len(text[:place].encode()) for place in (first, start, end)]
    reached = list(accumulate(likelihood.counts, initial=0))
    bits, straddles = 0.0, False
    for begins, ends, log in zip(reached, reached[1:], likelihood.logs, strict=False):
        # A token without bytes of its own goes on with the character of the one before it.
        goes_on = begins == ends and bounds[0] < begins <= bounds[2]
        overlaps = begins < bounds[2] and ends > bounds[0] and begins < ends
        if goes_on or overlaps:
            bits -= log / math.log(2)
            straddles = straddles or begins < bounds[0] or ends > bounds[2]
    return bits, straddles
