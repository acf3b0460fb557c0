"""What a judge is shown of the paper itself: for each sentence of both texts the passages of the body that fit it best (BM25)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lm_eval_tasks.core.errors import JudgeError
from lm_eval_tasks.retrieval.sparse import BM25
from lm_eval_tasks.study.damages.base import sentences

if TYPE_CHECKING:
    from lm_eval_tasks.samples.logged import Logged

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

    def of(self, sample: Logged) -> str:
        """The passages for a sample, the same whichever of its two texts comes first."""
        return passages_of(self.each[sample.task, sample.id], (sample.target, sample.answer), self.passages)


def passages_of(body: str, texts: Sequence[str], count: int) -> str:
    """The passages of a body that fit the sentences of some texts best, `count` for each sentence, in the order of the body."""
    chunks = _chunks(body)
    asked = [sentence for text in texts for sentence in sentences(text)]
    ranked = BM25().rank(asked, [chunks] * len(asked), count)
    chosen = sorted({place for places in ranked for place in places})
    return "\n".join(f"[{place + 1}] {chunks[place]}" for place in chosen)


def bodies(folders: Sequence[Path], samples: Sequence[Logged], passages: int) -> Bodies:
    """The bodies of the papers that samples are about, from the dataset that their runs used.

    Raises:
        JudgeError: a sample's paper is missing.
        EvalError: the dataset cannot be loaded, or the runs do not name it.
    """
    from lm_eval_tasks.samples.run_docs import docs_of

    tasks = {sample.task: sample.task.split(" ")[0] for sample in samples}
    docs = docs_of(folders, sorted(set(tasks.values())), "none")
    lost = [one for one in samples if one.id not in docs[tasks[one.task]]]
    if lost:
        raise JudgeError(
            f"{lost[0].task} {lost[0].id} is not in the dataset of the run: --evidence needs the paper's body"
        )
    return Bodies({(one.task, one.id): str(docs[tasks[one.task]][one.id]["content"]) for one in samples}, passages)


def _chunks(body: str) -> list[str]:
    """A body in passages of whole sentences, about 80 words each."""
    found: list[list[str]] = [[]]
    count = 0
    for sentence in sentences(" ".join(body.split())):
        words = len(sentence.split())
        if found[-1] and count + words > _WORDS:
            found.append([])
            count = 0
        found[-1].append(sentence)
        count += words
    return [" ".join(one) for one in found if one]
