"""What is shown of a run: its scores, what reading gained, what it was and what it took."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lm_eval_tasks.base.tables import Table
from lm_eval_tasks.base.text import number_or_none
from lm_eval_tasks.metrics.registry import headline
from lm_eval_tasks.samples.run_folder import samples_beside, samples_of
from lm_eval_tasks.samples.sample import read_file
from lm_eval_tasks.stats import gains
from lm_eval_tasks.stats.score_table import score_table

if TYPE_CHECKING:
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


def license_table(results: Results) -> Table | None:
    """Mean headline scores by the papers' licences; None if all papers of a task have the same one, or the results do not say it."""
    tasks = results.ours.get("licenses")
    rows: list[tuple[str, str, Mapping[str, Any]]] = []
    for task, parts in tasks.items() if isinstance(tasks, Mapping) else ():
        of_task = [(str(task), str(name), part) for name, part in _mappings(parts)]
        rows += of_task if len(of_task) > 1 else []
    metrics = [name for name in headline() if any(number_or_none(part.get(name)) is not None for *_, part in rows)]
    cells = [
        (task, name, part.get("samples"), *(_four_digits(number_or_none(part.get(metric))) for metric in metrics))
        for task, name, part in rows
    ]
    return Table(("Task", "Licence", "n", *metrics), "llr" + "r" * len(metrics), cells) if cells else None


def _mappings(value: object) -> list[tuple[Any, Mapping[str, Any]]]:
    """The entries of a mapping that are mappings themselves."""
    entries = value.items() if isinstance(value, Mapping) else ()
    return [(name, part) for name, part in entries if isinstance(part, Mapping)]


def _four_digits(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


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
    if isinstance(versions, Mapping) and "lm_eval" in versions:
        yield "made with", f"lm_eval {versions['lm_eval']}"
    if isinstance(engine := made_with.get("engine"), Mapping):
        yield "engine", _engine(engine)
    usage = results.ours.get("usage")
    for key, label in _USAGE.items():
        value = usage[key] if isinstance(usage, Mapping) and key in usage else None
        if number_or_none(value) is not None and (value or key != "unanswered"):
            yield label, f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"


def _engine(engine: Mapping[str, Any]) -> str:
    """The engine and its settings, as `made_with.py` notes them."""
    rope = engine.get("rope")
    rope = rope if isinstance(rope, Mapping) else {}
    # One for all layers, or one for each type of them.
    ropes = [rope, *(entry for entry in rope.values() if isinstance(entry, Mapping))]
    stretched = [f"{one.get('rope_type') or one.get('type')} {one['factor']}" for one in ropes if one.get("factor")]
    settings = {
        "": engine.get("dtype"),
        "KV cache ": engine.get("kv_cache_dtype"),
        "quantization ": engine.get("quantization"),
        "rope ": " and ".join(dict.fromkeys(stretched)),
    }
    named = [f"{label}{value}" for label, value in settings.items() if value]
    return ", ".join([f"{engine.get('name')} {engine.get('version') or ''}".strip(), *named])


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
