"""The rows that a saved run was over, loaded again with their prompts and bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval_tasks.data import hook
from lm_eval_tasks.samples.results import read_results
from lm_eval_tasks.samples.row import PromptRow
from lm_eval_tasks.samples.run_folder import results_in


def rows_of_run(folders: Sequence[Path], tasks: Sequence[str], bertscore_model: str) -> dict[str, dict[str, PromptRow]]:
    """Task -> sample -> its row, as the run's own arguments load it.

    Args:
        folders: of one run, or files in them.
        tasks: settings, as samples name them.

    Raises:
        SamplesError: the results that name the dataset cannot be read.
        EvalError: the dataset does not exist.
    """
    places = [path if path.is_dir() else path.parent for path in folders]
    files = sorted(file for place in places for file in results_in(place))
    metadata: Mapping[str, Any] = read_results(files[0]).run.get("metadata", {}) if files else {}
    options = {**metadata, "bertscore_model": bertscore_model, "keep_parts": True}
    return {task: _rows(task, options) for task in tasks}


def _rows(task: str, options: Mapping[str, Any]) -> dict[str, PromptRow]:
    rows = map(PromptRow.of_doc, hook.load(task.split(" ")[0], 1, **options)["test"])
    return {row.id: row for row in rows}
