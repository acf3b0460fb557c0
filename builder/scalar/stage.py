"""Stage 7, SCALAR in a round: the papers that questions are made of, what they cite, and the levels of the dataset."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from builder.extract.stage import Documents, choose_documents
from builder.records import Cited, Citing
from builder.round.licenses import allows
from builder.scalar.annotate import typing_of
from builder.scalar.questions import Question, QuestionMaker, ask_all, turn_of
from lm_eval_tasks.core.progress import progress

if TYPE_CHECKING:
    from builder.records import Paper, Split
    from builder.stage_report import StageReport
    from builder.workspace import Workspace
    from lm_eval_tasks.engines.base import Engine
    from lm_eval_tasks.tasks.records import Level

_CACHED = 256


def prepare(workspace: Workspace, engine: Engine) -> None:
    """Fetch and read the papers that the question papers cite, as far as the levels show their texts."""
    scalar = workspace.round_.scalar
    if scalar.shows_texts:
        workspace.read_cited(question_papers(workspace), scalar.cited_papers, engine)


def question_papers(workspace: Workspace) -> list[Paper]:
    """The papers that are tried: in the wanted splits, passed by quality filter and licences.

    For each split, those whose turn comes first, so that no more cited papers are fetched than the questions may need.
    """
    round_, dates = workspace.round_, workspace.dates
    accepted = round_.scalar.accepted_ids
    fit = [
        paper
        for paper in workspace.papers
        if dates.split_of(paper) in round_.scalar.splits
        and (accepted is None or paper.id in accepted)
        and allows(paper.license, round_.licenses)
        and paper.abstract
    ]
    fit.sort(key=lambda paper: turn_of(paper, round_.seed))
    most = min(len(fit), round_.scalar.tried)
    return [
        paper
        for split in round_.scalar.splits
        for paper in islice((candidate for candidate in fit if dates.split_of(candidate) == split), most)
    ]


class Asking:
    """What the questions of a round are made of: papers to ask about, and what is known of those that they cite."""

    def __init__(self, workspace: Workspace) -> None:
        round_, store = workspace.round_, workspace.store
        self._round, self._store = round_, store
        self._documents, self._dates = workspace.documents, workspace.dates
        self._papers = question_papers(workspace) if round_.scalar.chosen else []
        cited = workspace.cited_papers(self._papers, round_.scalar.cited_papers)
        self._cited = {paper.id: paper for paper in cited if allows(paper.license, round_.licenses)}
        self._texts = Documents(store, {})
        if round_.scalar.shows_texts:
            self._texts = choose_documents(round_, store, self._cited.values())[0]
        self._known = lru_cache(maxsize=_CACHED)(self._look_up)

    def questions(self, level: Level) -> tuple[dict[Split, list[Question]], StageReport]:
        """The questions of a level, split by split."""
        scalar = self._round.scalar
        maker = QuestionMaker(
            level, self._round.seed, self._known, typing_of(self._round), scalar.questions_of_paper, scalar.lengths
        )
        questions = {split: self._of_split(maker, split) for split in scalar.splits}
        return questions, maker.report

    def _of_split(self, maker: QuestionMaker, split: Split) -> list[Question]:
        papers = [paper for paper in self._papers if self._dates.split_of(paper) == split]
        citing = (
            Citing(paper, self._documents[paper.id], self._store.cited_ids(paper.id))
            for paper in progress(papers, maker.report.stage, len(papers))
        )
        return ask_all(maker, citing, self._round.seed, self._round.scalar.questions)

    def _look_up(self, id_: str) -> Cited | None:
        paper = self._cited.get(id_)
        return Cited(paper, self._texts.get(id_)) if paper else None
