"""A small run of a baseline, by the command."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from lm_eval_tasks.base.files import sha256_of
from lm_eval_tasks.samples.block import Score


def arguments_of_lead(dataset: Path, output: Path) -> tuple[object, ...]:
    """Return what runs `lead` over the abstracts of a dataset, without BERTScore."""
    metadata = json.dumps({"dataset": str(dataset), "bertscore_model": "none"})
    return ("eval", "--model", "lead", "--tasks", "academiceval_abs_9k", "--metadata", metadata, "--output", output)


def evaluated(command: Callable[..., tuple[int, str, str]], dataset: Path, output: Path, *options: str) -> Path:
    """Return the output folder of `lead` over the abstracts of a dataset, without BERTScore."""
    code, _, errors = command(*arguments_of_lead(dataset, output), *options)
    assert code == 0, errors
    return output


def write_results(folder: Path, model: str, cutoff: str) -> None:
    """Write a file of results that says which model answered, and its cut-off."""
    ours = {
        "run": {"model": "hf", "model_cutoff": cutoff, "metadata": {}},
        "rounds": ["2026.11"],
        "prompt_versions": [1],
        "scores": [asdict(Score(model, "academiceval_abs_9k", "rouge_l", 0.2, None, None, 1))],
        "usage": {"answers": 200, "tokens_in": 4_000_000, "tokens_out": 30_000, "cost": 1.5},
    }
    content = {"academiceval": ours, "date": 1_795_000_000}
    (folder / f"results_{model}.json").write_text(json.dumps(content))


def relist(folder: Path) -> None:
    """Have the results in a folder list its samples as they are now, as if the run had written them."""
    for path in folder.glob("results_*.json"):
        content = json.loads(path.read_text())
        ending = path.name.removeprefix("results_").removesuffix(".json")
        files = sorted(folder.glob(f"samples_*_{ending}.jsonl"))
        content["academiceval"]["files"] = {file.name: sha256_of(file) for file in files}
        path.write_text(json.dumps(content))
