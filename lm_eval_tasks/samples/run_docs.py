"""The rows of the dataset that a saved run was over, with their prompts and bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval_tasks.samples import result_file

# In the names of tasks that ask for citations by number.
CITED = "_cited_"


def _role(task: str) -> str:
    return "cited" if CITED in task else "prompt"


def docs_of(
    folders: Sequence[Path], settings: Sequence[str], bertscore_model: str
) -> dict[str, dict[str, Mapping[str, Any]]]:
    """Setting -> sample -> its row, as the run's own arguments load it.

    Args:
        folders: of one run, or files in them.
        settings: tasks as samples name them: settings, or "Related-34K related_cited_short".

    Raises:
        SamplesError: the results that name the dataset cannot be read.
        EvalError: the dataset does not exist.
    """
    from lm_eval_tasks.data import hook

    places = [path if path.is_dir() else path.parent for path in folders]
    files = sorted(file for place in places for file in result_file.results_in(place))
    metadata: Mapping[str, Any] = {}
    if files:
        with result_file.opened(files[0]) as content:
            metadata = content["academiceval"]["run"]["metadata"]
    given = {**metadata, "bertscore_model": bertscore_model}
    return {
        name: {
            row["id"]: row for row in hook.load(name.split(" ")[0], 1, _role(name), keep_parts=True, **given)["test"]
        }
        for name in settings
    }
