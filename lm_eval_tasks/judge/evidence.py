"""What a judge is shown of the paper itself: for each sentence of both texts the passages of the body that fit it best (BM25)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.base.metadata import NO_MODEL
from lm_eval_tasks.base.text import sentences
from lm_eval_tasks.families.writing import hook
from lm_eval_tasks.retrieval.sparse import BM25
from lm_eval_tasks.samples.results import read_results
from lm_eval_tasks.samples.row import PromptRow
from lm_eval_tasks.samples.run_folder import results_in

if TYPE_CHECKING:
    from lm_eval_tasks.samples.sample import Sample


_WORDS = 80


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
        """The passages for a sample in the order of the body, the same whichever of its two texts comes first."""
        chunks = _chunks(self.each[sample.task, sample.id])
        queries = [sentence for text in (sample.row.target, sample.answer) for sentence in sentences(text)]
        ranked = BM25().rank(queries, [chunks] * len(queries), self.passages)
        chosen = sorted({place for places in ranked for place in places})
        return "\n".join(f"[{place + 1}] {chunks[place]}" for place in chosen)


def bodies(folders: Sequence[Path], samples: Sequence[Sample], passages: int) -> Bodies:
    """The bodies of the papers that samples are about, from the dataset that their run used.

    Args:
        folders: of one run, or files in them.

    Raises:
        EvalError: a sample's paper is missing.
        SamplesError: the results that name the dataset cannot be read.
        EvalError: the dataset cannot be loaded, or the run does not name it.
    """
    files = sorted(file for path in folders for file in results_in(path if path.is_dir() else path.parent))
    run = read_results(files[0]).run if files else None
    options: dict[str, Any] = {**(run.metadata if run else {}), "bertscore_model": NO_MODEL, "keep_parts": True}
    rows: dict[tuple[str, str], PromptRow] = {}
    for setting in sorted({sample.row.setting for sample in samples}):
        docs = hook.load(setting.split(" ")[0], 1, **options)["test"]
        rows |= {(setting, row.id): row for row in map(PromptRow.of_doc, docs)}
    each = {}
    for sample in samples:
        row = rows.get((sample.row.setting, sample.id))
        if row is None:
            raise EvalError(
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
