"""How the reading families' rows become prompts, and how their answers are read and scored: labels as a prompt asks for them, and read
strictly, an answer that ends with JSON; `families.labels` reads it leniently.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from lm_eval_tasks.base.contract import Context
from lm_eval_tasks.families.answering import Answering, Placed, answering_of
from lm_eval_tasks.families.labels import pairs_of, set_of
from lm_eval_tasks.families.reading import BLIND, ReadingFamily
from lm_eval_tasks.families.reading.reading_row import ReadingOwn, ReadingRow
from lm_eval_tasks.samples.answers import Answer, Answers, Values
from lm_eval_tasks.samples.prompt_row import PromptRow

_STRICT = re.compile(r"(?:Paper|Passage|Work|Mask) ([1-9]\d{0,5})")


def own_of(row: PromptRow) -> ReadingOwn:
    """Take what a row says of the reading families."""
    assert isinstance(row.own, ReadingOwn)
    return row.own


def share_right_of(pairs: Mapping[int, int], asked: Sequence[int], right: Sequence[int]) -> float:
    """Return the share of asked labels to which the right one is given."""
    return sum(pairs.get(label) == answer for label, answer in zip(asked, right, strict=True)) / len(right)


def _of_pairs(answers: Answers, read: Callable[[str], dict[int, int] | None]) -> Values:
    def score(answer: Answer) -> float | None:
        own = own_of(answer.row)
        return share_right_of(read(answer.reply) or {}, own.asked, own.answer) if own.answer else None

    return [score(answer) for answer in answers.each]


def share_right(answers: Answers) -> Values:
    """Share of the passages or masks that are answered right."""
    return _of_pairs(answers, pairs_of)


def share_right_strict(answers: Answers) -> Values:
    """Only JSON at the very end of an answer counts."""
    return _of_pairs(answers, strict_pairs_of)


def share_right_random(answers: Answers) -> Values:
    """Floor: guessing among the labels that may be right."""
    return [own_of(row).chance for row in answers.rows]


def share_right_bm25(answers: Answers) -> Values:
    """Without reading: BM25 between the texts shown."""
    return [_shortcut_share(own_of(row)) for row in answers.rows]


def _shortcut_share(own: ReadingOwn) -> float | None:
    if not own.answer:
        return None
    return share_right_of(dict(zip(own.asked, own.shortcut, strict=False)), own.asked, own.answer)


def outside(answers: Answers) -> Values:
    """Share of answers that name a label that does not exist."""
    return _any_label(answers, lambda label, labels: label > labels)


def unreadable(answers: Answers) -> Values:
    """Share of answers with an entry that names no label. Such entries are wrong."""
    return _any_label(answers, lambda label, _: label < 1)


def _any_label(answers: Answers, is_wrong: Callable[[int, int], bool]) -> Values:
    def has_wrong(answer: Answer) -> bool:
        own = own_of(answer.row)
        return any(is_wrong(label, own.labels) for label in _labels(answer.reply, own.asked))

    return [float(has_wrong(answer)) for answer in answers.each]


def _labels(reply: str, asked: Sequence[int]) -> Sequence[int]:
    return tuple((pairs_of(reply) or {}).values()) if asked else set_of(reply) or ()


def strict_set_of(text: str) -> tuple[int, ...] | None:
    """Return as `labels.set_of`, of an answer that ends with a JSON list of labels, each once."""
    content = _json_at_end(text, "[")
    numbers = _strict_numbers(content) if isinstance(content, list) else None
    return tuple(sorted(numbers)) if numbers is not None and len(set(numbers)) == len(numbers) else None


def strict_pairs_of(text: str) -> dict[int, int] | None:
    """Return as `labels.pairs_of`, of an answer that ends with a JSON object from labels to labels."""
    content = _json_at_end(text, "{")
    if not isinstance(content, dict):
        return None
    keys, values = _strict_numbers(list(content)), _strict_numbers(list(content.values()))
    return None if keys is None or values is None else dict(zip(keys, values, strict=True))


def _json_at_end(text: str, opening: str) -> object:
    """Return what the JSON at the end of a text says, which may stand in a fence; None if there is none."""
    text = text.rstrip().removesuffix("```").rstrip()
    begins = text.rfind(opening)
    try:
        return json.loads(text[begins:]) if begins >= 0 else None
    except (ValueError, RecursionError):
        return None


def _strict_numbers(labels: Sequence[object]) -> list[int] | None:
    matches = [_STRICT.fullmatch(name) if isinstance(name, str) else None for name in labels]
    return None if None in matches else [int(match[1]) for match in matches if match]


def write_list(numbers: Sequence[int], word: str) -> str:
    """Return a list of labels as a prompt asks for it; `word` is what a label is called."""
    return json.dumps([_written(word, number) for number in numbers])


def write_pairs(pairs: Mapping[int, int], asked_word: str, word: str) -> str:
    """Return the pairs of labels as a prompt asks for them; the words are what is asked about, and what a label is called."""
    return json.dumps({_written(asked_word, first): _written(word, second) for first, second in pairs.items()})


def _written(word: str, number: int) -> str:
    # An entry that names no label has a number below 1.
    return f"{word} {number}" if number > 0 else "?"


# What is shown of each part; None for one that is left out.
Parts = list[str | None]


class ReadingAnswering(Answering, ABC):
    """The rows and answers of one reading family."""

    def __init__(self, family: ReadingFamily) -> None:
        self.family = family

    @abstractmethod
    def shortened(self, row: ReadingRow, parts: Sequence[str], context: Context) -> Parts:
        """Return what a shorter context shows.

        Args:
            parts: what the full one does, see `reading.prompt.part_texts`.
            context: one that the family has.
        """

    @abstractmethod
    def check(self, row: ReadingRow) -> None:
        """Raise a ValueError for a row that the family cannot ask."""

    @abstractmethod
    def target(self, row: ReadingRow) -> str:
        """Return the right answer, as the prompt asks for it."""

    @abstractmethod
    def shortcut_score(self, row: ReadingRow) -> float:
        """Return what the shortcut of a row scores by the metric that models are ranked by."""

    def chance(self, row: ReadingRow) -> float | None:
        """Return what guessing scores for a row; None where the best constant tells it."""
        return None

    def blind_score(self, row: ReadingRow) -> float:
        """Return as `shortcut_score`, of the best answer that does not depend on the context."""
        return self.chance(row) or 0.0

    def by_place(self, row: ReadingRow, prompt: Callable[[], tuple[str, str]]) -> tuple[int, ...] | None:
        """Return what a program names that looks at the prompt and reads no heading; None for families without one."""
        return None

    def best_constant(self, rows: Iterable[ReadingRow]) -> int | None:
        """Return which constant answer is right most often over all rows; None where guessing tells it."""
        return None

    def fields(self, row: ReadingRow) -> dict[str, str]:
        """Return the fields of the prompt that tell what a row asks."""
        return {
            "ASKED": ", ".join(f"{self.family.asked_word} {label}" for label in row.asked),
            "MASKS": str(len(row.asked)),
            "WANTED": str(len(row.answer)),
        }


class PairsAnswering(ReadingAnswering):
    """Of a family whose answers give each label that is asked about another one."""

    def check(self, row: ReadingRow) -> None:
        if not row.asked or not len(row.asked) == len(row.answer) == len(row.shortcut):
            raise ValueError(f"{row.id:.80} asks about {len(row.asked)} labels and has {len(row.answer)} answers")

    def target(self, row: ReadingRow) -> str:
        return self._written(dict(zip(row.asked, row.answer, strict=True)))

    def refine(self, reply: str, row: PromptRow) -> str:
        """Return the pairs that an answer names."""
        pairs = pairs_of(reply)
        return "" if pairs is None else self._written(pairs)

    def _written(self, pairs: dict[int, int]) -> str:
        return write_pairs(pairs, self.family.asked_word, self.family.word)

    def placed(self, row: PromptRow, answer: str, score: float) -> Iterator[Placed]:
        """Yield each label that is asked about."""
        own, pairs = own_of(row), pairs_of(answer) or {}
        for label, right in zip(own.asked, own.answer, strict=False):
            yield str(label), place_of(right, own), float(pairs.get(label) == right)

    def baseline(self, name: str, row: PromptRow, prompt: str) -> str | None:
        """Return for each label the next one; or what BM25 finds."""
        own = own_of(row)
        if name == BLIND:
            return self._written({label: label % own.labels + 1 for label in own.asked})
        return self._written(dict(zip(own.asked, own.shortcut, strict=True)))

    def shortcut_score(self, row: ReadingRow) -> float:
        return share_right_of(dict(zip(row.asked, row.shortcut, strict=True)), row.asked, row.answer)


def place_of(label: int, own: ReadingOwn) -> float:
    """Tell where a label stands in what is shown, from 0 to 1."""
    return (label - 0.5) / max(label, own.labels)


def reading_answering(task: str) -> ReadingAnswering:
    """Return that of a reading family's task."""
    answering = answering_of(task)
    assert isinstance(answering, ReadingAnswering)
    return answering
