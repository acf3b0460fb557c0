"""What a judge is shown of the paper itself: for each sentence of both texts the passages of the body that fit it best (BM25)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_tasks.base.errors import JudgeError
from lm_eval_tasks.base.text import sentences
from lm_eval_tasks.families.writing import hook
from lm_eval_tasks.retrieval.sparse import BM25
from lm_eval_tasks.samples.results import read_results
from lm_eval_tasks.samples.row import PromptRow
from lm_eval_tasks.samples.run_folder import results_in

if TYPE_CHECKING:
    from lm_eval_tasks.samples.sample import Sample


_WORDS = 80


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
    run = read_results(files[0]).run if files else None
    metadata = run.metadata if run else {}
    options = {**metadata, "bertscore_model": bertscore_model, "keep_parts": True}
    return {task: _rows(task, options) for task in tasks}


def _rows(task: str, options: Mapping[str, Any]) -> dict[str, PromptRow]:
    rows = map(PromptRow.of_doc, hook.load(task.split(" ")[0], 1, **options)["test"])
    return {row.id: row for row in rows}


@dataclass(frozen=True, slots=True)
class Bodies:
    """The bodies of the papers of a run.

    Attributes:
        each: (task, sample) -> its paper's body.
        passages: for each sentence.
    """

    each: Mapping[tuple[str, str], str]
    passages: int

    def of(self, sample: Sample) -> str:
        """The passages for a sample, the same whichever of its two texts comes first."""
        return passages_of(self.each[sample.task, sample.id], (sample.row.target, sample.answer), self.passages)


def passages_of(body: str, texts: Sequence[str], count: int) -> str:
    """The passages of a body that fit the sentences of some texts best, `count` for each sentence, in the order of the body."""
    chunks = _chunks(body)
    queries = [sentence for text in texts for sentence in sentences(text)]
    ranked = BM25().rank(queries, [chunks] * len(queries), count)
    chosen = sorted({place for places in ranked for place in places})
    return "\n".join(f"[{place + 1}] {chunks[place]}" for place in chosen)


def bodies(folders: Sequence[Path], samples: Sequence[Sample], passages: int) -> Bodies:
    """The bodies of the papers that samples are about, from the dataset that their runs used.

    Raises:
        JudgeError: a sample's paper is missing.
        EvalError: the dataset cannot be loaded, or the runs do not name it.
    """
    rows = rows_of_run(folders, sorted({sample.row.setting for sample in samples}), "none")
    each = {}
    for sample in samples:
        row = rows[sample.row.setting].get(sample.id)
        if row is None:
            raise JudgeError(
                f"{sample.task} {sample.id} is not in the dataset of the run: --evidence needs the paper's body"
            )
        each[sample.task, sample.id] = row.content or ""
    return Bodies(each, passages)


def _chunks(body: str) -> list[str]:
    """A body in passages of whole sentences, about 80 words each."""
    chunks: list[list[str]] = [[]]
    count = 0
    for sentence in sentences(" ".join(body.split())):
        words = len(sentence.split())
        if chunks[-1] and count + words > _WORDS:
            chunks.append([])
            count = 0
        chunks[-1].append(sentence)
        count += words
    return [" ".join(chunk) for chunk in chunks if chunk]
