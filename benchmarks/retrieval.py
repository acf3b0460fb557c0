"""How far retrievers agree: the share of their twelve best chunks that two of them have in common, on 30 real papers.

A paper's body is split and asked for as the abstract task does it (section 4.2 of the AcademicEval paper). "first letter" asks BM25 as the
reference's code does, which passes the query as a text where a list is expected.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace

from benchmarks.shared.data import DATA, PDF, pdf_files
from benchmarks.shared.running import Figures, run
from builder.extract.workers import extract_files
from builder.families.writing.task_view import content
from lm_eval_tasks.engines.local import LocalEngine
from lm_eval_tasks.prompts import templates
from lm_eval_tasks.retrieval.retrieve import Query, retrieve
from lm_eval_tasks.retrieval.settings import Retrieval

RECORDS = DATA / "pdf_meta.jsonl"


def measure(folder: Path, quick: bool) -> Figures:
    """Our BM25, that of rank_bm25, and the latter asked for the first letter."""
    asked = questions(5 if quick else 30)
    bm25, okapi = (retrieve(asked, Retrieval(name), folder) for name in ("bm25", "bm25_okapi"))
    first_letter = retrieve([Query(one.query[0], one.texts) for one in asked], Retrieval("bm25_okapi"), folder)
    return {
        "papers": len(asked),
        "bm25 and bm25_okapi": common(bm25, okapi),
        "bm25_okapi and first letter": common(okapi, first_letter),
    }


def questions(most: int) -> list[Query]:
    """What the abstract task asks of the first papers that can be read."""
    titles = {record["id"]: record["title"] for record in map(json.loads, RECORDS.open())}
    query = templates.load("abs_query")
    asked = []
    for result in extract_files(map(str, pdf_files(2 * most)), LocalEngine(2), 60.0, 2048):
        title = titles.get(Path(result.name).stem.replace("_", "/"))
        if result.document is not None and title is not None and len(asked) < most:
            row = {"title": title, "content": "", "abstract": "", "demonstrations": []}
            text = "".join(slot.text for slot in query.slots(SimpleNamespace(**row)))
            asked.append(Query(text, (content(result.document, "abs"),)))
    return asked


def common(found: Sequence[Sequence[str]], others: Sequence[Sequence[str]]) -> float:
    """The mean share of chunks that are also among others."""
    shares = [len(set(chunks) & set(other)) / max(1, len(chunks)) for chunks, other in zip(found, others, strict=True)]
    return round(fmean(shares), 3)


if __name__ == "__main__":
    run(measure, PDF, RECORDS)
