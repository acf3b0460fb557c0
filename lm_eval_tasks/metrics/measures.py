"""How each metric is computed, over all answers of a task at once. An empty answer scores 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from lm_eval_tasks.llm import tokenizers
from lm_eval_tasks.llm.usage import CAPPED
from lm_eval_tasks.metrics import citation_mentions, rouge
from lm_eval_tasks.metrics.answer_index import strict_answer_of
from lm_eval_tasks.metrics.bertscore import NO_MODEL
from lm_eval_tasks.metrics.bertscore import bertscore as score_pairs
from lm_eval_tasks.metrics.grounding import Shown, support_of_names, support_of_numbers

if TYPE_CHECKING:
    from lm_eval_tasks.metrics.cited import Cited
    from lm_eval_tasks.metrics.scored import Answers

Values = Sequence[float | None]


def _over(targets: Sequence[str], texts: Sequence[str], measure: Callable[[str, str], float]) -> Values:
    return [measure(target, text) for target, text in zip(targets, texts, strict=True)]


# --- overlap with the target


def rouge_l(answers: Answers) -> Values:
    return _over(answers.targets, answers.texts, rouge.rouge_l)


def rouge_1(answers: Answers) -> Values:
    return _over(answers.targets, answers.texts, lambda target, text: rouge.rouge_n(target, text, 1))


def rouge_2(answers: Answers) -> Values:
    return _over(answers.targets, answers.texts, lambda target, text: rouge.rouge_n(target, text, 2))


def rouge_lsum(answers: Answers) -> Values:
    return _over(answers.targets, answers.texts, rouge.rouge_lsum)


def bertscore(answers: Answers) -> Values:
    return _bertscore(answers, answers.targets, answers.texts)


def _bertscore(answers: Answers, targets: Sequence[str], texts: Sequence[str]) -> Values:
    model = str(answers.docs[0]["bertscore_model"]) if answers.docs else NO_MODEL
    if model == NO_MODEL or len(targets) != len(texts):
        return [None] * len(answers.docs)
    return score_pairs(targets, texts, model)


# --- floors


def rouge_l_random_pair(answers: Answers) -> Values:
    return _floor(answers, answers.others, answers.texts)


def rouge_l_wrong_paper(answers: Answers) -> Values:
    return _floor(answers, answers.targets, answers.others)


def _floor(answers: Answers, targets: Sequence[str], texts: Sequence[str]) -> Values:
    return _over(targets, texts, rouge.rouge_l) if answers.others else [None] * len(answers.docs)


def bertscore_random_pair(answers: Answers) -> Values:
    return _bertscore(answers, answers.others, answers.texts)


def bertscore_wrong_paper(answers: Answers) -> Values:
    return _bertscore(answers, answers.targets, answers.others)


# --- what became of prompts and answers


def empty(answers: Answers) -> Values:
    return [float(not text) for text in answers.texts]


def unfinished(answers: Answers) -> Values:
    return [float(one) for one in answers.unfinished]


def capped(answers: Answers) -> Values:
    """Whether an answer ended at its cap, by the engine's finish reason, else by the model's tokenizer; None if neither is known."""
    finishes = [str(getattr(text, "finish", "")) for text in answers.whole]
    name = str(answers.docs[0].get("tokenizer") or "") if answers.docs else ""
    if not name or all(finishes):
        return [float(finish == CAPPED) if finish else None for finish in finishes]
    lengths = tokenizers.counts(name, list(answers.whole))
    return [
        float(finish == CAPPED if finish else n >= _reached(doc["answer_cap"]))
        for finish, n, doc in zip(finishes, lengths, answers.docs, strict=True)
    ]


def _reached(cap: int) -> int:
    # Text that is tokenized again may have slightly fewer tokens than the model generated.
    return cap - max(1, cap // 100)


def truncated(answers: Answers) -> Values:
    return [float(doc["tokens_cut"] > 0) if doc["tokens_before"] else None for doc in answers.docs]


def cut_share(answers: Answers) -> Values:
    return [doc["tokens_cut"] / doc["tokens_before"] if doc["tokens_before"] else None for doc in answers.docs]


def length_ratio(answers: Answers) -> Values:
    return _over(answers.targets, answers.texts, lambda target, text: len(text.split()) / max(1, len(target.split())))


def copied_from_input(answers: Answers) -> Values:
    """Words of the longest run that an answer shares with what the model saw of the target's own paper."""
    return [
        _run(text, doc["prompt"][doc["target_at"] :]) for text, doc in zip(answers.texts, answers.docs, strict=True)
    ]


def copied_from_demonstrations(answers: Answers) -> Values:
    return [
        _run(text, doc["prompt"][: doc["target_at"]]) for text, doc in zip(answers.texts, answers.docs, strict=True)
    ]


def _run(text: str, other: str) -> float:
    # It needs numpy, for which commands that only name metrics do not wait.
    from lm_eval_tasks.core.word_runs import longest_common_run, run_words

    return float(longest_common_run(run_words(text), run_words(other)))


def numbers_supported(answers: Answers) -> Values:
    """Share of an answer's numbers that the prompt shows of the paper and its citations; None for an answer without any."""
    return [support_of_numbers(text, shown).share for text, shown in _with_shown(answers)]


def names_supported(answers: Answers) -> Values:
    """Share of an answer's names and acronyms that the prompt shows; None for an answer without any."""
    return [support_of_names(text, shown).share for text, shown in _with_shown(answers)]


def _with_shown(answers: Answers) -> Iterator[tuple[str, Shown]]:
    return (
        (text, Shown(doc["prompt"][doc["target_at"] :])) for text, doc in zip(answers.texts, answers.docs, strict=True)
    )


def citations_mentioned(answers: Answers) -> Values:
    """Share of the given works that an answer mentions."""
    return _mentions(answers, lambda found: found.mentioned_share)


def citations_not_given(answers: Answers) -> Values:
    """Share of the works that an answer mentions which the prompt did not give."""
    return _mentions(answers, lambda found: found.other_share)


def _mentions(answers: Answers, share: Callable[[citation_mentions.Mentions], float]) -> Values:
    return [
        share(citation_mentions.mentions(text, doc["cited_titles"])) if doc.get("cited_titles") else None
        for text, doc in zip(answers.texts, answers.docs, strict=True)
    ]


def citation_precision(answers: Answers) -> Values:
    return _cited(answers, lambda found: found.precision)


def citation_recall(answers: Answers) -> Values:
    return _cited(answers, lambda found: found.recall)


def citation_support(answers: Answers) -> Values:
    return _cited(answers, lambda found: found.support)


def _cited(answers: Answers, figure: Callable[[Cited], float | None]) -> Values:
    """A figure of the tasks that ask for citations by number; None for others."""
    return [None if one is None else figure(one) for one in answers.cited]


# --- SCALAR


def accuracy(answers: Answers) -> Values:
    """A missing answer counts as a wrong one."""
    return [float(text == str(doc["label"])) for text, doc in zip(answers.texts, answers.docs, strict=True)]


def accuracy_strict(answers: Answers) -> Values:
    """Accuracy with answers read as SCALAR's own code reads them."""
    pairs = zip(answers.raw, answers.docs, strict=True)
    return [float(strict_answer_of(text, len(doc["candidate_ids"])) == int(doc["label"])) for text, doc in pairs]


def accuracy_constant(answers: Answers) -> Values:
    """What always naming one place would score, the one that is right most often: labels need not be balanced."""
    return [float(doc["label"] == doc["best_constant"]) for doc in answers.docs]


def accuracy_random(answers: Answers) -> Values:
    return [1 / len(doc["candidate_ids"]) for doc in answers.docs]
