"""Stage 1: records of the source -> papers of the store.

Paper -> store. Drop reasons: bad_record, withdrawn, outside_window, other_category.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from builder.errors import RoundError, StoreError
from builder.progress import progress
from builder.records import Drop, Paper
from builder.report import StageReport
from builder.round import Round
from builder.sources import Source
from builder.sources.mirror import file_fingerprint, read_metadata
from builder.store import Store, in_categories


def crawl(round_: Round, source: Source, store: Store) -> StageReport:
    """Take the round's papers into the store; a source that was taken in whole and has not changed is not read again.

    Raises:
        RoundError: not one paper of the source belongs to the round.
    """
    started = time.perf_counter()
    done = store.note(_key(round_))
    if not isinstance(done, dict) or done["fingerprint"] != source.fingerprint():
        report = StageReport("crawl")
        store.add_papers(_wanted(round_, source, report), pool=True)
        store.set_note(_key(round_), {"fingerprint": source.fingerprint(), "report": report.to_dict()})
    report = crawl_report(round_, store)
    if not report.kept:
        raise RoundError(_nothing(round_, report))
    _add_reference_records(round_, store)
    report.seconds = time.perf_counter() - started
    return report


def crawl_report(round_: Round, store: Store) -> StageReport:
    """What the finished crawl of this round did.

    Raises:
        StoreError: it was not finished.
    """
    done = store.note(_key(round_))
    if not isinstance(done, dict):
        raise StoreError("this round was not crawled yet; run `academiceval run round.toml`")
    return StageReport.from_dict(done["report"])


def _key(round_: Round) -> str:
    return f"crawl {round_.source.model_dump_json()} {round_.papers.model_dump_json()}"


def _wanted(round_: Round, source: Source, report: StageReport) -> Iterator[Paper]:
    wanted = frozenset(round_.papers.categories)
    items = source.submitted_between(round_.papers.published_from, round_.papers.published_to)
    for item in progress(items, "crawl"):
        if isinstance(item, Drop):
            report.drop(item.id, item.reason)
        elif not in_categories(item, wanted):
            report.drop(item.id, "other_category")
        else:
            report.kept += 1
            yield item


def _nothing(round_: Round, report: StageReport) -> str:
    if report.dropped.get("other_category"):
        names = ", ".join(round_.papers.categories)
        return f"no paper of the source has the primary category {names}; correct `papers.categories` in round.toml"
    return f"the source has no paper for this round ({report.line()}); check its metadata and the `papers` window"


def _add_reference_records(round_: Round, store: Store) -> None:
    for path in round_.source.references:
        key = f"references {file_fingerprint(path)}" if path.is_file() else ""
        if not key:
            raise RoundError(f"`source.references` names {path}, which is not a file")
        if store.note(key) is None:
            records = (item for item in progress(read_metadata(path), "references") if isinstance(item, Paper))
            store.add_papers(records, pool=False)
            store.set_note(key, True)
