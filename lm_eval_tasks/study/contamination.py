"""`academiceval study contamination`: do models score higher on papers that they may have seen in training?

Two tests for each model: its mean gain (`exposure`) and papers on which it lies far above the others (`jumps`); memory can only raise
scores, so both are one-sided. A model's p-value is twice the smaller one; over the models they are corrected by Holm. Placebos repeat
the estimate with cut-offs that are too late, over scores on papers that their model cannot have seen: where they find something, the
estimate is not trusted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lm_eval_tasks.core.errors import SamplesError
from lm_eval_tasks.core.intervals import TInterval, cluster_numbers, freedom_of, holm, t_interval
from lm_eval_tasks.core.power import FEWEST, LEVEL
from lm_eval_tasks.metrics import registry
from lm_eval_tasks.study.exposure import Gain, Observation, gains, is_choice, least_squares, two_ways, within
from lm_eval_tasks.study.jumps import Jumps, jumps
from lm_eval_tasks.tasks.records import NONE

if TYPE_CHECKING:
    from lm_eval_tasks.samples.sample import Sample

# How many months placebos are late.
PLACEBOS = (3, 6)
# A placebo's p-value that makes an estimate untrustworthy: so low that a sound one seldom falls to chance.
_SURE = 0.01
MAIN, PROBE = "papers up to the cut-off", "title-only probe"


@dataclass(frozen=True, slots=True)
class Effect:
    """What one model gains from papers that it may have seen.

    Attributes:
        what: which estimate.
        gain: by how much its scores are higher.
        jumps: papers far above; None for right-or-wrong answers and placebos.
        p: of both tests together; None if nothing could be tested.
        corrected_p: over all models of the estimate, and both estimates of the probe (Holm).
        distrusted: why it is not to be trusted; "" if nothing speaks against it.
    """

    what: str
    model: str
    gain: Gain
    jumps: Jumps | None = None
    p: float | None = None
    corrected_p: float | None = None
    distrusted: str = ""

    @property
    def is_found(self) -> bool:
        """Whether the model scores higher beyond chance on papers that it may have seen."""
        return self.corrected_p is not None and self.corrected_p < 1 - LEVEL and not self.distrusted


def month_of(day: str) -> int:
    """Months since the year 0 of a day or month, ISO."""
    year, month = map(int, day[:7].split("-"))
    return 12 * year + month


def observations(runs: Mapping[str, Sequence[Sample]], cutoffs: Mapping[str, str], metric: str) -> list[Observation]:
    """The scores of several runs, of what was asked in full, and of abstracts from titles alone.

    Args:
        runs: model -> its samples.
        cutoffs: model -> month up to which it was trained.

    Raises:
        SamplesError: a model's cut-off is not known, or no sample has the score.
    """
    if unknown := [model for model in runs if model not in cutoffs]:
        raise SamplesError(f"the cut-off of {unknown[0]} is not known: give it with --cutoff {unknown[0]}=YYYY-MM")
    data = [
        Observation(
            model,
            sample.task,
            f"{sample.task} {sample.id}",
            sample.cluster,
            month_of(sample.row.published),
            month_of(cutoffs[model]),
            sample.scores[metric],
            sample.scores.get("accuracy_random", 0.0),
        )
        for model, samples in runs.items()
        for sample in samples
        if metric in sample.scores and (not sample.row.shown or _is_title_only(sample.task))
    ]
    if not data:
        raise SamplesError(f"no sample has the score {metric}; there are {', '.join(registry.headline())} and others")
    return data


# --- estimates


def effects(data: Sequence[Observation]) -> list[Effect]:
    """The gains of all models, for the title-only probe by itself, then the placebos."""
    usual = [observation for observation in data if not _is_title_only(observation.task)]
    probe = [observation for observation in data if _is_title_only(observation.task)]
    estimates: list[Effect] = []
    for what, part in ((MAIN, usual), (PROBE, probe)):
        placebos = [effect for late in PLACEBOS for effect in placebo(part, late)]
        distrusted = _why_distrusted(placebos)
        own = [against_later(model, part) for model in _models(part)] if what == PROBE else []
        tested = _corrected([*estimate(what, part), *own])
        estimates += [replace(effect, distrusted=distrusted) for effect in tested]
        estimates += placebos if what == MAIN or not usual else []
    return estimates


def _models(data: Sequence[Observation]) -> list[str]:
    return sorted({observation.model for observation in data})


def estimate(what: str, data: Sequence[Observation]) -> list[Effect]:
    """The gain of each model that may have seen some of its papers, with the p-value of both tests, not corrected yet."""
    fitted = gains(data)
    far = {} if not data or is_choice(data) else jumps(data)
    return [
        Effect(what, model, gain, far.get(model), _together(gain.over, far.get(model)))
        for model, gain in fitted.items()
    ]


def placebo(data: Sequence[Observation], late: int) -> list[Effect]:
    """The mean gains at cut-offs that are `late` months too late, over scores on papers that their model cannot have seen."""
    what = f"placebo, cut-offs {late} months late"
    unseen = [replace(o, cutoff=o.cutoff + late) for o in data if not o.open]
    by_model = gains(unseen)
    each = [Effect(what, model, gain, p=gain.over.p if gain.over else None) for model, gain in by_model.items()]
    return list(_corrected(each))


def _corrected(each: Sequence[Effect]) -> Iterator[Effect]:
    p_values = iter(holm([effect.p for effect in each if effect.p is not None]))
    for effect in each:
        yield effect if effect.p is None else replace(effect, corrected_p=next(p_values))


def _together(over: TInterval | None, far: Jumps | None) -> float | None:
    """The one-sided p-value of the mean gain and of jumps together: twice the smaller."""
    each = [_one_sided(over)] if over else []
    if over and far:
        each.append(far.p)
    return min(1.0, len(each) * min(each)) if each else None


def _one_sided(over: TInterval) -> float:
    return over.p / 2 if over.low + over.high > 0 else 1 - over.p / 2


def _why_distrusted(placebos: Sequence[Effect]) -> str:
    """What placebos find, corrected for all of them; "" if that is nothing."""
    tested = [effect for effect in placebos if effect.p is not None]
    for effect, p in zip(tested, holm([effect.p or 0.0 for effect in tested]), strict=True):
        if p < _SURE:
            return (
                f"a {effect.what} finds {effect.gain.value:+.4f} for {effect.model} on papers that it cannot have seen: models differ by "
                "the age of papers here"
            )
    return ""


def _is_title_only(task: str) -> bool:
    return task.endswith(f" {NONE}") and task.startswith("Abs-")


def against_later(model: str, probe: Sequence[Observation]) -> Effect:
    """How much better a model writes abstracts from titles alone for papers up to its cut-off than for later ones.

    A second witness, which needs no other model. A straight line over the months takes up the papers' drift in difficulty.
    """
    what = f"{PROBE}, against its own later papers"
    own = [observation for observation in probe if observation.model == model]
    is_open = np.array([float(observation.open) for observation in own])
    if is_open.all() or not is_open.any():
        side = "newer" if not is_open.any() else "older"
        return Effect(what, model, Gain(0.0, 0, 0, None, f"all its papers are {side} than its cut-off"))
    clusters = cluster_numbers([observation.cluster for observation in own])
    months = np.array([float(observation.month) for observation in own])
    scores = np.array([observation.score for observation in own])
    design = np.stack([is_open, np.ones(len(own)), months - months.mean()], axis=1)
    value, left = least_squares(design, scores, clusters)
    count = int(clusters.max()) + 1
    # An author of all papers on one side cannot be left out: then nothing would be left to compare.
    sides = np.array([np.bincount(clusters, weights=side, minlength=count) for side in (is_open, 1 - is_open)])
    is_known = count >= FEWEST and bool((sides.sum(axis=1)[:, None] > sides).all())
    over = t_interval(float(value[0]), left[:, 0], freedom_of(np.bincount(clusters))) if is_known else None
    p = _one_sided(over) if over else None
    return Effect(what, model, Gain(float(value[0]), int(is_open.sum()), count, over), p=p)


def by_age(data: Sequence[Observation], width: int = 3) -> dict[str, dict[int, tuple[float, int]]]:
    """Model -> quarter since its cut-off -> mean score without the papers' difficulty, and number of samples.

    Quarter 0 begins right after the cut-off; the figures of a model have mean 0.
    """
    left = within(np.array([observation.score for observation in data]), two_ways(data))
    by_model: dict[str, dict[int, list[float]]] = {}
    for observation, value in zip(data, left, strict=True):
        quarter = (observation.month - observation.cutoff - 1) // width
        by_model.setdefault(observation.model, {}).setdefault(quarter, []).append(float(value))
    return {
        model: {age: (sum(values) / len(values), len(values)) for age, values in sorted(ages.items())}
        for model, ages in by_model.items()
    }
