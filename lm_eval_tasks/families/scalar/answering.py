"""How SCALAR's answers are read, and its metrics, over all answers of a task at once."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lm_eval_tasks.base.likelihood import Likelihood
from lm_eval_tasks.families.answering import Answering, Placed
from lm_eval_tasks.families.label_entries import BRACKET, json_of, one_label
from lm_eval_tasks.families.labels import plain
from lm_eval_tasks.families.scalar import ANY, FIRST
from lm_eval_tasks.families.scalar.scalar_row import ScalarOwn
from lm_eval_tasks.samples.answers import Answers, Values
from lm_eval_tasks.samples.prompt_row import PromptRow

_TAG = re.compile(r"<(/?)answer\s*>", re.IGNORECASE)
_ANSWER = re.compile(r"(?:.*\b)?(?:answer|index|reference|candidate|choice)(?:\s+is)?\s*:?\s+(.*)", re.IGNORECASE)
_CALLED = re.compile(r"answer|index|choice", re.IGNORECASE)
_KEY = re.compile(
    r"(?:(?:the|my|final|correct|best|selected|chosen)[\s_-]*)?"
    r"(?:answer|index|choice|candidate|reference|selected|selection|number|response|result|output)(?:[\s_-]*(?:index|number|id))?",
    re.IGNORECASE,
)
# What leads to a tag that is not the answer.
_NEAR = 60
_ASIDE = re.compile(r"\b(?:reject|discard|exclud)\w*[^\n]*$", re.IGNORECASE)
# Lines without a tag that decide nothing, and what a line names; one that begins with a candidate may be an item of a listing.
_UNDECIDED = re.compile(r"\b(?:not|no|nor|or|cannot|neither|either|both|than)\b|n['’]t\b", re.IGNORECASE)
_CANDIDATE = re.compile(r"\bcandidates?\W{0,4}(\d{1,6})\b", re.IGNORECASE)
_ITEM = re.compile(r"\W*(?:candidate\W{0,4})?(\d{1,6})\b", re.IGNORECASE)
# "2, because ...", "2 BERT": an index, and what is said of it.
_EXPLAINED = re.compile(
    r"[^\w-]*(?i:(?:(?:it|(?:the )?(?:correct |right |best |best-suited |most suitable )?(?:answer|index|reference|candidate))"
    r"(?: of \w+)?(?: is)?)\W+(?:candidate\W+)?)?(\d{1,6})(?:\s*[.,;:!]?\s*$|,?\s*(?:because|since|as)\b.*|\s+[A-Z].*)",
    re.DOTALL,
)


def own_of(row: PromptRow) -> ScalarOwn:
    """Take what a row says of SCALAR."""
    assert isinstance(row.own, ScalarOwn)
    return row.own


class ScalarAnswering(Answering):
    """Answers that name a candidate."""

    def refine(self, reply: str, row: PromptRow) -> str:
        """Return the index of the candidate that an answer names."""
        chosen = answer_of(reply, len(own_of(row).candidate_ids))
        return "" if chosen is None else str(chosen)

    def likelihoods(self, doc: Mapping[str, Any]) -> list[str]:
        """Return the numbers that the prompt gives its candidates."""
        return [str(number) for number in range(len(doc["own"]["candidate_ids"]))]

    def likeliest(self, likelihoods: Sequence[Likelihood]) -> str:
        """Return the number that is the likeliest answer; of equal ones the first."""
        totals = [likelihood.total for likelihood in likelihoods]
        return str(totals.index(max(totals)))

    def placed(self, row: PromptRow, answer: str, score: float) -> Iterator[Placed]:
        """Yield the right candidate."""
        own = own_of(row)
        yield "", (own.label + 0.5) / len(own.candidate_ids), score

    def baseline(self, name: str, row: PromptRow, prompt: str) -> str | None:
        """Return what a shortcut of `shortcuts` chooses, the first candidate, or any, chosen by the question's id."""
        own = own_of(row)
        if name in FIRST:
            choice: int | None = 0
        elif name == ANY:
            choice = int(hashlib.sha256(row.id.encode()).hexdigest(), 16) % len(own.candidate_ids)
        else:
            choice = getattr(own, name.replace("-", "_"))
        return None if choice is None else f"<answer>{choice}</answer>"


ANSWERING = ScalarAnswering()
# lm-eval's `doc_to_choice`.
choices = ANSWERING.likelihoods


def answer_of(text: str, candidates: int) -> int | None:
    """Find the last index in <answer>..</answer>, or without a tag that at the answer's end or beginning; None if it names no candidate."""
    text = plain(text)
    lines = [line.strip() for line in text.split("\n") if any(map(str.isalnum, line))]
    within = list(_tagged(text)) or _keyed(text) or _untagged(lines)
    numbers = (_index(BRACKET.sub(" ", content)) for content in reversed(within))
    index = next((number for number in numbers if number is not None), None)
    return index if index is not None and index < candidates else None


def _keyed(text: str) -> list[str]:
    """Find what JSON that ends an answer, in a fence perhaps, calls the answer."""
    end = text.rfind("}") + 1
    content = None if any(map(str.isalnum, text[end:])) else json_of(text[text.find("{") : end])
    pairs = content.items() if isinstance(content, dict) else ()
    said = {key: str(value) for key, value in pairs if _KEY.fullmatch(key)}
    # What is called a candidate or a reference may be its title.
    return [said[key] for key in sorted(said, key=lambda key: _CALLED.search(key) is not None)]


def _untagged(lines: Sequence[str]) -> list[str]:
    """Find what an answer without a tag says in its first and last line, the likelier behind: what is called the answer, else a candidate,
    if no other line begins with another.
    """
    called: list[str] = []
    other: list[str] = []
    for line in [*lines[:1], *lines[-1:]]:
        if _UNDECIDED.search(line) or len(set(_CANDIDATE.findall(line))) > 1:
            continue
        match = _ANSWER.fullmatch(line)
        if match and _CALLED.search(line[: match.start(1)]):
            called.append(match[1])
        else:
            other.append(match[1] if match else line)
    items = {item[1] for item in map(_ITEM.match, lines) if item}
    return [*other, *called] if len(items) < 2 else called


def _index(text: str) -> int | None:
    explained = _EXPLAINED.fullmatch(text)
    return int(explained[1]) if explained else one_label(text)


def _tagged(text: str) -> Iterator[str]:
    """Find what is between each opening mark and the next mark or, if the last was not closed, the end of its line."""
    begins: int | None = None
    for mark in _TAG.finditer(text):
        if begins is not None and not _ASIDE.search(text[max(0, begins - _NEAR) : begins]):
            yield text[begins : mark.start()]
        elif mark[1] and mark.start() and not _TAG.search(text, 0, mark.start()):
            # The prompt ended with the opening mark.
            yield text[: mark.start()].strip().rpartition("\n")[2]
        begins = None if mark[1] else mark.end()
    if begins is not None:
        yield text[begins:].strip().partition("\n")[0]


# --- metrics

# SCALAR's rule: within a line, lower case, and the word that the prompt shows in place of a number does not count.
_OPENING, _ENDING = "<answer>", "</answer>"
_WORD = re.compile(r"[Ii]ndex")


def accuracy(answers: Answers) -> Values:
    """Share of right choices, read from the last `<answer>..</answer>`, `[2]`, `Candidate 2`, or "Answer: 2" within 2,000 tokens."""
    return [float(answer.text == str(own_of(answer.row).label)) for answer in answers.each]


def accuracy_strict(answers: Answers) -> Values:
    """As SCALAR's own code reads answers: the number alone."""
    return [float(_strict_answer_of(answer.full) == str(own_of(answer.row).label)) for answer in answers.each]


def _strict_answer_of(text: str) -> str:
    """Return what SCALAR's own code compares with the label (`evaluate_response` in src/evaluate/evaluate_cloze.py).

    Args:
        text: the whole answer, reasoning included.

    Returns:
        What the last tag holds, without the word "index" and without spaces at its ends; "" without a tag.
    """
    last = ""
    for line in text.split("\n"):
        end = 0
        while (start := line.find(_OPENING, end)) >= 0:
            start += len(_OPENING)
            closes = line.find(_ENDING, start)
            if closes < 0:
                break
            last, end = line[start:closes], closes + len(_ENDING)
    return _WORD.sub("", last).strip()


def accuracy_sound(answers: Answers) -> Values:
    """Accuracy over questions whose candidates all have texts, each a different one."""
    scored = zip(accuracy(answers), answers.rows, strict=True)
    return [score if own_of(row).is_sound else None for score, row in scored]


def accuracy_constant(answers: Answers) -> Values:
    """Floor: the best constant answer."""
    return [_chosen(own_of(row).best_constant, row) for row in answers.rows]


def accuracy_bm25_local(answers: Answers) -> Values:
    """Without reading: the candidate that fits the masked sentence best, by BM25."""
    return [_chosen(own_of(row).bm25_local, row) for row in answers.rows]


def accuracy_name_local(answers: Answers) -> Values:
    """Without reading: the candidate that contains the names right before the mask, combined with BM25."""
    return [_chosen(own_of(row).name_local, row) for row in answers.rows]


def accuracy_embed_local(answers: Answers) -> Values:
    """Without reading: the candidate that fits the masked sentence best, by a small model. On request."""
    return [_chosen(own_of(row).embed_local, row) for row in answers.rows]


def _chosen(choice: int | None, row: PromptRow) -> float | None:
    return None if choice is None else float(choice == own_of(row).label)


def chose_0(answers: Answers) -> Values:
    """Share of questions in which the first candidate is the likeliest answer."""
    return _chose(0, answers)


def chose_1(answers: Answers) -> Values:
    """Share of questions in which the second candidate is the likeliest answer."""
    return _chose(1, answers)


def chose_2(answers: Answers) -> Values:
    """Share of questions in which the third candidate is the likeliest answer."""
    return _chose(2, answers)


def chose_3(answers: Answers) -> Values:
    """Share of questions in which the fourth candidate is the likeliest answer."""
    return _chose(3, answers)


def _chose(number: int, answers: Answers) -> Values:
    return [float(answer.text == str(number)) for answer in answers.each]


def accuracy_random(answers: Answers) -> Values:
    """Floor: guessing."""
    return [1 / len(own_of(row).candidate_ids) for row in answers.rows]
