"""How much of what an answer states is in what the model was shown: its numbers, and its names and acronyms. No model is needed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from lm_eval_tasks.metrics.names import ShownNames, names
from lm_eval_tasks.metrics.numbers import Number, ShownNumbers, numbers

# What is not text: addresses, and LaTeX's citations. Bounds keep the time linear, whatever a model writes.
_APPARATUS = re.compile(r"(?:https?://|www\.)\S+|\\[A-Za-z]{0,12}cite[A-Za-z*]{0,12}\{[^{}]{0,2000}\}")


class Shown:
    """What a model was shown, prepared for looking up numbers and names.

    Args:
        text: the prompt's part about the paper itself, with what was cited.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _numbers(self) -> ShownNumbers:
        return ShownNumbers(self._text)

    @cached_property
    def _names(self) -> ShownNames:
        return ShownNames(self._text)

    def supports_number(self, number: Number, answer: str) -> bool:
        """Whether the text states a number of an answer."""
        return self._numbers.support(number, answer)

    def supports_name(self, name: str) -> bool:
        """Whether the text has the name."""
        return self._names.support(name)


@dataclass(frozen=True, slots=True)
class Support:
    """Which of an answer's numbers, or names, are supported.

    Attributes:
        unsupported: those that are not.
    """

    count: int
    unsupported: tuple[str, ...]

    @property
    def share(self) -> float | None:
        """None for an answer without any."""
        return 1 - len(self.unsupported) / self.count if self.count else None


def support_of_numbers(answer: str, shown: Shown) -> Support:
    """The support of every number in an answer."""
    answer = _APPARATUS.sub(" ", answer)
    stated = list(numbers(answer))
    lacking = (number for number in stated if not shown.supports_number(number, answer))
    return Support(len(stated), tuple(answer[number.start : number.end] for number in lacking))


def support_of_names(answer: str, shown: Shown) -> Support:
    """The support of every name in an answer."""
    stated = names(_APPARATUS.sub(" ", answer))
    return Support(len(stated), tuple(name for name in stated if not shown.supports_name(name)))
