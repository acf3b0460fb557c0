"""Which of a split's rows a run asks for: a window of days, a sample that represents all, a shard."""

from collections.abc import Sequence
from dataclasses import dataclass

from lm_eval_tasks.base.errors import DatasetError
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.data.options import Options


@dataclass(frozen=True, slots=True)
class Fact:
    """What decides whether a run asks for a sample: its paper, when it was published, its category."""

    paper: str
    published: str
    category: str


def chosen(facts: Sequence[Fact], config: str, options: Options, size: int | None) -> tuple[dict[int, int], int]:
    """The samples that a run asks for: from those in the window of days, `size` that represent all, and of these one shard.

    Returns:
        Each one's place among all samples of the split -> its place among those of all shards; and how many these are.

    Raises:
        DatasetError: none is left.
    """
    after, before = options.published_after, options.published_before
    kept = [
        i
        for i, fact in enumerate(facts)
        if (not after or fact.published > after) and (not before or fact.published < before)
    ]
    if not kept:
        raise DatasetError(f"no sample of {config} is left in the publication window; widen it or take another round")
    if size is not None:
        kept = representative_rows(kept, facts, size)
    places = {i: place for place, i in enumerate(kept)}
    if options.shard is None:
        return places, len(places)
    shard_places = {
        i: place
        for i, place in places.items()
        if _hash(facts[i].paper) % options.shard.count == options.shard.number - 1
    }
    if not shard_places:
        raise DatasetError(f"no sample of {config} falls into shard {options.shard}; use fewer shards")
    return shard_places, len(places)


def representative_rows(kept: Sequence[int], facts: Sequence[Fact], size: int) -> list[int]:
    """About `size` samples at equal distances, after sorting by month, category and a hash of the paper: a systematic sample, in which
    each month and category has its share.
    """
    ordered = sorted(kept, key=lambda i: (facts[i].published[:7], facts[i].category, _hash(facts[i].paper)))
    taken = min(size, len(ordered))
    return sorted(ordered[(2 * n + 1) * len(ordered) // (2 * taken)] for n in range(taken))


def _hash(paper: str) -> int:
    return int(sha256_of_bytes(paper)[:16], 16)
