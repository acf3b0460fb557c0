"""What a run was and what it took, as a table."""

from collections.abc import Mapping

from lm_eval_tasks.base.metadata import TEST
from lm_eval_tasks.base.tables import Table
from lm_eval_tasks.compat.vllm import EngineSettings
from lm_eval_tasks.samples.results import Results

_USAGE = {
    "tokens_in": "prompt tokens",
    "cached_tokens": "of these from a cache",
    "tokens_out": "answer tokens",
    "reasoning_tokens": "of these reasoning",
    "answers": "answers",
    "untold": "answers whose tokens are not known",
    "unanswered": "questions without an answer",
    "seconds": "seconds",
    "cost": "cost, in the unit of the price table",
    "lost": "requests whose usage is not known",
    "cost_of_lost": "of the cost, the most that these took",
}


def facts_table(results: Results) -> Table:
    """Return a row for the round, and for each other fact that is known."""
    facts: dict[str, object] = {
        "dataset": results.dataset,
        "split": results.split != TEST and results.split,
        "prompt version": ", ".join(map(str, results.prompt_versions)),
        "asked on": results.day,
    }
    if results.block:
        made, usage = results.block.made_with, results.block.usage
        served = ", ".join(f"{name} ({count})" for name, count in usage.served.items())
        facts |= {
            "prompts cut to": made.window and f"{made.window.tokens} tokens ({made.window.source})",
            "made with": "lm_eval" in made.versions and f"lm_eval {made.versions['lm_eval']}",
            "engine": made.engine and _engine(made.engine),
            "answered as": len(usage.served) > 1 and served,
        }
        for key, label in _USAGE.items():
            value = getattr(usage, key)
            if value is not None and (value or key != "unanswered"):
                facts[label] = f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"
    return Table(
        ("Run", results.model),
        "ll",
        [("round", results.round), *((label, fact) for label, fact in facts.items() if fact)],
    )


def _engine(engine: EngineSettings) -> str:
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
    return ", ".join(
        [
            f"{engine.name} {engine.version or ''}".strip(),
            *[f"{label}{value}" for label, value in settings.items() if value],
        ]
    )
