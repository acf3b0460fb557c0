"""What a judge is shown of the paper itself: for each sentence of both texts the passages of the body that fit it best (BM25)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval_tasks.base.bm25 import best, bm25_scores
from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.base.metadata import NO_MODEL
from lm_eval_tasks.base.progress import batches
from lm_eval_tasks.base.text import sentences
from lm_eval_tasks.data.window import READ
from lm_eval_tasks.families.writing import hook
from lm_eval_tasks.families.writing.answering import own_of
from lm_eval_tasks.families.writing.settings import SETTINGS
from lm_eval_tasks.samples.prompt_row import PromptRow
from lm_eval_tasks.samples.results import read_results
from lm_eval_tasks.samples.run_folder import newest_results
from lm_eval_tasks.samples.sample import Sample

_WORDS = 80


def passages_for(folders: Sequence[Path], samples: Sequence[Sample], count: int) -> dict[tuple[str, str], str]:
    """Return task and id of a sample with two texts -> passages of its paper in the order of the body, from the dataset that its run used;
    the same whichever of the texts comes first.

    Args:
        folders: of one run, or files in them.
        count: passages for each sentence.

    Raises:
        EvalError: a sample's paper is missing or another one, the dataset cannot be loaded, or the run does not name it.
        SamplesError: the results that name the dataset cannot be read.
    """
    rows = _rows(folders, {sample.row.setting: sample.row.task for sample in samples})
    shown = {}
    for sample in samples:
        row = rows.get((sample.row.setting, sample.id))
        if row is None or sample.row.row_hash not in ("", row.row_hash):
            raise EvalError(
                f"{sample.task} {sample.id} is not in the dataset of the run: --evidence needs the paper's body"
            )
        chunks = _chunks(own_of(row).content or "")
        queries = [*sentences(sample.row.target), *sentences(sample.answer)]
        if queries:
            chosen = {i for scores in bm25_scores(queries, chunks) for i in best(scores, count)}
            shown[sample.task, sample.id] = "\n".join(f"[{i + 1}] {chunks[i]}" for i in sorted(chosen))
    return shown


def _rows(folders: Sequence[Path], settings: Mapping[str, str]) -> dict[tuple[str, str], PromptRow]:
    """Load the rows of some settings, each with its task, by setting and id, with what a body says."""
    parents = (path if path.is_dir() else path.parent for path in folders)
    files = sorted(file for parent in parents for file in newest_results(parent))
    results = read_results(files[0]) if files else None
    asked = (results.run.metadata if results.run else results.options) if results else {}
    # Each paper's whole body is wanted, however little the model had room for.
    metadata = {key: value for key, value in asked.items() if key not in READ}
    options = {**metadata, "bertscore_model": NO_MODEL, "keep_parts": True, "fits_only": False}
    names = [setting.name for setting in SETTINGS]
    rows = {}
    for shown, task in sorted(settings.items()):
        name = shown.split(" ")[0]
        # A setting of a round's own shows what the usual ones of its task do.
        usual = name if name in names else next(setting.name for setting in SETTINGS if setting.task == task)
        arguments: dict[str, Any] = {**options, "config": name}
        for doc in hook.load(usual, 1, **arguments)["test"]:
            row = PromptRow.of_doc(doc)
            rows[shown, row.id] = row
    return rows


def _chunks(body: str) -> list[str]:
    """Return a body in passages of whole sentences, about 80 words each; a text without ends of sentences is cut after so many."""
    chunks: list[list[str]] = [[]]
    for sentence in sentences(" ".join(body.split())):
        for words in batches(sentence.split(), 2 * _WORDS):
            if chunks[-1] and len(chunks[-1]) + len(words) > _WORDS:
                chunks.append([])
            chunks[-1] += words
    return [" ".join(chunk) for chunk in chunks if chunk]
