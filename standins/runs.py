"""A small run of a baseline, by the command."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from lm_eval_tasks.base.files import sha256_of
from lm_eval_tasks.families.score import score_again
from lm_eval_tasks.samples.answers import ScoredAnswer
from lm_eval_tasks.samples.block import FORMAT, Score
from lm_eval_tasks.samples.prompt_row import PromptRow
from lm_eval_tasks.samples.run_folder import only_result, samples_beside, write_run
from lm_eval_tasks.samples.sample import Sample, replies_of
from lm_eval_tasks.stats.scores import block_of, scores_of


def arguments_of_lead(dataset: Path, output: Path) -> tuple[object, ...]:
    """Return what runs `lead` over the abstracts of a dataset, without BERTScore."""
    metadata = json.dumps({"dataset": str(dataset), "bertscore_model": "none"})
    return ("eval", "--model", "lead", "--tasks", "academiceval_abs_9k", "--metadata", metadata, "--output", output)


def evaluated(command: Callable[..., tuple[int, str, str]], dataset: Path, output: Path, *options: str) -> Path:
    """Return the output folder of `lead` over the abstracts of a dataset, without BERTScore."""
    code, _, errors = command(*arguments_of_lead(dataset, output), *options)
    assert code == 0, errors
    return output


def abstract_of(number: int, target: str) -> dict[str, Any]:
    """Return the document of a logged sample of Abs-9K; two share a first author."""
    return {
        "id": f"2605.{number:05d}v1",
        "setting": "Abs-9K",
        "prompt_name": "abs_short",
        "retriever": "",
        "prompt_version": 1,
        "first_author": f"Author {number // 2}",
        "published": "2026-05-01",
        "round": "2026.11",
        "target": target,
    }


def write_results(folder: Path, model: str, cutoff: str) -> None:
    """Write a file of results that says which model answered, and its cut-off."""
    ours = {
        "format": FORMAT,
        "run": {"model": "hf", "model_cutoff": cutoff, "metadata": {}},
        "rounds": ["2026.11"],
        "prompt_versions": [1],
        "scores": [asdict(Score(model, "academiceval_abs_9k", "rouge_l", 0.2, None, None, 1))],
        "usage": {"answers": 200, "tokens_in": 4_000_000, "tokens_out": 30_000, "cost": 1.5},
    }
    content = {"academiceval": ours, "date": 1_795_000_000}
    (folder / f"results_{model}.json").write_text(json.dumps(content))


def rewrite(folder: Path, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> None:
    """Change the lines of a run's samples, without those that become None, and write its results anew, as if the run had given them.

    Answers that still name the version of the scorer are scored again.
    """
    results = only_result(folder)
    assert results.block
    lines = {}
    for task, file in samples_beside(results.path).items():
        changed = (change(json.loads(line)) for line in file.read_text().splitlines())
        lines[task] = [_scored(line) for line in changed if line is not None]
        file.unlink()
    samples = {task: [Sample.of_logged(line) for line in of_task] for task, of_task in lines.items()}
    scores, block = scores_of(samples, results.model), results.block
    content = {name: value for name, value in results.content.items() if name not in ("academiceval", "results")}
    written = block_of(samples, block.run, scores, block.usage, block.made_with)
    write_run(lines, content, written, results.model, folder)


def _scored(line: dict[str, Any]) -> dict[str, Any]:
    row = PromptRow.of_doc(line["doc"])
    scored = ScoredAnswer.from_text(line["filtered_resps"][0])
    if scored.scorer:
        again = score_again(row, replies_of(line, row))
        scored = replace(scored, answer=again.answer, scores={**scored.scores, **again.scores})
    return {**line, "filtered_resps": [scored.to_text()]}


def relist(folder: Path) -> None:
    """Have the results in a folder list its samples as they are now, as if the run had written them."""
    for path in folder.glob("results_*.json"):
        content = json.loads(path.read_text())
        ending = path.name.removeprefix("results_").removesuffix(".json")
        files = sorted(folder.glob(f"samples_*_{ending}.jsonl"))
        content["academiceval"]["files"] = {file.name: sha256_of(file) for file in files}
        path.write_text(json.dumps(content))
