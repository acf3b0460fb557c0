"""`academiceval records`: results as records of Every Eval Ever, a store of evaluations that many frameworks share.

A record follows `eval.schema.json`, version 0.3.0 (https://github.com/evaleval/every_eval_ever), and lies where its datastore wants it:
`academiceval/DEVELOPER/MODEL/UUID.json`. The same file of results gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from hub_scripts.errors import HubError
from hub_scripts.results.checked import checked_results
from hub_scripts.results.publish import result_files
from lm_eval_tasks.core.files import sha256_of, write_whole
from lm_eval_tasks.core.version import VERSION
from lm_eval_tasks.evaluate.generation import BASELINES
from lm_eval_tasks.metrics import registry
from lm_eval_tasks.metrics.bertscore import DEFAULT_MODEL

if TYPE_CHECKING:
    from lm_eval_tasks.samples.results import Results, Score

_SCHEMA = "0.3.0"
# Who made the baselines.
_OURS = "academiceval"
_HOME = "https://github.com/ulab-uiuc/AcademicEval"
# lm-eval's type of model -> where the model ran.
_DEPLOYMENTS = {"hf": "self_deployed", "vllm": "self_deployed", "openai-chat-completions": "externally_managed"}


def write_records(paths: Sequence[Path], output: Path, organization: str, relationship: str) -> Iterator[str]:
    """Write a record for each file of results; yields lines to show.

    Args:
        paths: `results_*.json`, or folders of them.
        organization: who ran the evaluation.
        relationship: of that organization to who made the model, in the schema's words.

    Raises:
        HubError: no file of results, or a file of another kind.
    """
    # All are read before one is written.
    contents = [(path, record(checked_results(path), organization, relationship)) for path in result_files(paths)]
    for path, content in contents:
        name = UUID(bytes=bytes.fromhex(sha256_of(path))[:16], version=4)
        developer, model = content["model_info"]["developer"], content["model_info"]["name"]
        place = output / "academiceval" / developer / model / f"{name}.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
        yield f"written: {place} ({len(content['evaluation_results'])} scores)"


def record(results: Results, organization: str, relationship: str) -> dict[str, Any]:
    """One file of results in the store's schema.

    Raises:
        HubError: it has no score that the store could show.
    """
    scores = [_result(results, one) for one in results.scores if _is_shown(one)]
    if not scores:
        raise HubError(f"the results of {results.model} have no score of which higher is better")
    developer, _, name = results.model_id.rpartition("/")
    developer = developer or (_OURS if name in BASELINES else "")
    model = f"{developer}/{name}" if developer else name
    made = str(results.seconds)
    return {
        "schema_version": _SCHEMA,
        "evaluation_id": f"academiceval/{model}/{made}",
        "evaluation_timestamp": made,
        "retrieved_timestamp": made,
        "source_metadata": {
            "source_name": "academiceval eval" if results.prompt_versions else "lm_eval",
            "source_type": "evaluation_run",
            "source_organization_name": organization,
            "evaluator_relationship": relationship,
        },
        "eval_library": {"name": "academiceval", "version": VERSION, "additional_details": {"url": _HOME}},
        "model_info": {
            "name": name,
            "id": model,
            "developer": developer or "unknown",
            "additional_details": {
                "deployment_type": _DEPLOYMENTS.get(results.engine, "unknown"),
                "model_availability": "unknown",
                "engine": results.engine or "unknown",
            },
        },
        "evaluation_results": scores,
    }


def _scorer(results: Results) -> str:
    """The model of BERTScore."""
    return str(results.options.get("bertscore_model") or DEFAULT_MODEL)


def _is_shown(score: Score) -> bool:
    metric = registry.named(score.metric)
    return metric is not None and metric.best == "higher" and not metric.rate


def _result(results: Results, one: Score) -> dict[str, Any]:
    about = {
        "round": results.round,
        "revision": results.contents or "unknown",
        "prompt_versions": ", ".join(map(str, results.prompt_versions)) or "unknown",
        "subset": results.subset_of(one.task) or "no",
    }
    source = {
        "source_type": "hf_dataset",
        "hf_repo": results.hub_id,
        "hf_split": results.split,
        "samples_number": one.samples,
    }
    # lm-eval's own command gives a standard error, and names no prompt version.
    method = (
        "t interval, jackknife over first authors" if results.prompt_versions else "normal, from the standard error"
    )
    interval = {"lower": one.low, "upper": one.high, "confidence_level": 0.95, "method": method}
    known = one.low is not None and one.high is not None
    return {
        "evaluation_result_id": f"{one.task}/{one.metric}",
        "evaluation_name": one.task,
        "source_data": {
            "dataset_name": "academiceval",
            **(source if results.hub_id else {"source_type": "other"}),
            "additional_details": about,
        },
        "metric_config": {
            "evaluation_description": f"{registry.label(one.metric)}, mean over the papers of the split",
            "metric_id": one.metric,
            "metric_name": registry.label(one.metric),
            "metric_unit": "proportion",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": -1 if one.metric == "bertscore" else 0,
            "max_score": 1,
            **({"metric_parameters": {"model": _scorer(results)}} if one.metric == "bertscore" and results.run else {}),
        },
        "score_details": {
            "score": one.value,
            "uncertainty": {"num_samples": one.samples, **({"confidence_interval": interval} if known else {})},
        },
    }
