"""Two runs of one model, stage by stage: an installation checked against another one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lm_eval_tasks.samples.pairs import paired
from lm_eval_tasks.samples.run_folder import only_result, results_in
from lm_eval_tasks.samples.sample import Sample, by_task, read

if TYPE_CHECKING:
    from lm_eval_tasks.samples.results import Results

# What a sample says of each stage, in the order in which they follow one another; nothing for what it does not know.
_STAGES: dict[str, Callable[[Sample], object]] = {
    "prompts": lambda sample: sample.prompt_hash,
    "tokens of prompts": lambda sample: sample.row.tokenizer and sample.row.tokens_after,
    "answers": lambda sample: sample.answer,
    "scores": lambda sample: {name: round(score, 6) for name, score in sample.scores.items()},
}


def agreement(runs: Sequence[Path]) -> Iterator[str]:
    """For two folders of runs of one model, how many rows of each task agree at each stage, so that the first that differs is seen; else
    nothing.
    """
    if len(runs) != 2 or not all(len(results_in(run)) == 1 for run in runs):
        return
    first, second = map(only_result, runs)
    if first.model != second.model:
        return
    yield f"Both runs are of {first.model}{_made_otherwise(first, second)}."
    samples = [by_task(read([run])) for run in runs]
    for task in [task for task in samples[0] if task in samples[1]]:
        pairs = paired(task, samples[0][task], samples[1][task])
        equal = (f"{name} {_equal(of, pairs)}" for name, of in _STAGES.items())
        yield f"{task}: of {len(pairs)} rows, equal are {', '.join(equal)}"


def _equal(of: Callable[[Sample], object], pairs: Sequence[tuple[Sample, Sample]]) -> str:
    """How many pairs agree at a stage; "-" if a run does not know it."""
    stages = [(of(x), of(y)) for x, y in pairs]
    is_known = all(any(side) for side in zip(*stages, strict=True))
    return str(sum(x == y for x, y in stages)) if is_known else "-"


def _made_otherwise(first: Results, second: Results) -> str:
    """What made their answers and is not the same."""
    blocks = [each.block for each in (first, second) if each.block and each.block.made_with.versions]
    if len(blocks) < 2:
        return ""
    made = [
        {"weights": dict(block.run.weights), "chat template": block.made_with.chat_template, **block.made_with.versions}
        for block in blocks
    ]
    names = [name for name in made[0].keys() | made[1].keys() if made[0].get(name) != made[1].get(name)]
    return f", with other {', '.join(sorted(names))}" if names else ""
