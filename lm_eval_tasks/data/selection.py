"""Which of a split's rows a run asks for: a window of days, a sample that represents all, a shard."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from lm_eval_tasks.base.errors import DatasetError
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.data.opened import TypedRows
from lm_eval_tasks.data.options import Options

_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class Fact:
    """What decides whether a run asks for a sample: its paper, when it was published, its category."""

    paper: str
    published: str
    category: str


@dataclass(frozen=True, slots=True)
class Selection:
    """The samples that a run asks for.

    Attributes:
        positions: number of a sample among all of the split -> its position among those of all shards.
        count: how many samples all shards have.
    """

    positions: dict[int, int]
    count: int


@dataclass(frozen=True, slots=True)
class Asked(Generic[_Row]):
    """The rows of a split, and which of them a run asks for."""

    all: TypedRows[_Row]
    selection: Selection

    @property
    def rows(self) -> list[_Row]:
        return [self.all[number] for number in self.selection.positions]

    @property
    def positions(self) -> list[int]:
        return list(self.selection.positions.values())


def chosen(facts: Sequence[Fact], config: str, options: Options, size: int | None) -> Selection:
    """Choose the samples that a run asks for: from those in the window of days, `size` that represent all, and of these one shard.

    Raises:
        DatasetError: none is left.
    """
    kept = [i for i, fact in enumerate(facts) if _is_between(fact.published, options)]
    if not kept:
        raise DatasetError(f"no sample of {config} is left in the publication window; widen it or take another round")
    if size is not None:
        kept = representative_rows(kept, facts, size)
    positions = {i: position for position, i in enumerate(kept)}
    if options.shard is None:
        return Selection(positions, len(positions))
    number, count = options.shard.number - 1, options.shard.count
    of_shard = {i: position for i, position in positions.items() if _hash(facts[i].paper) % count == number}
    if not of_shard:
        raise DatasetError(f"no sample of {config} falls into shard {options.shard}; use fewer shards")
    return Selection(of_shard, len(positions))


def _is_between(published: str, options: Options) -> bool:
    after, before = options.published_after, options.published_before
    return (not after or published > after) and (not before or published < before)


def representative_rows(kept: Sequence[int], facts: Sequence[Fact], size: int) -> list[int]:
    """Choose about `size` samples at equal distances, after sorting by month, category and a hash of the paper: a systematic sample, in
    which each month and category has its share.
    """
    ordered = sorted(kept, key=lambda i: (facts[i].published[:7], facts[i].category, _hash(facts[i].paper)))
    taken = min(size, len(ordered))
    return sorted(ordered[(2 * n + 1) * len(ordered) // (2 * taken)] for n in range(taken))


def _hash(paper: str) -> int:
    return int(sha256_of_bytes(paper)[:16], 16)
