"""The authors' own ceiling: how version 1 of an abstract or title scores against the last version.

These are two human texts by the same people about the same work; hardly any model can be expected to come closer. The ceiling is
optimistic, because a revision starts from the old text, and it is known for revised papers only.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from statistics import fmean
from typing import TYPE_CHECKING

from builder.dataset.manifest import Bounds, Ceiling, bounds_of
from lm_eval_tasks.core.intervals import interval
from lm_eval_tasks.metrics.bertscore import NO_MODEL, bertscore
from lm_eval_tasks.metrics.rouge import rouge_l, rouge_l_content

if TYPE_CHECKING:
    from builder.records import Paper, Task
    from lm_eval_tasks.core.row_format import FirstVersion


def ceilings_of(papers: Sequence[Paper], first_versions: Sequence[FirstVersion], model: str) -> dict[Task, Ceiling]:
    """The ceilings of both tasks; none where no revision changed the text.

    Args:
        papers: of the test split.
        model: of BERTScore, "none" for none.
    """
    last = {paper.versioned_id: paper for paper in papers}
    revised = [(last[revision.id], revision) for revision in first_versions if revision.id in last]
    titles = [(paper, revision.title, paper.title) for paper, revision in revised]
    abstracts = [(paper, revision.abstract, paper.abstract) for paper, revision in revised]
    ceilings = {"title": _ceiling(titles, len(papers), model), "abs": _ceiling(abstracts, len(papers), model)}
    return {task: ceiling for task, ceiling in ceilings.items() if ceiling is not None}  # type: ignore[misc]


def _ceiling(texts: Sequence[tuple[Paper, str, str]], papers: int, model: str) -> Ceiling | None:
    changed = [(paper, first, last) for paper, first, last in texts if first != last]
    if not changed:
        return None
    authors = [paper.authors[0] for paper, _, _ in changed]
    differ = [1 - SequenceMatcher(None, old.split(), new.split(), autojunk=False).ratio() for _, old, new in changed]
    overlap, of_content = ([measure(new, old) for _, old, new in changed] for measure in (rouge_l, rouge_l_content))
    near = None if model == NO_MODEL else bertscore([new for *_, new in changed], [old for _, old, _ in changed], model)
    return Ceiling(
        papers,
        len(texts),
        len(changed),
        round(fmean(differ), 4),
        _bounds(overlap, authors),
        None if near is None else _bounds(near, authors),
        "" if near is None else model,
        _bounds(of_content, authors),
    )


def _bounds(values: Sequence[float], authors: Sequence[str]) -> Bounds:
    return bounds_of(interval(values, authors))
