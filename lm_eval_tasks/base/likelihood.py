"""How likely a text is to a model, token by token."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

from lm_eval_tasks.base.typed import Count, Number, typed

# Of a logarithm of a probability: 1,500 tokens then lose less than a hundredth of a bit.
_DIGITS = 5


@dataclass(frozen=True, slots=True)
class Likelihood:
    """How likely a text is behind a prompt, token by token.

    Attributes:
        logs: the natural logarithm of each token's probability, rounded as samples keep it.
        counts: the bytes in UTF-8 that each token adds to the text; where only the whole is known, it counts as one token.
    """

    logs: tuple[Number, ...]
    counts: tuple[Count, ...]

    @classmethod
    def of(cls, logs: Iterable[float], counts: Iterable[int]) -> Self:
        return cls(tuple(round(min(log, 0.0), _DIGITS) for log in logs), tuple(counts))

    @classmethod
    def of_bits(cls, bits: Iterable[float], counts: Iterable[int]) -> Self:
        return cls.of((-each * math.log(2) for each in bits), counts)

    @classmethod
    def of_logged(cls, value: Any, text: str) -> Self:
        """Read what `AnsweringLM` returns, what samples keep of it, or lm-eval's own pair of a sum and whether it is the greedy answer.

        Args:
            text: whose likelihood it is; "" where samples are kept without texts.

        Raises:
            ValueError: it is something else, or of another text.
        """
        if isinstance(value, list | tuple) and value:
            value = {"logs": [float(value[0])], "counts": [len(text.encode())]}
        read = value if isinstance(value, cls) else typed(cls, value)
        is_other = bool(text and read.counts) and sum(read.counts) != len(text.encode())
        if len(read.logs) != len(read.counts) or is_other:
            raise ValueError(f"the likelihood of another text than {text!r:.40}")
        return read

    @property
    def total(self) -> float:
        return sum(self.logs)

    @property
    def bits_per_byte(self) -> float | None:
        """-log2 of the text's probability over its bytes in UTF-8; None if there is no likelihood of it."""
        size = sum(self.counts)
        return -self.total / math.log(2) / size if size else None
