"""What became of prompts and answers, over all answers of a task at once."""

from lm_eval_tasks.base.contract import CAPPED
from lm_eval_tasks.families import target_of
from lm_eval_tasks.samples.answers import Answer, Answers, Values


def empty(answers: Answers) -> Values:
    """Return the share of empty answers. They score 0."""
    return [float(not text) for text in answers.texts]


def no_answer(answers: Answers) -> Values:
    """Return the share of answers that name nothing that was asked for. They score 0."""
    return empty(answers)


def unfinished(answers: Answers) -> Values:
    """Return the share of answers whose reasoning never ended."""
    return [float(answer.unfinished) for answer in answers.each]


def capped(answers: Answers) -> Values:
    """Return the share of answers whose scored part reached the longest allowed length.

    By the engine's finish reason, else by the model's tokenizer; None if neither is known.
    """
    return [
        reached if reached is None or _is_open(answer) else 0.0
        for reached, answer in zip(_reached_cap(answers), answers.each, strict=True)
    ]


def _is_open(answer: Answer) -> bool:
    """Tell whether what is scored of an answer goes on to its end: a title is complete where the model writes on behind it."""
    has_end = target_of(answer.row.task).refine is not None and bool(answer.text)
    return not has_end or answer.reply.replace("\r\n", "\n").rstrip().endswith(answer.text.rstrip())


def _reached_cap(answers: Answers) -> Values:
    name = answers.rows[0].tokenizer if answers.rows else ""
    if not name or all(answer.finish for answer in answers.each):
        return [float(answer.finish == CAPPED) if answer.finish else None for answer in answers.each]
    from lm_eval_tasks.llm import tokenizers

    lengths = tokenizers.counts(name, [answer.full for answer in answers.each])
    # Text that is tokenized again may have slightly fewer tokens than the model generated.
    caps = [answer.row.answer_cap - max(1, answer.row.answer_cap // 100) for answer in answers.each]
    return [
        float(answer.finish == CAPPED if answer.finish else length >= cap)
        for answer, length, cap in zip(answers.each, lengths, caps, strict=True)
    ]


def truncated(answers: Answers) -> Values:
    """Return the share of prompts that were cut."""
    return [float(row.tokens_cut > 0) if row.tokens_before else None for row in answers.rows]


def cut_share(answers: Answers) -> Values:
    """Return the share of the prompt's tokens that were cut."""
    return [row.tokens_cut / row.tokens_before if row.tokens_before else None for row in answers.rows]
