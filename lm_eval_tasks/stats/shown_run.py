"""What is shown of a run: its scores, what reading gained, what it was and what it took."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lm_eval_tasks.core.tables import Table
from lm_eval_tasks.metrics.registry import headline
from lm_eval_tasks.samples.run_folder import only_result, samples_of
from lm_eval_tasks.samples.sample import read_file
from lm_eval_tasks.stats import gains
from lm_eval_tasks.stats.score_table import score_table

if TYPE_CHECKING:
    from lm_eval_tasks.samples.results import Results, Score

_USAGE = {
    "tokens_in": "prompt tokens",
    "cached_tokens": "of these from a cache",
    "tokens_out": "answer tokens",
    "reasoning_tokens": "of these reasoning",
    "answers": "answers",
    "unanswered": "questions without an answer",
    "seconds": "seconds",
    "cost": "cost, in the unit of the price table",
}


def facts_table(results: Results) -> Table:
    """A row for each fact that is known."""
    return Table(("Run", results.model), "ll", list(_facts(results)))


def license_table(results: Results) -> Table | None:
    """Mean headline scores by the papers' licences; None if all papers of a task have the same one."""
    tasks = results.ours.get("licenses")
    several = {task: parts for task, parts in tasks.items() if len(parts) > 1} if isinstance(tasks, Mapping) else {}
    present = {name for parts in several.values() for part in parts.values() for name in part}
    metrics = [name for name in headline() if name in present]
    rows = [
        (task, license_, part["samples"], *(f"{part[name]:.4f}" if name in part else "-" for name in metrics))
        for task, parts in several.items()
        for license_, part in parts.items()
    ]
    return Table(("Task", "Licence", "n", *metrics), "llr" + "r" * len(metrics), rows) if rows else None


def _facts(results: Results) -> Iterator[tuple[str, str]]:
    yield "round", results.round
    if results.dataset:
        yield "dataset", results.dataset
    if results.prompt_versions:
        yield "prompt version", ", ".join(map(str, results.prompt_versions))
    if results.day:
        yield "asked on", results.day
    made_with = results.ours.get("made_with")
    made_with = made_with if isinstance(made_with, Mapping) else {}
    if isinstance(context := made_with.get("context"), Mapping):
        yield "prompts cut to", f"{context.get('tokens')} tokens ({context.get('source')})"
    versions = made_with.get("versions")
    if isinstance(versions, Mapping):
        yield "made with", ", ".join(f"{name} {versions[name]}" for name in ("lm_eval", "vllm") if name in versions)
    usage = results.ours.get("usage")
    for key, label in _USAGE.items():
        value = usage[key] if isinstance(usage, Mapping) and key in usage else None
        if isinstance(value, int | float) and (value or key != "unanswered"):
            yield label, f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"


def shown_scores(scores: Sequence[Score], output: Path) -> Iterator[str | Table]:
    """A run's scores, and its gains if it was asked with less to read."""
    yield from score_table(scores)
    # Two tasks may ask the same, one of them under another name.
    by_id = {
        (sample.task, sample.id): sample
        for file in samples_of(only_result(output)).values()
        for sample in read_file(file)
    }
    samples = list(by_id.values())
    of_run = gains.gains_of(samples)
    if any(gain.by == "model" for gain in of_run):
        yield from ("", gains.gain_table(of_run), "")
        yield from gains.sentences(gains.verdicts_of(samples, of_run))
