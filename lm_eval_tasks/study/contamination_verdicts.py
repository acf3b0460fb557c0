"""What `academiceval study contamination` says of its estimates: a sentence for each, and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lm_eval_tasks.core.power import POWER, detectable
from lm_eval_tasks.core.tables import Table, bounds_text
from lm_eval_tasks.study.contamination import Effect, by_age
from lm_eval_tasks.study.jumps import FAR

if TYPE_CHECKING:
    from lm_eval_tasks.study.exposure import Observation


def verdicts(estimates: Sequence[Effect]) -> Iterator[str]:
    """A sentence for each model and estimate that is no placebo."""
    if any(effect.p is not None for effect in estimates) and not any(
        effect.p is not None for effect in estimates if effect.what.startswith("placebo")
    ):
        yield "no placebo can be computed from these runs, so nothing checks the estimates"
    asked = [effect for effect in estimates if not effect.what.startswith("placebo")]
    if not asked:
        yield 'cannot be told: all papers are newer than all cut-offs; run the older splits too (--metadata \'{"split": "all"}\')'
    for effect in asked:
        yield f"{effect.model}, {effect.what}: {_verdict(effect)}"


def _verdict(effect: Effect) -> str:
    gain = effect.gain
    if gain.why:
        return f"cannot be told, because {gain.why}"
    if effect.p is None or gain.over is None:
        return (
            f"cannot be told, because the {gain.papers} papers that tell it have too few first authors, {gain.authors}"
        )
    if effect.distrusted:
        return f"not trustworthy here: {effect.distrusted}"
    if not gain.over.error:
        return "cannot be told, because its scores do not vary"
    least = detectable(gain.over.error, gain.over.freedom)
    if effect.is_found:
        return (
            f"scores higher on papers that it may have seen ({_found(effect)}; p {_p(effect.corrected_p)}, corrected)"
        )
    return (
        f"no sign of memory; a mean gain of {least:.3f} would have been noticed in {POWER:.0%} of such studies before "
        "correction for several models"
    )


def _found(effect: Effect) -> str:
    """In what way a model scores higher."""
    far, mean = effect.jumps, f"{effect.gain.value:+.4f} on average"
    jumped = f"far above the others on {far.seen} of {far.of_seen} of them" if far and far.seen else ""
    return (
        f"{jumped}, {mean} over all"
        if jumped and effect.gain.value <= 0
        else ", and ".join(filter(None, (mean, jumped)))
    )


def table(estimates: Sequence[Effect]) -> Table:
    """A row for each estimate of each model."""
    head = (
        "Model",
        "Estimate",
        "Higher by",
        "95% interval",
        f"Above {FAR:g} deviations",
        "p (Holm)",
        "Papers",
        "First authors",
    )
    return Table(head, "llrrrrrr", [_row(effect) for effect in estimates])


def _row(effect: Effect) -> tuple[object, ...]:
    gain, over, far = effect.gain, effect.gain.over, effect.jumps
    if gain.why:
        return effect.model, effect.what, "-", "-", "-", "-", gain.papers, "-"
    return (
        effect.model,
        effect.what,
        f"{gain.value:+.4f}",
        bounds_text(over.low if over else None, over.high if over else None, "+.4f"),
        f"{far.seen} of {far.of_seen} (later papers: {far.unseen} of {far.of_unseen})" if far else "-",
        _p(effect.corrected_p),
        gain.papers,
        gain.authors,
    )


def _p(value: float | None) -> str:
    if value is None:
        return "-"
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"


def age_table(data: Sequence[Observation]) -> Table:
    """Model by quarters since its cut-off."""
    ages = by_age(data)
    quarters = sorted({age for cells in ages.values() for age in cells})
    head = ("Model", *(f"{3 * age + 1} to {3 * age + 3}" for age in quarters))
    rows = [
        (model, *(f"{cells[age][0]:+.4f} ({cells[age][1]})" if age in cells else "-" for age in quarters))
        for model, cells in sorted(ages.items())
    ]
    return Table(head, "l" + "r" * len(quarters), rows)
