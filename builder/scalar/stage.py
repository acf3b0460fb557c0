"""SCALAR in a round: the papers that questions are made of, what they cite, and the levels of the dataset."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from builder.collect.license_lookup import learn_licenses
from builder.dataset.card import Built
from builder.dataset.question_columns import row_of, write_level
from builder.extract.stage import Documents, choose_documents, extract_papers
from builder.progress import progress
from builder.records import Paper, Split
from builder.report import StageReport
from builder.round.licenses import allows
from builder.round.model import Round
from builder.samples.split import Cut
from builder.samples.tokens import TokenCounter
from builder.scalar.annotate import typing_of
from builder.scalar.questions import Cited, Citing, Examiner, ask_all
from builder.sources.base import Source
from builder.store import Store

_CACHED = 256


def read_cited(
    round_: Round, source: Source, store: Store, papers: Sequence[Paper], documents: Documents, cut: Cut, jobs: int
) -> None:
    """Fetch and read the papers that the question papers cite, as far as the levels show their texts."""
    if not round_.scalar.shows_texts:
        return
    cited = cited_papers(round_, store, question_papers(round_, papers, documents, cut))
    extract_papers(round_, source, store, learn_licenses(source, store, cited), jobs)


def question_papers(round_: Round, papers: Iterable[Paper], documents: Documents, cut: Cut) -> list[Paper]:
    """The papers with a document, in the wanted splits, that the quality filter and the licences let through."""
    accepted = round_.scalar.accepted_ids
    return [
        paper
        for paper in papers
        if paper.id in documents
        and cut.split_of(paper) in round_.scalar.splits
        and (accepted is None or paper.id in accepted)
        and allows(paper.license, round_.licenses)
        and paper.abstract
    ]


def cited_papers(round_: Round, store: Store, papers: Iterable[Paper]) -> list[Paper]:
    """The records of what the papers cite; of each paper so many at most, which ones depends on the seed alone."""
    wanted: set[str] = set()
    for paper in papers:
        ids = {link.cited_id for link in store.links(paper.id) if link.cited_id}
        ids -= round_.taken_down
        wanted.update(sorted(ids, key=lambda id_: _rank(round_.seed, id_))[: round_.scalar.cited_papers])
    return list(store.papers(sorted(wanted)))


def build_levels(
    place: Path, round_: Round, store: Store, papers: Sequence[Paper], documents: Documents, cut: Cut, count: TokenCounter
) -> tuple[list[Built], list[StageReport]]:  # fmt: skip
    """Write every level that the round asks for."""
    levels = round_.scalar.chosen
    if not levels:
        return [], []
    asking = question_papers(round_, papers, documents, cut)
    cited = {paper.id: paper for paper in cited_papers(round_, store, asking) if allows(paper.license, round_.licenses)}
    texts = Documents(store, {})
    if round_.scalar.shows_texts:
        texts = choose_documents(round_, store, cited.values())[0]

    @lru_cache(maxsize=_CACHED)
    def known(id_: str) -> Cited | None:
        paper = cited.get(id_)
        return Cited(paper, texts.get(id_)) if paper else None

    typing = typing_of(round_)
    built: list[Built] = []
    reports: list[StageReport] = []
    for level in levels:
        examiner = Examiner(level, round_.seed, known, typing, round_.scalar.questions_of_paper)
        rows = {
            split: _rows(round_, store, documents, examiner, _of_split(asking, cut, split))
            for split in round_.scalar.splits
        }
        built.append(write_level(place, level, rows, round_.round, count))
        reports.append(examiner.report)
    return built, reports


def _rows(
    round_: Round, store: Store, documents: Documents, examiner: Examiner, papers: Sequence[Paper]
) -> list[dict[str, object]]:
    citing = (
        Citing(paper, documents[paper.id], _cited_of(store, paper))
        for paper in progress(papers, examiner.report.stage, len(papers))
    )
    return [row_of(one) for one in ask_all(examiner, citing, round_.seed)]


def _of_split(papers: Iterable[Paper], cut: Cut, split: Split) -> list[Paper]:
    return [paper for paper in papers if cut.split_of(paper) == split]


def _cited_of(store: Store, paper: Paper) -> dict[int, str]:
    return {link.reference: link.cited_id for link in store.links(paper.id) if link.cited_id}


def _rank(seed: int, id_: str) -> bytes:
    return hashlib.sha256(f"{seed}|{id_}|cited".encode()).digest()
