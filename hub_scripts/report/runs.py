"""What the runs of a model took, and when they were made: beside its scores, and as a record of its own that the page links to."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_tasks.core.redaction import redact

if TYPE_CHECKING:
    from lm_eval_tasks.samples.results import Results

RECORDS = Path("data") / "runs"


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The runs of one model on one round.

    Attributes:
        day: of the newest, ISO; "" if it is not known.
        tokens_in, tokens_out: means per answer; None if a run does not say them.
        cost: of 1,000 answers, in the unit of the price table; None if a run does not say it.
        record: path in the site of the file that says all of it.
    """

    day: str
    tokens_in: float | None
    tokens_out: float | None
    cost: float | None
    record: str


def run_facts(runs: Mapping[str, Sequence[Results]], site: Path) -> dict[tuple[str, str], RunFacts]:
    """(round, model) -> its runs; their records are written below the site's folder."""
    facts = {}
    (site / RECORDS).mkdir(parents=True, exist_ok=True)
    for model, results in runs.items():
        for round_ in sorted({run.round for run in results}):
            of_round = [run for run in results if run.round == round_]
            name = re.sub(r"[^\w.-]+", "-", f"{round_}_{model}")
            record = RECORDS / f"{name}.json"
            text = json.dumps([_record(run) for run in of_round], indent=1, sort_keys=True, default=str)
            (site / record).write_text(text + "\n", encoding="utf-8")
            facts[round_, model] = _facts(of_round, record.as_posix())
    return facts


def _facts(runs: Sequence[Results], record: str) -> RunFacts:
    def mean(name: str) -> float | None:
        values = [value for usage in usages if isinstance(value := usage.get(name), int | float)]
        return sum(values) / answers if answers and len(values) == len(usages) else None

    usages = [usage if isinstance(usage := run.ours.get("usage"), Mapping) else {} for run in runs]
    answers = sum(usage.get("answers") or 0 for usage in usages)
    cost = mean("cost")
    return RunFacts(
        max(run.day for run in runs),
        mean("tokens_in"),
        mean("tokens_out"),
        None if cost is None else 1000 * cost,
        record,
    )


def _record(run: Results) -> dict[str, Any]:
    """What a reader needs to repeat a run; folders of the machine that it ran on are named without their place."""
    kept = ("prompt_versions", "made_with", "usage", "run", "subsets", "datasets")
    about = {name: run.ours[name] for name in kept if name in run.ours}
    facts = {"model": run.model, "round": run.round, "day": run.day, "engine": run.engine, **about}
    shown: dict[str, Any] = _without_places(redact(facts))
    return shown


def _without_places(value: Any) -> Any:
    if isinstance(value, str):
        return Path(value).name if value.startswith(("/", "~", "./", "../")) else value
    if isinstance(value, Mapping):
        return {key: _without_places(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_without_places(part) for part in value]
    return value
