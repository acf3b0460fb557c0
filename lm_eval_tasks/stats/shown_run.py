"""What is shown of a run: its scores, what reading gained, what it was and what it took."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from lm_eval_tasks.base.tables import Table
from lm_eval_tasks.samples.run_folder import samples_beside, samples_of
from lm_eval_tasks.samples.sample import read_file
from lm_eval_tasks.stats import gains
from lm_eval_tasks.stats.score_table import score_table

if TYPE_CHECKING:
    from lm_eval_tasks.compat.engine_settings import EngineSettings
    from lm_eval_tasks.samples.results import Results

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


def _facts(results: Results) -> Iterator[tuple[str, str]]:
    yield "round", results.round
    if results.dataset:
        yield "dataset", results.dataset
    if results.prompt_versions:
        yield "prompt version", ", ".join(map(str, results.prompt_versions))
    if results.day:
        yield "asked on", results.day
    if results.block is None:
        return
    made, usage = results.block.made_with, results.block.usage
    if made.context:
        yield "prompts cut to", f"{made.context.tokens} tokens ({made.context.source})"
    if "lm_eval" in made.versions:
        yield "made with", f"lm_eval {made.versions['lm_eval']}"
    if made.engine:
        yield "engine", _engine(made.engine)
    if len(usage.served) > 1:
        yield "answered as", ", ".join(f"{name} ({count})" for name, count in usage.served.items())
    for key, label in _USAGE.items():
        value = getattr(usage, key)
        if value is not None and (value or key != "unanswered"):
            yield label, f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"


def _engine(engine: EngineSettings) -> str:
    """The engine and its settings."""
    rope = engine.rope or {}
    # One for all layers, or one for each type of them.
    ropes = [rope, *(entry for entry in rope.values() if isinstance(entry, Mapping))]
    stretched = [f"{one.get('rope_type') or one.get('type')} {one['factor']}" for one in ropes if one.get("factor")]
    settings = {
        "": engine.dtype,
        "KV cache ": engine.kv_cache_dtype,
        "quantization ": engine.quantization,
        "rope ": " and ".join(dict.fromkeys(stretched)),
    }
    named = [f"{label}{value}" for label, value in settings.items() if value]
    return ", ".join([f"{engine.name} {engine.version or ''}".strip(), *named])


def shown_scores(results: Results) -> Iterator[str | Table]:
    """A run's scores, and its gains if it was asked with less to read and its samples are there."""
    of_run: list[gains.Gain] = []
    if samples_beside(results.path):
        # Two tasks may ask the same, one of them under another name.
        files = samples_of(results).values()
        by_id = {(sample.task, sample.id): sample for file in files for sample in read_file(file)}
        of_run = gains.gains_of(by_id.values())
    yield from score_table(results.scores, of_run)
    if any(gain.by == "model" for gain in of_run):
        yield from ("", gains.gain_table(of_run))
