"""How much of what reading brings is kept when more text stands around it, of families that ask the same rows in longer contexts.

What is recalled at a size is the score without what is to be read minus the score with it, paired by row; a share kept is that over what is
recalled alone, as a ratio of sums over the same rows. A size is held if the lower 95 % bound of its share is at least .85, a threshold
after RULER (arXiv 2404.06654); lost if the upper bound is below; else undecided. Nothing is said of rows by fewer than 24 first authors, or
by fewer than 22 that count alike by what is recalled alone, nor where that is less than three standard errors or a row has no score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import takewhile
from statistics import fmean
from typing import TYPE_CHECKING, Literal

from lm_eval_tasks.base.intervals import Interval, difference, mean_of
from lm_eval_tasks.base.tables import Table, with_bounds
from lm_eval_tasks.families.answering import answering_of
from lm_eval_tasks.families.descriptor import Kept
from lm_eval_tasks.stats.ratios import Sums, ratio, ratio_difference, sums
from lm_eval_tasks.tasks.catalogue import tasks_of

if TYPE_CHECKING:
    from lm_eval_tasks.samples.prompt_row import PromptRow
    from lm_eval_tasks.samples.sample import Sample

# First authors, and those of them that count alike: where a few recall most, too many sizes that are not held are called so. Standard
# errors of what is recalled alone, and the share that counts as held.
FEWEST, FEWEST_EFFECTIVE, ERRORS, HELD = 24, 22.0, 3.0, 0.85
Verdict = Literal["held", "lost", "undecided", "-"]
_WINDOW = "the rest does not fit the model's window"
OF_A_PART = "of a part of the rows"
# What names of rows that were asked through a chat template end in.
CHAT = " chat"


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """A row's score, its first author, the part of the rows that it belongs to, what it scores in kinds of what it asks, and what tells
    it from other rows of its id.
    """

    score: float
    cluster: str
    part: str = ""
    kinds: Mapping[str, float] = field(default_factory=dict)
    identity: object = None


# By the ids of rows.
Rows = Mapping[str, ScoredRow]


@dataclass(frozen=True, slots=True)
class KeptShare:
    """One size of one model.

    Attributes:
        score: its mean.
        recalled: what it is lower than without, over the rows that have both.
        share: of what is recalled alone; None where it is not stated.
        by_length: the share if what the length alone costs is left out: against the same size without what is to be read; None likewise.
        parts: part of the rows, or kind of what they ask -> its share, without an interval.
    """

    configuration: str
    score: float
    recalled: Interval
    share: Interval | None
    by_length: Interval | None
    parts: Mapping[str, float]

    @property
    def verdict(self) -> Verdict:
        bounds = self.share.bounds if self.share else None
        if bounds is None:
            return "-"
        return "held" if bounds[0] >= HELD else "lost" if bounds[1] < HELD else "undecided"


def kept_of(samples: Sequence[Sample]) -> list[KeptShare]:
    """Return what is kept at each size that a run asked, from the evidence alone to the largest; of one that asked through a chat template
    and without, one after the other.
    """
    kept = _asked_for(samples)
    if kept is None:
        return []
    return [each for of_format in _by_format(samples).values() for each in _kept_alike(of_format, kept)]


def _by_format(samples: Sequence[Sample]) -> dict[str, list[Sample]]:
    """Return samples by what their rows' names say of the format, as those through a chat template recall other bits; "" is the usual."""
    formats: dict[str, list[Sample]] = {}
    for sample in samples:
        formats.setdefault(CHAT if sample.row.chat else "", []).append(sample)
    return dict(sorted(formats.items()))


def _kept_alike(samples: Sequence[Sample], kept: Kept) -> list[KeptShare]:
    return kept_over(_by_configuration(samples, kept), kept, _unscored(samples))


def _unscored(samples: Sequence[Sample]) -> set[str]:
    """Return the configurations of which a row has no score."""
    return {sample.row.setting for sample in samples if sample.row.ranking.name not in sample.scores}


def _asked_for(samples: Sequence[Sample]) -> Kept | None:
    """Return what the family of a run says of its configurations; None if it asks nothing again in longer contexts."""
    return next((sample.row.family.kept for sample in samples if sample.row.family.kept), None)


def _by_configuration(samples: Sequence[Sample], kept: Kept) -> dict[str, dict[str, ScoredRow]]:
    rows: dict[str, dict[str, ScoredRow]] = {}
    for sample in samples:
        row = sample.row
        if row.setting in kept.names and row.ranking.name in sample.scores:
            part = answering_of(row.task).part_of(row)
            kinds = {kind: sample.scores[name] for name, kind in kept.kinds.items() if name in sample.scores}
            scored = ScoredRow(sample.scores[row.ranking.name], sample.cluster, part, kinds, sample.identity)
            rows.setdefault(row.setting, {})[sample.id] = scored
    return rows


def kept_over(rows: Mapping[str, Rows], kept: Kept, unscored: Set[str] = frozenset()) -> list[KeptShare]:
    """Return the same of rows by their configuration; nothing if they were not asked alone, or not without.

    Args:
        unscored: configurations of which a row has no score, which may be what is lost: of them no share is stated.
    """
    sizes = sorted(kept.sizes, key=kept.sizes.__getitem__)
    at_places = _at_places(rows.get(kept.at_places, {}), kept)
    of_both = rows.get(kept.alone, {}).keys() & rows.get(kept.without, {}).keys()
    known = {**rows, **at_places}
    # With a limit, a size may have none of the rows that were asked alone.
    asked = [name for name in (kept.alone, *sizes, *at_places) if of_both & known.get(name, {}).keys()]
    return [_share(name, known, kept, unscored) for name in asked]


def _at_places(rows: Rows, kept: Kept) -> dict[str, dict[str, ScoredRow]]:
    """Return, for each part of the rows, its rows by the ids that they have elsewhere, under a name of their own."""
    parts: dict[str, dict[str, ScoredRow]] = {}
    for id_, row in rows.items():
        parts.setdefault(row.part, {})[id_.removesuffix(f"-{row.part}")] = row
    return {f"{kept.at_places} {part}": parts[part] for part in kept.parts if part in parts}


def _share(name: str, rows: Mapping[str, Rows], kept: Kept, unscored: Set[str]) -> KeptShare:
    alone, without, sized = rows[kept.alone], rows[kept.without], rows[name]
    ids = [id_ for id_ in sized if id_ in without and id_ in alone]
    authors = [sized[id_].cluster for id_ in ids]
    recalled = _minus(without, sized, ids)
    of_alone = _minus(without, alone, ids)
    score = fmean(sized[id_].score for id_ in ids)
    known = KeptShare(name, score, difference(recalled, authors), None, None, {})
    own = name if name in kept.names else kept.at_places
    if name == kept.alone or {kept.alone, kept.without, own} & unscored:
        return known
    share = _stated(recalled, of_alone, authors)
    if share is None:
        return known
    at_length = kept.withouts.get(name, "")
    longer = {} if at_length in unscored else rows.get(at_length, {})
    both = [id_ for id_ in ids if id_ in longer]
    authors_of_both = [sized[id_].cluster for id_ in both]
    by_length = _stated(_minus(longer, sized, both), _minus(without, alone, both), authors_of_both)
    parts = dict(_by_part(ids, sized, recalled, of_alone, kept.parts))
    parts |= dict(_by_kind(ids, alone, without, sized, kept.kinds.values()))
    return replace(known, share=ratio(share), by_length=ratio(by_length) if by_length else None, parts=parts)


def _stated(recalled: Sequence[float], alone: Sequence[float], authors: Sequence[str]) -> Sums | None:
    """Return what is recalled over what is recalled alone; None where no share of it is stated."""
    if not _is_clear(alone, authors):
        return None
    over = sums(recalled, alone, authors)
    return over if over.effective >= FEWEST_EFFECTIVE else None


def _is_clear(alone: Sequence[float], authors: Sequence[str]) -> bool:
    """Tell whether there are enough first authors, and enough is recalled alone."""
    if len(set(authors)) < FEWEST:
        return False
    recalled = mean_of(alone, authors)
    return recalled.value > 0 and recalled.value >= ERRORS * recalled.error


def _minus(more: Rows, fewer: Rows, ids: Sequence[str]) -> list[float]:
    return [more[id_].score - fewer[id_].score for id_ in ids]


def _by_part(
    ids: Sequence[str], sized: Rows, recalled: Sequence[float], alone: Sequence[float], order: Sequence[str]
) -> Iterator[tuple[str, float]]:
    """Yield the share of each part of the rows, by where they have what is to be read."""
    parts = [sized[id_].part for id_ in ids]
    for part in order:
        mine = [i for i, name in enumerate(parts) if name == part]
        below = sum(alone[i] for i in mine)
        if below > 0:
            yield part, sum(recalled[i] for i in mine) / below


def _by_kind(
    ids: Sequence[str], alone: Rows, without: Rows, sized: Rows, kinds: Iterable[str]
) -> Iterator[tuple[str, float]]:
    """Yield the share of each kind of what the rows ask, where it is stated."""
    for kind in kinds:
        mine = [id_ for id_ in ids if all(kind in rows[id_].kinds for rows in (alone, without, sized))]
        of_alone = [without[id_].kinds[kind] - alone[id_].kinds[kind] for id_ in mine]
        if _is_clear(of_alone, [sized[id_].cluster for id_ in mine]):
            yield kind, sum(without[id_].kinds[kind] - sized[id_].kinds[kind] for id_ in mine) / sum(of_alone)


def reach_of(kept: Sequence[KeptShare], sizes: Mapping[str, int], ended: str = "") -> str:
    """Say how far a model holds: of the sizes that it was asked, in order, the first that is not held ends it. Sizes between them that it
    was not asked are named.

    Args:
        ended: why no larger size was asked.
    """
    every = [each for each in kept if each.configuration in sizes]
    asked = [each for each in every if each.share]
    if not asked:
        return ""
    held = list(takewhile(lambda each: each.verdict == "held", asked))
    verdicts = [each.verdict for each in asked]
    names = [each.configuration for each in every]
    gaps = _between(names, sizes)
    named = ", ".join(names) + (f", but not {', '.join(gaps)}" if gaps else "")
    unstated = [each.configuration for each in every if not each.share]
    named += f"; not stated: {', '.join(unstated)}" if unstated else ""
    reach = f"held to {held[-1].configuration}" if held else "no size held"
    loss = "no size lost"
    if "lost" in verdicts:
        at = verdicts.index("lost")
        is_held_again = "held" in verdicts[at:]
        loss = f"lost {'at' if is_held_again else 'from'} {asked[at].configuration}"
        loss += " and held at a larger size" if is_held_again else ""
    why = f" ({ended})" if ended else ""
    return f"{reach}, {loss}; asked: {named}{why}"


def _between(asked: Sequence[str], sizes: Mapping[str, int]) -> list[str]:
    """List the sizes between the smallest and the largest that were not asked."""
    order = sorted(sizes, key=sizes.__getitem__)
    return [name for name in order[order.index(asked[0]) : order.index(asked[-1])] if name not in asked]


def _ended(samples: Sequence[Sample], asked: Sequence[str], kept: Kept, window: int | None) -> str:
    """Say what ended the sizes that a run asked: the model's window, the round, or what was typed."""
    rows = [sample.row for sample in samples if sample.row.setting in kept.names]
    counts = Counter(row.setting for row in rows)
    # A window takes rows from the longer contexts alone, a shard from all, and a limit from what is asked at all.
    lacking = {row.setting for row in rows if counts[row.setting] < (row.positions or 0)}
    tasks = [tasks_of(name) for name in asked]
    typed = {of_name[0].configuration for of_name in tasks if len(of_name) == 1}
    if (lacking and kept.alone not in lacking) or typed & kept.sizes.keys() - counts.keys():
        return _WINDOW
    if lacking or any((row.positions or 0) < (row.of or 0) for row in rows):
        return OF_A_PART
    if not asked:
        return ""
    if all(len(of_name) == 1 for of_name in tasks):
        return "as chosen"
    return _WINDOW if window and _next_length(rows, kept) > window else "all that the round has"


def _next_length(rows: Sequence[PromptRow], kept: Kept) -> float:
    """Estimate how many of the model's tokens the longest prompt of the next size would have, from the largest that was asked."""
    sized = [row for row in rows if row.setting in kept.sizes]
    largest = max((kept.sizes[row.setting] for row in sized), default=0)
    longest = max((row.tokens_before for row in sized if kept.sizes[row.setting] == largest), default=0)
    larger = min((size for size in kept.sizes.values() if size > largest), default=0)
    return longest * larger / largest if largest else 0.0


def share_differences(
    first: Sequence[Sample], second: Sequence[Sample]
) -> Iterator[tuple[str, float, float, Interval, tuple[int, int]]]:
    """Yield configuration, share of the first run and of the second, and how much more the second keeps, over the rows that both have; with
    how many rows each has. Only where both are stated, and asked in one format.
    """
    kept = _asked_for(first)
    if kept is None:
        return
    theirs = _by_format(second)
    for way, samples in _by_format(first).items():
        for name, ours, other, apart, counts in _differences(samples, theirs.get(way, []), kept):
            yield f"{name}{way}", ours, other, apart, counts


def _differences(
    first: Sequence[Sample], second: Sequence[Sample], kept: Kept
) -> Iterator[tuple[str, float, float, Interval, tuple[int, int]]]:
    ours, theirs = _by_configuration(first, kept), _by_configuration(second, kept)
    scored = (ours.keys() & theirs.keys()) - _unscored(first) - _unscored(second)
    for name in kept.sizes if {kept.alone, kept.without} <= scored else ():
        apart = _apart(name, ours, theirs, kept) if name in scored else None
        if apart:
            yield apart


def _apart(
    name: str, ours: Mapping[str, Rows], theirs: Mapping[str, Rows], kept: Kept
) -> tuple[str, float, float, Interval, tuple[int, int]] | None:
    """Compare what two runs keep at a size; None where a share over the rows that both have is not stated."""
    of_size = (kept.without, kept.alone, name)
    both = [(ours[configuration], theirs[configuration]) for configuration in of_size]
    ids = [id_ for id_ in ours[name] if all(_is_same(first.get(id_), second.get(id_)) for first, second in both)]
    clusters = [ours[name][id_].cluster for id_ in ids]
    first, second = (
        _stated(
            _minus(rows[kept.without], rows[name], ids), _minus(rows[kept.without], rows[kept.alone], ids), clusters
        )
        for rows in (ours, theirs)
    )
    if first is None or second is None:
        return None
    sizes = len(ours[name]), len(theirs[name])
    return name, first.value, second.value, ratio_difference(first, second), sizes


def _is_same(row: ScoredRow | None, other: ScoredRow | None) -> bool:
    return row is not None and other is not None and row.identity == other.identity


def shown_kept(
    samples: Sequence[Sample], asked: Sequence[str] = (), window: int | None = None
) -> Iterator[str | Table]:
    """Yield what a run keeps, if it was asked alone and without.

    Args:
        asked: the names of tasks and groups that the run was given.
        window: tokens that prompts had to fit into; None if nothing limited them.
    """
    known = _asked_for(samples)
    if known is None:
        return
    for way, of_format in _by_format(samples).items():
        yield from _shown_alike(of_format, way, known, _ended(of_format, asked, known, window))


def _shown_alike(samples: Sequence[Sample], way: str, known: Kept, ended: str) -> Iterator[str | Table]:
    kept = _kept_alike(samples, known)
    if not kept:
        return
    parts = list(dict.fromkeys(part for each in kept for part in each.parts))
    head = ("Configuration", "n", "Bits", "Recalled [95%]", "Share kept [95%]", "Verdict")
    beside = ("Share by length [95%]", *(f"Kept, {part}" for part in parts))
    yield from (
        "",
        Table((*head, *beside), "lrrrrl" + "r" * len(beside), [_row(each, way, parts) for each in kept], main=head),
    )
    said = reach_of(kept, known.sizes, ended)
    yield from (("", said) if said else ())
    if not all(each.share for each in kept if each.configuration != known.alone):
        yield from (
            "",
            f"No share is stated below {FEWEST} first authors, nor where a few of them recall most, nor where less is recalled alone than "
            f"{ERRORS:g} standard errors, nor where a row has no score.",
        )


def _row(each: KeptShare, way: str, parts: Sequence[str]) -> tuple[object, ...]:
    return (
        f"{each.configuration}{way}",
        each.recalled.samples,
        f"{each.score:.2f}",
        with_bounds(each.recalled.mean, each.recalled.low, each.recalled.high, ".2f"),
        _bounded(each.share),
        each.verdict,
        _bounded(each.by_length),
        *(f"{each.parts[part]:.2f}" if part in each.parts else "-" for part in parts),
    )


def _bounded(interval: Interval | None) -> str:
    return "-" if interval is None else with_bounds(interval.mean, interval.low, interval.high, ".2f")
