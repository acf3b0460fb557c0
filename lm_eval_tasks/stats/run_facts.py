"""What a run was and what it took, as its results say it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from lm_eval_tasks.core.tables import Table

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
