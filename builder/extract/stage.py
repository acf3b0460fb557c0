"""Stage 3: files of the papers -> documents in the store, and the choice of the document that is used for each paper.

Paper -> document in the store. Drop reasons: `records.ExtractReason`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import tee
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from builder.errors import StoreError
from builder.extract import quality
from builder.extract.workers import extract_files
from builder.records import Document, FileType, Paper, Quality
from builder.stage_report import StageReport
from builder.store import Store
from builder.store.documents import FileOutcome, unpack_document
from lm_eval_tasks.base.figures import ReadingSummary
from lm_eval_tasks.base.files import sha256_of
from lm_eval_tasks.base.progress import progress

if TYPE_CHECKING:
    from builder.round.model import Round
    from builder.sources import Source
    from lm_eval_tasks.engines.registry import Engine

# Raise with every change that can affect a document: stored documents of another version are made again.
EXTRACTOR = "20"
# Recorded for a file that was not asked for because the paper's other file is good.
_UNREAD: tuple[str, Quality | None] = ("missing_file", None)


@dataclass(frozen=True, slots=True)
class Documents:
    """The documents that a round uses: for each paper the one of the preferred file that is good enough."""

    store: Store
    kinds: Mapping[str, FileType]
    report: StageReport = field(default_factory=lambda: StageReport("extract"))

    def get(self, paper_id: str) -> Document | None:
        return self[paper_id] if paper_id in self.kinds else None

    def __getitem__(self, paper_id: str) -> Document:
        return unpack_document(self.packed_document(paper_id), paper_id)

    def packed_document(self, paper_id: str) -> bytes:
        """Return a paper's document as the store has it, for `store.documents.unpacked`."""
        packed = self.store.packed_document(paper_id, self.kinds[paper_id])
        assert packed, f"{paper_id} was chosen for its document"
        return packed


def extract_papers(round_: Round, source: Source, store: Store, papers: Sequence[Paper], engine: Engine) -> None:
    """Read the files for which the store has no current document; files are fetched while others are read."""
    limits = round_.extract
    for file_type in _order(round_):
        # They are read ahead of the results.
        files, named = tee(
            _unread_files(round_, source, store, progress(papers, f"extract {file_type}", len(papers)), file_type)
        )
        results = extract_files((str(path) for path, *_ in files), engine, limits.time_limit, limits.memory_limit)
        for result, (_, paper_id, digest) in zip(results, named, strict=True):
            outcome = FileOutcome(
                digest, reason=result.reason, detail=result.detail, quality=result.quality, document=result.document
            )
            store.put_document(paper_id, file_type, EXTRACTOR, outcome)


def _order(round_: Round) -> list[FileType]:
    """Return the kinds of files that the source has, the preferred one first."""
    return sorted(round_.source.FILES, key=lambda file_type: file_type != round_.extract.prefer)


def _unread_files(
    round_: Round, source: Source, store: Store, papers: Iterable[Paper], file_type: FileType
) -> Iterator[tuple[Path, str, str]]:
    """Yield the files to read, with the paper and hash of each."""
    for paper in papers:
        preferred = round_.extract.prefer
        # Whether the preferred kind of file has given a document that the round can use.
        if file_type != preferred and not _fault(round_, *store.outcomes(paper.id).get(preferred, _UNREAD)):
            continue
        path = source.fetch(file_type, paper.id, paper.version)
        if path is None:
            outcome = FileOutcome("", reason="missing_file", detail="not in the source")
            store.put_document(paper.id, file_type, EXTRACTOR, outcome)
            continue
        digest = sha256_of(path)
        if store.read_file(paper.id, file_type, EXTRACTOR) != digest:
            yield path, paper.id, digest


def choose_documents(round_: Round, store: Store, papers: Iterable[Paper]) -> Documents:
    """Choose each paper's document by the round's preference and thresholds; a StoreError if a paper has not been extracted yet."""
    report = StageReport("extract")
    order = _order(round_)
    chosen: dict[str, FileType] = {}
    for paper in papers:
        if not round_.taken_down.isdisjoint(paper.every_id):
            report.drop(paper.id, "taken_down")
            continue
        if not (outcomes := store.outcomes(paper.id)):
            raise StoreError(f"{paper.id} has not been extracted yet; run `academiceval run round.toml`")
        faults = {file_type: _fault(round_, *outcomes.get(file_type, _UNREAD)) for file_type in order}
        good = next((file_type for file_type in order if not faults[file_type]), None)
        if good is not None:
            chosen[paper.id] = good
            report.kept += 1
        else:
            report.drop(
                paper.id, next((f for file_type in order if (f := faults[file_type]) != "missing_file"), "missing_file")
            )
    return Documents(store, chosen, report)


def _fault(round_: Round, reason: str, figures: Quality | None) -> str:
    """Say why a file's document cannot be used, "" if it can."""
    return reason or (quality.fault(figures, round_.quality) if figures else None) or ""


def summarise(documents: Documents, file_types: Sequence[FileType]) -> ReadingSummary:
    """Return the means of the quality figures of the documents used, and how many there are of each kind of file that the papers have."""
    outcomes = (documents.store.outcomes(paper_id)[kind] for paper_id, kind in documents.kinds.items())
    rows = [asdict(figures) for _, figures in outcomes if figures is not None]
    used = Counter(documents.kinds.values())
    names = rows[0] if rows else ()
    means = {name: round(fmean(row[name] for row in rows), 4) for name in names}
    return ReadingSummary({file_type: used[file_type] for file_type in file_types}, means)
