"""What answers use: tokens as the engine or server counts them, their price, and what asking may cost: a question is asked only while even
its dearest answer stays within the limit.
"""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path

from lm_eval_tasks.base.contract import CAPPED
from lm_eval_tasks.base.errors import CostError, OptionError
from lm_eval_tasks.base.typed import MOST, Count, Rate

# Hardly any text has fewer characters per token.
CHARACTERS_OF_TOKEN = 3
# Of sums of money.
_ROUNDING = 1e-9
# What a chat template may add to a prompt.
_AROUND = 64


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer, and why it ended; None and "" for what is not known.

    Attributes:
        tokens_out: of the answer, its reasoning included.
        reasoning_tokens: those of the reasoning.
        cached_tokens: those of the prompt that the server had in its cache.
        finish: "stop", "length", or another word that the server uses.
        served: the model that the server said it was.
    """

    tokens_in: int | None = None
    tokens_out: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    finish: str = ""
    served: str = ""

    @classmethod
    def of_response(cls, usage: object, finish: object) -> Usage:
        """Read the `usage` of an OpenAI-compatible answer, to which its `model` was added
        (https://platform.openai.com/docs/api-reference/chat/object).
        """
        fields = usage if isinstance(usage, Mapping) else {}
        return cls(
            tokens_in=_count(fields, "prompt_tokens"),
            tokens_out=_count(fields, "completion_tokens"),
            reasoning_tokens=_count(fields.get("completion_tokens_details"), "reasoning_tokens"),
            cached_tokens=_count(fields.get("prompt_tokens_details"), "cached_tokens"),
            finish=finish_of(finish),
            served=_word(fields.get("model")),
        )

    @classmethod
    def of_json(cls, content: object) -> Usage:
        """Read what `to_json` wrote, or totals; a field that is not what it should be is unknown."""
        fields = content if isinstance(content, Mapping) else {}
        tokens = {name: _count(fields, name, int(MOST)) for name in _TOKENS}
        return cls(**tokens, finish=_word(fields.get("finish")), served=_word(fields.get("served")))

    def plus(self, other: Usage) -> Usage:
        """Return the tokens of both: unknown where its own are, and as few as none where the other's are."""
        own = {name: getattr(self, name) for name in _TOKENS}
        tokens = {name: None if n is None else n + (getattr(other, name) or 0) for name, n in own.items()}
        return Usage(**tokens, finish=self.finish, served=self.served)

    def to_json(self) -> dict[str, object]:
        return {name: value for name, value in asdict(self).items() if value not in (None, "")}


# More than any model reads or writes; a server may say anything.
_MOST_TOKENS, _LONGEST_NAME = 10**9, 200
_AT_CAP = frozenset(("length", "max_tokens", "max_output_tokens", "max_length", "model_length"))
_COUNTED = ("finish", "served")
_TOKENS = ("tokens_in", "tokens_out", "reasoning_tokens", "cached_tokens")


def finish_of(word: object) -> str:
    """Return why an answer ended, by whatever word a server uses for an answer that reached its cap."""
    said = _word(word)
    return CAPPED if said.lower() in _AT_CAP else said


def _word(value: object) -> str:
    """Read a word, or of counted words the first; "" for anything else."""
    word = next(iter(value), "") if isinstance(value, dict) else value
    return word[:_LONGEST_NAME] if isinstance(word, str) else ""


def _count(fields: object, name: str, most: int = _MOST_TOKENS) -> int | None:
    value = fields.get(name) if isinstance(fields, Mapping) else None
    return value if type(value) is int and 0 <= value <= most else None


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageTotals:
    """What the answers of a run used; None for what is not known.

    Attributes:
        finish: why answers ended -> how many did.
        served: model that a server said it was -> answers by it.
        answers: that the run consists of.
        untold: of these, those whose tokens nobody told; None if there are none, or nobody told any.
        unanswered: of these, empty ones that the next run asks for again.
        asked_in_this_run: the others were in the journal.
        retries: requests that a server was sent again.
        cost: in the unit of the price table, with what lost requests may have cost.
        lost: requests whose usage nobody told.
        cost_of_lost: the most that these may have cost.
    """

    tokens_in: Count | None = None
    tokens_out: Count | None = None
    reasoning_tokens: Count | None = None
    cached_tokens: Count | None = None
    finish: dict[str, Count] = field(default_factory=dict)
    served: dict[str, Count] = field(default_factory=dict)
    answers: Count | None = None
    untold: Count | None = None
    unanswered: Count | None = None
    asked_in_this_run: Count | None = None
    seconds: Rate | None = None
    retries: Count | None = None
    cost: Rate | None = None
    lost: Count | None = None
    cost_of_lost: Rate | None = None

    @classmethod
    def of(cls, usages: Iterable[Usage]) -> UsageTotals:
        """Sum over answers: each kind of tokens over those that report it, None if none does; and counts of each finish."""
        all_usages = list(usages)
        sums: dict[str, int | None] = {}
        for name in _TOKENS:
            counts = [getattr(usage, name) for usage in all_usages]
            known = [count for count in counts if count is not None]
            sums[name] = sum(known) if known else None
        silent = sum(usage.tokens_in is None and usage.tokens_out is None for usage in all_usages)
        untold = silent if 0 < silent < len(all_usages) else None
        finish = Counter(sorted(usage.finish for usage in all_usages if usage.finish))
        served = Counter(sorted(usage.served for usage in all_usages if usage.served))
        return cls(**sums, untold=untold, finish=dict(finish), served=dict(served))


def usage_together(usages: Sequence[UsageTotals]) -> UsageTotals:
    """Return the usage of several runs; None for what one of them does not know."""
    words = ([Counter(getattr(usage, name)) for usage in usages] for name in _COUNTED)
    finish, served = (sum(counts, Counter[str]()) for counts in words)
    names = [column.name for column in fields(UsageTotals) if column.name not in _COUNTED]
    values = {name: [getattr(usage, name) for usage in usages] for name in names}
    sums = {name: None if None in each else sum(each) for name, each in values.items()}
    # These are None where all was told.
    for name in ("untold", "lost", "cost_of_lost"):
        sums[name] = sum(filter(None, values[name])) or None
    return UsageTotals(**sums, finish=dict(sorted(finish.items())), served=dict(sorted(served.items())))


@dataclass(frozen=True, slots=True)
class Price:
    """What a million of a model's tokens cost; `cached` of prompt tokens from the server's cache."""

    input: float
    output: float
    cached: float

    def of(self, usage: Usage) -> float:
        """Return the price of an answer; what is not known about it counts as nothing."""
        cached = min(usage.cached_tokens or 0, usage.tokens_in or 0)
        fresh = (usage.tokens_in or 0) - cached
        return (fresh * self.input + cached * self.cached + (usage.tokens_out or 0) * self.output) / 1_000_000


def read_price(path: Path, model: str) -> Price:
    """Return a model's price from a table: TOML with a table for each model, `input`, `output`, and optionally `cached`; an OptionError if
    the file cannot be read, or has no such model.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as err:
        raise OptionError(f"the price table {path} cannot be read: {err.strerror or err}") from err
    except (ValueError, RecursionError) as err:
        raise OptionError(f"the price table {path} is not TOML ({err})") from err
    if not model:
        raise OptionError("the price table needs the model's name: add pretrained=... or model=... to --model_args")
    entry = tables.get(model)
    if not isinstance(entry, dict):
        models = ", ".join(name for name, table in tables.items() if isinstance(table, dict)) or "none"
        hint = f'; write ["{model}"], because a dot without quotes opens a table within another' * ("." in model)
        raise OptionError(f"the price table {path} has no model {model!r}; it has {models}{hint}")
    values = {"cached": entry.get("input"), **entry}
    for name in ("input", "output", "cached"):
        value = values.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise OptionError(f"the price table {path} has no {name} for {model!r} that is a number of at least 0")
    return Price(*(float(values[name]) for name in ("input", "output", "cached")))


@dataclass(frozen=True, slots=True)
class Means:
    """What a run may use: the price of the model's tokens, and the most that all answers of the output folder may cost together."""

    price: Price | None = None
    max_cost: float | None = None

    def check(self) -> None:
        """Raise an OptionError if a limit is set without the prices to check it."""
        if self.max_cost is not None and self.price is None:
            raise OptionError("--max-cost needs a table of prices: --prices FILE")

    def budget(self, spent: Iterable[Usage]) -> Budget | None:
        """Return the budget of a run after what was spent on existing answers, None if it has no limit; an OptionError if it is not known
        what one of these cost.
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
        """Return what answers cost; None without a price, or if the tokens of an answer are not known."""
        all_usages = list(usages)
        if self.price is None or any(usage.tokens_in is None or usage.tokens_out is None for usage in all_usages):
            return None
        return sum(map(self.price.of, all_usages))


def with_costs(totals: UsageTotals, usages: Sequence[Usage], means: Means, lost: tuple[int, Usage]) -> UsageTotals:
    """Return totals with what answers cost, and what requests may have cost, given by their number, of which nobody told the usage."""
    number, most = lost
    cost_of_lost = means.cost([most]) if number else None
    return replace(totals, cost=means.cost([*usages, most]), lost=number or None, cost_of_lost=cost_of_lost)


class Budget:
    """The most that a run may cost, in the unit of the prices, and what it has cost, existing answers included."""

    def __init__(self, limit: float, price: Price, spent: Iterable[Usage] = ()) -> None:
        self._limit, self._price = limit, price
        self._paid = sum(map(price.of, spent))
        self._promised = 0.0

    def awaits(self, most: Usage) -> bool:
        """Tell whether a question is within the limit if those under way take less than is set aside for them."""
        needed = self._paid + self._price.of(most)
        return needed <= self._limit + _ROUNDING < needed + self._promised

    def take(self, most: Usage) -> None:
        """Set aside what a question can take at most; a CostError if that could pass the limit."""
        cost = self._price.of(most)
        if self._paid + self._promised + cost > self._limit + _ROUNDING:
            raise CostError(
                f"stopped at a cost of {self._paid:.4f}: the next question could pass --max-cost {self._limit:g}; answers are kept, and "
                "the same command with a higher --max-cost resumes from them"
            )
        self._promised += cost

    def check(self) -> None:
        """Raise a CostError if requests that were lost have used up what was set aside for others."""
        if self._paid + self._promised > self._limit + _ROUNDING:
            raise CostError(
                f"stopped at a cost of up to {self._paid:.4f}, requests without a known usage included: the next one could pass --max-cost "
                f"{self._limit:g}; answers are kept, and the same command with a higher --max-cost resumes from them"
            )

    def settle(self, most: Usage, usage: Usage) -> None:
        """Note what a question took; what is not known of that, as the most that it could take."""
        self._promised -= self._price.of(most)
        self.pay(at_most(usage, most))

    def pay(self, usage: Usage) -> None:
        """Note what a response without an answer was charged; what is not known of that counts as nothing."""
        self._paid += self._price.of(usage)


def dearest(usages: Iterable[Usage]) -> Usage:
    """Return as many tokens as any of these has, of each kind."""
    each = list(usages)
    return Usage(
        tokens_in=max((one.tokens_in or 0 for one in each), default=0),
        tokens_out=max((one.tokens_out or 0 for one in each), default=0),
    )


def at_most(usage: Usage, most: Usage) -> Usage:
    """Return what is known of a question's tokens, and for what is not the most that it could take."""
    return replace(
        usage,
        tokens_in=most.tokens_in if usage.tokens_in is None else usage.tokens_in,
        tokens_out=most.tokens_out if usage.tokens_out is None else usage.tokens_out,
    )


def most_tokens(prompt: str, prompt_tokens: int | None, answer_tokens: int) -> Usage:
    """Return the most that a question can take; without the model's tokenizer, a token for each byte of the prompt, which no tokenizer
    passes.
    """
    return Usage((prompt_tokens or len(prompt.encode())) + _AROUND, answer_tokens)
