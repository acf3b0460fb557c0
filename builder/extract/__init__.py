"""Stage 3: files of the papers -> documents in the store.

Paper -> StoredDocument. Drop reasons: `records.ExtractReason`.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable
from pathlib import Path

from builder.extract.pool import extract_files
from builder.progress import progress
from builder.records import Paper
from builder.report import StageReport
from builder.round import Round
from builder.sources import Source
from builder.store import Store, StoredDocument

# Rises with every change that can change a document: stored documents of another version are made anew.
EXTRACTOR = "1"


def extract_papers(round_: Round, source: Source, store: Store, papers: Iterable[Paper], jobs: int) -> StageReport:
    """Extract the papers that the store has no current document of, then report all of them from the store."""
    started = time.perf_counter()
    papers = list(papers)
    todo: list[tuple[Paper, Path]] = []
    for paper in papers:
        path = source.fetch_pdf(paper.id, paper.version)
        if path is None:
            store.put_document(
                StoredDocument(paper.id, EXTRACTOR, "", "missing_file", "the source has no PDF of it", None)
            )
        elif store.document_state(paper.id, EXTRACTOR) != _sha256(path):
            todo.append((paper, path))
    limits = round_.extract
    results = extract_files([path for _, path in todo], jobs, limits.time_limit, limits.memory_limit)
    for (paper, path), result in zip(todo, progress(results, "extract", len(todo)), strict=True):
        digest = result.sha256 or _sha256(path)
        store.put_document(StoredDocument(paper.id, EXTRACTOR, digest, result.reason, result.detail, result.document))
    report = extract_report(store, papers)
    report.seconds = time.perf_counter() - started
    return report


def extract_report(store: Store, papers: Iterable[Paper]) -> StageReport:
    """What the finished extraction of these papers came to.

    Raises:
        StoreError: a paper was not extracted yet.
    """
    report = StageReport("extract")
    for paper in papers:
        reason = store.document_reason(paper.id)
        if reason:
            report.drop(paper.id, reason)
        else:
            report.kept += 1
    return report


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
