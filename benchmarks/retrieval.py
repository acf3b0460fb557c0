"""How far retrievers agree: the share of their twelve best chunks that two of them have in common, on real papers.

  python benchmarks/retrieval.py [DATA] [--quick]

DATA: default ../shared/data, with pdf/ and pdf_meta.jsonl. A paper's body is split and asked for as the abstract task does it
(section 4.2 of the AcademicEval paper). "first letter" asks BM25 as the reference's code does, which passes the query as a text
where a list is expected. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from itertools import combinations
from pathlib import Path
from statistics import fmean

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from builder.extract.workers import extract_files  # noqa: E402
from builder.samples.task_view import content  # noqa: E402
from lm_eval_tasks.engines.local import LocalEngine  # noqa: E402
from lm_eval_tasks.prompts import templates  # noqa: E402
from lm_eval_tasks.retrieval.retrieve import Question, Retrieval, retrieve  # noqa: E402

RETRIEVERS = ("bm25", "bm25_okapi", "tfidf", "minilm")
FIRST_LETTER = "first letter"


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", default=ROOT.parent / "shared" / "data")
    parser.add_argument("--quick", action="store_true", help="five papers")
    arguments = parser.parse_args()
    if not (arguments.data / "pdf_meta.jsonl").is_file():
        parser.exit(1, f"error: no metadata file {arguments.data / 'pdf_meta.jsonl'}\n")
    asked = questions(arguments.data, 5 if arguments.quick else 30)
    found = {name: chunks(asked, name) for name in RETRIEVERS}
    found[FIRST_LETTER] = chunks([Question(one.query[0], one.texts) for one in asked], "bm25_okapi")
    figures = {}
    for one, other in combinations(found, 2):
        shared = fmean(len(set(a) & set(b)) / max(1, len(a)) for a, b in zip(found[one], found[other], strict=True))
        figures[f"{one} and {other}"] = round(shared, 3)
        print(f"{one} and {other}: {shared:.2f} of the chunks in common")
    print(json.dumps({"papers": len(asked), **figures}))


def questions(data: Path, most: int) -> list[Question]:
    """What the abstract task asks of the first papers that can be read."""
    records = {one["id"]: one for one in map(json.loads, (data / "pdf_meta.jsonl").open())}
    query = templates.load("abs_query")
    asked = []
    for result in extract_files(map(str, sorted((data / "pdf").glob("*.pdf"))[: 2 * most]), LocalEngine(2), 60.0, 2048):
        record = records.get(Path(result.name).stem.replace("_", "/"))
        if result.document is not None and record is not None and len(asked) < most:
            row = {"title": record["title"], "content": "", "abstract": "", "demonstrations": []}
            text = "".join(slot.text for slot in query.slots(row))
            asked.append(Question(text, (content(result.document, "abs"),)))
    return asked


def chunks(asked: list[Question], name: str) -> list[list[str]]:
    """The twelve best chunks of each paper."""
    with tempfile.TemporaryDirectory() as cache:
        return retrieve(asked, Retrieval(name), Path(cache))


if __name__ == "__main__":
    main()
