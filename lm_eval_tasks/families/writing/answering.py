"""How answers of writing tasks are read, texts that need no model, and the metrics, over all answers of a task at once.

What a score is worth is its distance from those of such texts. An empty answer scores 0.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from statistics import fmean, median

from lm_eval_tasks.base import rouge
from lm_eval_tasks.base.contract import WORDS
from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.base.likelihood import Likelihood
from lm_eval_tasks.base.metadata import NO_MODEL
from lm_eval_tasks.families import target_of
from lm_eval_tasks.families.answering import Answering
from lm_eval_tasks.families.compressors import COMPRESSORS, compressed_bits
from lm_eval_tasks.families.writing import COPY_DEMO, FUNCTION_WORDS, RANDOM_SENTENCE
from lm_eval_tasks.families.writing.writing_row import WritingOwn
from lm_eval_tasks.samples.answers import Answer, Answers, Values
from lm_eval_tasks.samples.prompt_row import PromptRow


def own_of(row: PromptRow) -> WritingOwn:
    """Take what a row says of the writing settings."""
    assert isinstance(row.own, WritingOwn)
    return row.own


class WritingAnswering(Answering):
    """Answers that are texts."""

    def refine(self, reply: str, row: PromptRow) -> str:
        """Return a text without what surrounds it."""
        refine = target_of(row.task).refine
        return refine(reply, row.target) if refine else reply

    def by_program(self, name: str, prompt: str, text: str) -> Likelihood | None:
        """Return what a compressor needs, for the whole text."""
        if name not in COMPRESSORS:
            return None
        return Likelihood.of_bits([compressed_bits(name, prompt, text)], [len(text.encode())])

    def copied(self, row: PromptRow) -> list[tuple[int, int]]:
        """Return the bytes in runs of five words that the prompt has too."""
        bounds = own_of(row).copied
        return list(zip(bounds[::2], bounds[1::2], strict=True))

    def fills(self, row: PromptRow) -> bool:
        return own_of(row).words == WORDS.get(row.shown) and not row.tokens_cut

    def baseline(self, name: str, row: PromptRow, prompt: str) -> str | None:
        """Return the output of the demonstration nearest to the answer; or as many words as the median train target has: the body's first
        ones, its sentences in a random order that the row's id decides, or function words alone.
        """
        own = own_of(row)
        if own.content is None:
            raise EvalError(f"the baseline {name} reads the body itself: load the tasks with metadata keep_parts=True")
        if name == COPY_DEMO:
            return own.demonstrations[-1] if own.demonstrations else None
        if not own.lead_words:
            return None
        if name == FUNCTION_WORDS:
            return rouge.text_of(own.lead_words)
        return own.sentences if name == RANDOM_SENTENCE else own.lead


ANSWERING = WritingAnswering()


# Of a row's other targets, how many BERTScore is averaged over.
_EMBEDDED = 4
# Words up to which a text of function words has exactly as many as others.
_SHORT = 40


def _pairs(answers: Answers, measure: Callable[[str, str], float]) -> Values:
    """Return a measure of each answer's text against its target."""
    return [measure(answer.row.target, answer.text) for answer in answers.each]


# --- overlap with the target


def rouge_l(answers: Answers) -> Values:
    """ROUGE-L F with stemming, as `rouge_score` computes it."""
    return _pairs(answers, rouge.rouge_l)


def rouge_l_content(answers: Answers) -> Values:
    """ROUGE-L F with stemming, without function words. Models are ranked by it."""
    return _pairs(answers, rouge.rouge_l_content)


def rouge_1(answers: Answers) -> Values:
    """Words in common, F with stemming."""
    return _pairs(answers, lambda target, text: rouge.rouge_n(target, text, 1))


def rouge_2(answers: Answers) -> Values:
    """Pairs of words in common, F with stemming."""
    return _pairs(answers, lambda target, text: rouge.rouge_n(target, text, 2))


def rouge_lsum(answers: Answers) -> Values:
    """ROUGE-L by sentences, F with stemming."""
    return _pairs(answers, rouge.rouge_lsum)


def bertscore(answers: Answers) -> Values:
    """F of `bert_score`, by default with deberta-xlarge-mnli at layer 40, which reads 512 tokens."""
    return _bertscore(answers, answers.targets, answers.texts)


def _bertscore(answers: Answers, targets: Sequence[str], texts: Sequence[str]) -> Values:
    model = answers.rows[0].bertscore_model if answers.rows else NO_MODEL
    if model == NO_MODEL:
        return [None] * len(targets)
    from lm_eval_tasks.metrics import bertscore

    return bertscore.bertscore(targets, texts, model)


# --- floors


def rouge_l_random_pair(answers: Answers) -> Values:
    """Floor: the score of the answer against other papers' targets."""
    return [_mean(rouge.rouge_l(other, answer.text) for other in own_of(answer.row).others) for answer in answers.each]


def rouge_l_wrong_paper(answers: Answers) -> Values:
    """Floor: the score of other papers' targets, given as the answer."""
    return [_mean(rouge.rouge_l(row.target, other) for other in own_of(row).others) for row in answers.rows]


def rouge_l_content_wrong_paper(answers: Answers) -> Values:
    """Floor: the score of other papers' targets, given as the answer."""
    return [_mean(rouge.rouge_l_content(row.target, other) for other in own_of(row).others) for row in answers.rows]


def rouge_l_content_lead(answers: Answers) -> Values:
    """What the baseline `lead` scores."""
    return _of_program(answers, [own_of(row).lead for row in answers.rows])


def rouge_l_content_sentences(answers: Answers) -> Values:
    """What the baseline `random-sentence` scores."""
    return _of_program(answers, [own_of(row).sentences for row in answers.rows])


def _of_program(answers: Answers, texts: Sequence[str | None]) -> Values:
    return [
        None if text is None else rouge.rouge_l_content(row.target, text)
        for row, text in zip(answers.rows, texts, strict=True)
    ]


def rouge_l_function_words(answers: Answers) -> Values:
    """Floor: what function words alone score."""
    return [
        None if text is None else rouge.rouge_l(row.target, text)
        for row, text in zip(answers.rows, _without_content(answers), strict=True)
    ]


def bertscore_random_pair(answers: Answers) -> Values:
    """Floor: the score of the answer against other papers' targets."""
    return _over_others(answers, lambda answer, other: (other, answer.text))


def bertscore_wrong_paper(answers: Answers) -> Values:
    """Floor: the score of other papers' targets, given as the answer."""
    return _over_others(answers, lambda answer, other: (answer.row.target, other))


def bertscore_function_words(answers: Answers) -> Values:
    """Floor: what function words alone score."""
    texts = _without_content(answers)
    scores = _bertscore(answers, answers.targets, [text or "" for text in texts])
    return [None if text is None else score for text, score in zip(texts, scores, strict=True)]


def _without_content(answers: Answers) -> list[str | None]:
    """Write for each row function words alone, as many as its other papers' targets have; None for rows without others.

    A row's score may not depend on which other rows are scored with it. Long texts have whole tens of words, so that few differ.
    """
    return [_function_words([len(other.split()) for other in own_of(row).others]) for row in answers.rows]


def _function_words(lengths: Sequence[int]) -> str | None:
    length = median(lengths) if lengths else 0
    count = round(length / 10) * 10 if length > _SHORT else round(length)
    return rouge.text_of(count) if count else None


def _over_others(answers: Answers, pair: Callable[[Answer, str], tuple[str, str]]) -> Values:
    """Return the mean BERTScore of pairs of each answer and other papers' targets, of few, for it takes long."""
    pairs = [[pair(answer, other) for other in own_of(answer.row).others[:_EMBEDDED]] for answer in answers.each]
    targets, texts = zip(*chain.from_iterable(pairs), strict=True) if any(pairs) else ((), ())
    scores = iter(_bertscore(answers, targets, texts))
    each = [[next(scores) for _ in of_answer] for of_answer in pairs]
    return [_mean(values) if values and None not in values else None for values in each]


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def length_ratio(answers: Answers) -> Values:
    """Words in the answer divided by words in the target."""
    return _pairs(answers, lambda target, text: len(text.split()) / max(1, len(target.split())))


def copied_from_input(answers: Answers) -> Values:
    """Words in the longest run that the answer shares with the paper in the prompt."""
    return [_run(answer.text, answer.row.prompt[answer.row.target_at :]) for answer in answers.each]


def copied_from_demonstrations(answers: Answers) -> Values:
    """Words in the longest run that the answer shares with a demonstration."""
    return [_run(answer.text, answer.row.prompt[: answer.row.target_at]) for answer in answers.each]


def _run(text: str, other: str) -> float:
    # It needs numpy, for which commands that only name metrics do not wait.
    from lm_eval_tasks.base.word_runs import longest_common_run, run_words

    return float(longest_common_run(run_words(text), run_words(other)))
