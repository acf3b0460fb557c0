"""What a manifest says in numbers: of each configuration, of how its files were read, and of what its audit found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import msgspec

if TYPE_CHECKING:
    from lm_eval_tasks.base.intervals import Interval

# Shares of the samples that are at most this long.
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
# JSON of other languages holds whole numbers up to here.
Amount = Annotated[int, msgspec.Meta(ge=0, lt=1 << 53)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Positive = Annotated[float, msgspec.Meta(ge=0)]
Day = Annotated[str, msgspec.Meta(pattern=r"^((19|2\d)\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01]))?\Z")]
Month = Annotated[str, msgspec.Meta(pattern=r"^(19|2\d)\d\d-(0[1-9]|1[0-2])\Z")]
Label = Annotated[str, msgspec.Meta(max_length=500)]


@dataclass(frozen=True, slots=True)
class Bounds:
    """A mean and its 95 % interval over first authors, None with too few of them."""

    mean: Share
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, estimate: Interval) -> Bounds:
        """Round an estimate as a manifest holds it."""
        low, high = estimate.bounds or (None, None)
        return cls(round(estimate.mean, 4), low and round(low, 4), high and round(high, 4))


@dataclass(frozen=True, slots=True)
class KindStatistics:
    """What is known of the questions of one kind in a reading configuration.

    Attributes:
        n: how many, those in another order left out.
        labels: mean number of papers, passages or works to choose from.
        answers: mean number of right ones.
        empty: share of the questions that none answers.
        place: where the right ones stand on average, from 0, the first, to 1, the last; 0.5 if there are none.
        blind: what the best answer scores that does not depend on the context, by the headline metric.
        shortcut: what the family's shortcut scores.
        body_masks: Match: masks that only full texts solve.
    """

    n: Amount
    labels: Positive
    answers: Positive
    empty: Share
    place: Share
    blind: Share
    shortcut: Bounds
    body_masks: Amount = 0


@dataclass(frozen=True, slots=True)
class Statistics:
    """What is known of one split of a configuration.

    Attributes:
        samples, input_tokens, target_tokens: sums.
        first, last: ISO days, "" if the split is empty.
        input_lengths, target_lengths: tokens at each of `QUANTILES`, nothing if the split is empty.
        labels: SCALAR: how often each place holds the right candidate.
        shortcuts: baseline that does not read the paper -> its score: SCALAR's accuracy, ROUGE-L over content words of texts.
        kinds: reading families: kind of question -> what is known of it.
        detectable: the smallest difference between two models' mean scores that the samples show in four out of five
            cases (`base.intervals`); None if there are too few first authors, or it has not been computed.
        one_group: the share of the samples whose papers' authors are connected by co-authors among these papers, in the largest group;
            None if it has not been computed.
    """

    samples: Amount = 0
    input_tokens: Amount = 0
    target_tokens: Amount = 0
    first: Day = ""
    last: Day = ""
    licenses: dict[str, Amount] = field(default_factory=dict)
    input_lengths: tuple[Amount, ...] = ()
    target_lengths: tuple[Amount, ...] = ()
    labels: Annotated[tuple[Amount, ...], msgspec.Meta(max_length=100)] = ()
    detectable: Positive | None = None
    one_group: Share | None = None
    shortcuts: dict[Label, Bounds] = field(default_factory=dict)
    kinds: dict[Label, KindStatistics] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for lengths in (self.input_lengths, self.target_lengths):
            if len(lengths) not in (0, len(QUANTILES)) or sorted(lengths) != list(lengths):
                raise ValueError(f"lengths are given at {len(QUANTILES)} rising shares of the samples, or not at all")
        if self.labels and sum(self.labels) != self.samples:
            raise ValueError("there are not as many labels as samples")


@dataclass(frozen=True, slots=True)
class StageCounts:
    """What a finished stage did: the repeatable part of a report, the same for the same input however the stage was run.

    Attributes:
        given: papers that went in; kept and dropped together.
        dropped: reason -> number of papers.
        examples: reason -> up to five ids.
        mended: what was left out of the records of kept papers -> of how many.
    """

    stage: str
    given: int
    kept: int
    dropped: dict[str, int]
    examples: dict[str, list[str]]
    mended: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReadingSummary:
    """How well a round's files were read.

    Attributes:
        documents: kind of file -> documents of that kind that are used.
        means: name of a figure of `builder.records.Quality` -> its mean over them.
    """

    documents: dict[str, int]
    means: dict[str, float]


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit found; `builder.dataset.audit` makes it.

    Attributes:
        shares: check -> share of samples, over all settings, in which it was found.
        counts: check -> how often.
        examples: check -> up to three "Setting id" that show it.
        longest_run: words of the longest run that a target shares with its prompt.
        months, categories: papers of each.
        active_authors: share of the papers by the 20 most active first authors.
    """

    samples: Amount
    shares: dict[Label, Share]
    counts: dict[str, Amount]
    examples: dict[str, list[str]]
    longest_run: Amount
    months: dict[Month, Amount]
    categories: dict[Label, Amount]
    active_authors: Share
