"""`academiceval eval`: thin over lm-eval's simple_evaluate; answers are journaled, scores come with intervals and floors."""

from __future__ import annotations

import json
import logging
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from lm_eval.api.model import LM

from lm_eval_tasks.compat import lm_eval as command_line
from lm_eval_tasks.data import cutoff
from lm_eval_tasks.data.options import check_keys
from lm_eval_tasks.errors import EvalError
from lm_eval_tasks.files import write_together
from lm_eval_tasks.journal import Journal
from lm_eval_tasks.locks import held
from lm_eval_tasks.metrics import registry
from lm_eval_tasks.redaction import redacted
from lm_eval_tasks.row_format import paper_of
from lm_eval_tasks.runs import logged
from lm_eval_tasks.runs.intervals import interval
from lm_eval_tasks.runs.logged import JOURNAL, Logged
from lm_eval_tasks.runs.models import Generation, JournaledLM, identity_of, open_model
from lm_eval_tasks.runs.whole_paper import paper_scores
from lm_eval_tasks.task_folder import tasks_path

WHOLE_PAPER = "whole paper"
_ADDRESS = re.compile(r"(?<=\w) at 0x[0-9a-f]+(?=>)")


@dataclass(frozen=True, slots=True)
class Score:
    """One number of a run: the mean over the samples and its 95 % interval, clustered by first authors.

    Attributes:
        retriever: what chose the chunks of a retrieval task, "" for the other tasks.
    """

    model: str
    task: str
    metric: str
    value: float
    low: float | None
    high: float | None
    samples: int
    retriever: str = ""


def evaluate(
    model: str, model_args: str, tasks: Sequence[str], metadata: dict[str, Any], limit: int | None, output: Path | None,
    generation: Generation | None = None,
) -> list[Score]:  # fmt: skip
    """Evaluate a model or baseline and return its scores.

    Args:
        model: a baseline's name or one of lm-eval's model types.
        model_args: lm-eval's "key=value,..." for its own model types.
        metadata: as lm-eval's --metadata.
        output: folder for results, samples and the journal of answers with which a killed run goes on.

    Raises:
        EvalError: an unknown task, a model that cannot be opened; what `hook.load` raises.
        BusyError: another run writes to the same folder.
    """
    with held(output / JOURNAL) if output else nullcontext():
        return _evaluate(model, model_args, tasks, metadata, limit, output, generation or Generation())


def _evaluate(
    model: str, model_args: str, tasks: Sequence[str], metadata: dict[str, Any], limit: int | None, output: Path | None,
    generation: Generation,
) -> list[Score]:  # fmt: skip
    from lm_eval_tasks.runs.baselines import BASELINES

    check_keys(metadata, others=False)
    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    parsed = command_line.parse_model_args(model_args)
    given = {**metadata, **parsed, **_room(generation), **({"keep_parts": True} if model in BASELINES else {})}
    manager = _manager(tasks, given)
    lm = open_model(model, parsed, generation)
    if output is not None:
        lm = JournaledLM(lm, identity_of(model, parsed, generation), Journal(output / JOURNAL))
    results = _run(lm, tasks, manager, limit, given, generation)
    label = label_of(model, parsed)
    samples = {task: [logged.of_row(row) for row in rows] for task, rows in results["samples"].items()}
    scores = [*_scores(samples, label), *_whole_papers(samples, label)]
    if output is not None:
        run = {
            "model": model, "model_args": parsed, "metadata": metadata, **asdict(generation), "limit": limit,
            "model_cutoff": metadata.get("model_cutoff") or cutoff.of_model(parsed),
        }  # fmt: skip
        _write(results, {"run": run, **summary(samples, scores)}, label, output)
    return scores


def _manager(tasks: Sequence[str], given: dict[str, Any]) -> Any:
    """lm-eval's task manager over our tasks alone, which are all known to it."""
    from lm_eval.tasks import TaskManager

    manager = TaskManager(include_path=str(tasks_path()), include_defaults=False, metadata=given)
    unknown = [task for task in tasks if task not in manager.all_tasks]
    if unknown:
        raise EvalError(f"unknown task {unknown[0]!r}; `academiceval eval --tasks list` prints the tasks")
    return manager


def _run(
    lm: LM, tasks: Sequence[str], manager: Any, limit: int | None, given: dict[str, Any], generation: Generation
) -> dict[str, Any]:
    from lm_eval.evaluator import simple_evaluate

    results: dict[str, Any] = simple_evaluate(
        model=lm,
        tasks=list(tasks),
        task_manager=manager,
        limit=limit,
        log_samples=True,
        metadata=given,
        apply_chat_template=generation.apply_chat_template,
        system_instruction=generation.system_instruction,
        gen_kwargs=generation.gen_kwargs or None,
        bootstrap_iters=0,
    )
    return results


def task_names() -> list[str]:
    """All task and group names."""
    from lm_eval.tasks import TaskManager

    return sorted(TaskManager(include_path=str(tasks_path()), include_defaults=False).all_tasks)


def label_of(model: str, arguments: Mapping[str, Any]) -> str:
    """What a model is called in tables and file names: its weights' name, or else its type's."""
    name = str(arguments.get("pretrained") or arguments.get("model") or model).rstrip("/")
    return re.sub(r"[^\w.-]+", "-", name if name.count("/") == 1 else name.rpartition("/")[2])


def summary(samples: Mapping[str, Sequence[Logged]], scores: Sequence[Score]) -> dict[str, Any]:
    """What a reader of a result must know: rounds, prompt versions, scores with intervals, scores by month."""
    every = [one for rows in samples.values() for one in rows]
    return {
        "rounds": sorted({one.round for one in every}),
        "prompt_versions": sorted({one.prompt_version for one in every}),
        "scores": [asdict(score) for score in scores],
        "months": {task: by_month(rows) for task, rows in samples.items()},
    }


def by_month(samples: Sequence[Logged]) -> dict[str, dict[str, float]]:
    """Month of publication -> number of samples and mean headline scores: the points of a contamination curve."""
    months: dict[str, list[Logged]] = defaultdict(list)
    for one in samples:
        months[one.published[:7]].append(one)
    return {
        month: {
            "samples": len(rows),
            **{
                metric: fmean(one.scores[metric] for one in rows)
                for metric in registry.headline()
                if metric in rows[0].scores
            },
        }
        for month, rows in sorted(months.items())
    }


def _room(generation: Generation) -> dict[str, Any]:
    """What the tasks must know of how the run generates, to leave room for it."""
    reserve = command_line.max_gen_toks(generation.gen_kwargs)
    return {
        **({"reserve": reserve} if reserve is not None else {}),
        **({"system_instruction": generation.system_instruction} if generation.system_instruction else {}),
    }


def _scores(samples: Mapping[str, Sequence[Logged]], label: str) -> list[Score]:
    scores: list[Score] = []
    for task, rows in sorted(samples.items()):
        for metric in rows[0].scores:
            having = [one for one in rows if metric in one.scores]
            over = interval([one.scores[metric] for one in having], [one.cluster for one in having])
            scores.append(Score(label, task, metric, over.mean, over.low, over.high, over.samples, rows[0].retriever))
    return scores


def _whole_papers(samples: Mapping[str, Sequence[Logged]], label: str) -> list[Score]:
    """The mean over papers that are in several of the tasks that were run; nothing where there are none."""
    authors = {paper_of(one.id): one.cluster for rows in samples.values() for one in rows}
    scores = []
    for metric in registry.headline("writing"):
        if found := paper_scores(samples, metric):
            over = interval(list(found.values()), [authors[paper_id] for paper_id in found])
            scores.append(Score(label, WHOLE_PAPER, metric, over.mean, over.low, over.high, over.samples))
    return scores


def _shown(value: object) -> Any:
    """What JSON has no form for, as text."""
    return redacted(str(value))


def _write(results: dict[str, Any], ours: dict[str, Any], label: str, output: Path) -> None:
    """Write samples and results; the file of results is there only while all samples are those that it is about."""
    rows_of = results.pop("samples")
    files: dict[Path, Iterable[str]] = {
        output / f"samples_{task}_{label}.jsonl": (
            json.dumps(logged.compact(row), default=str, ensure_ascii=False) + "\n" for row in rows
        )
        for task, rows in rows_of.items()
    }
    text = json.dumps(redacted({**results, "academiceval": ours}), default=_shown, ensure_ascii=False, indent=1)
    # Where in memory a function lay is no part of a result.
    write_together({**files, output / f"results_{label}.json": [_ADDRESS.sub("", text)]})
