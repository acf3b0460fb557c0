"""What asking a model may cost: a question is asked only while even its dearest answer stays within the limit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from lm_eval_tasks.base.errors import CostError, OptionError
from lm_eval_tasks.llm.usage import Price, Usage

# Hardly any text has fewer characters per token.
CHARACTERS_OF_TOKEN = 3
# What a chat template may add to a prompt.
_AROUND = 64


@dataclass(frozen=True, slots=True)
class Means:
    """What a run may use.

    Attributes:
        price: what the model's tokens cost.
        max_cost: the most that all answers of the output folder may cost together.
    """

    price: Price | None = None
    max_cost: float | None = None

    def check(self) -> None:
        """Raise an OptionError if a limit is set without the prices to check it."""
        if self.max_cost is not None and self.price is None:
            raise OptionError("--max-cost needs a table of prices: --prices FILE")

    def budget(self, spent: Iterable[Usage]) -> Budget | None:
        """The budget of a run; None if it has no limit.

        Args:
            spent: on existing answers.

        Raises:
            OptionError: it is not known what one of these cost.
        """
        if self.max_cost is None or self.price is None:
            return None
        before = list(spent)
        if any(usage.tokens_in is None or usage.tokens_out is None for usage in before):
            raise OptionError(
                "--max-cost cannot be kept here: answers of an earlier run without it do not say how many tokens they took; give "
                "this run its own --output folder"
            )
        return Budget(self.max_cost, self.price, before)

    def cost(self, usages: Iterable[Usage]) -> float | None:
        """What answers cost; None without a price, or if the tokens of an answer are not known."""
        all_usages = list(usages)
        if self.price is None or any(usage.tokens_in is None or usage.tokens_out is None for usage in all_usages):
            return None
        return sum(map(self.price.of, all_usages))


class Budget:
    """The most that a run may cost, and what it has cost.

    Args:
        limit: in the unit of the prices.
        spent: on existing answers.
    """

    def __init__(self, limit: float, price: Price, spent: Iterable[Usage] = ()) -> None:
        self._limit, self._price = limit, price
        self._paid = sum(map(price.of, spent))
        self._promised = 0.0

    def take(self, most: Usage) -> None:
        """Set aside what a question can take at most.

        Raises:
            CostError: that could pass the limit.
        """
        cost = self._price.of(most)
        if self._paid + self._promised + cost > self._limit:
            raise CostError(
                f"stopped at a cost of {self._paid:.4f}: the next question could pass --max-cost {self._limit:g}; answers are kept, and "
                "the same command with a higher --max-cost resumes from them"
            )
        self._promised += cost

    def settle(self, most: Usage, usage: Usage) -> None:
        """Note what a question took; what is not known of that, as the most that it could take."""
        self._promised -= self._price.of(most)
        self._paid += self._price.of(at_most(usage, most))


def at_most(usage: Usage, most: Usage) -> Usage:
    """What is known of a question's tokens, and for what is not the most that it could take."""
    known = {name: value for name in ("tokens_in", "tokens_out") if (value := getattr(usage, name)) is not None}
    return replace(usage, **{"tokens_in": most.tokens_in, "tokens_out": most.tokens_out, **known})


def most_tokens(prompt: str, prompt_tokens: int | None, answer_tokens: int) -> Usage:
    """The most that a question can take; without the model's tokenizer, the prompt is counted in characters."""
    return Usage((prompt_tokens or len(prompt) // CHARACTERS_OF_TOKEN) + _AROUND, answer_tokens)


@contextmanager
def charge(budget: Budget | None, most: Usage) -> Iterator[Callable[[Usage], None]]:
    """Set a question's cost aside while it is asked, and settle it with what is handed over; with nothing if it failed.

    Raises:
        CostError: the question could pass the limit.
    """
    if budget:
        budget.take(most)
    used = [Usage(0, 0)]
    try:
        yield used.append
    finally:
        if budget:
            budget.settle(most, used[-1])
