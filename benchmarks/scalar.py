"""Build SCALAR's three levels from made-up papers, and measure how well citations are classified.

200 question papers of 6,000 words that cite 30 earlier ones each; the build is done twice. The agreement of the classifier with real
labels is that on papers left out of the training, in ten folds (two with `--quick`). For every single citation of a work in SCALAR's
structured papers, the text inside <Paper> is compared with the layout of the published prompts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.shared import classifier
from benchmarks.shared.made_up import build_workspace, fill_workspace
from benchmarks.shared.running import Figures, call, run
from builder.extract.sections import top_sections
from builder.families.scalar.shown import question
from builder.families.scalar.structured import Structured, read_structured
from builder.packed import lines_of
from lm_eval_tasks.base.contract import MASK
from lm_eval_tasks.base.text import parse_json
from lm_eval_tasks.families.scalar import Scope
from standins.places import DATA
from standins.rounds import hashes

SCALAR = DATA / "scalar"
LABELS = SCALAR / "citation_labels.jsonl.xz"
FILES = ("papers.jsonl.xz", "papers_more.jsonl.xz")
SCOPES: tuple[Scope, ...] = ("full", "section")
Row = Mapping[str, Any]
# Four times as many as question papers: a quarter is asked about.
PAPERS = 800
_LEVELS = """
settings = ["Title-10K"]
[scalar]
levels = ["SCALAR-Easy", "SCALAR-Medium", "SCALAR-Hard"]
"""


def measure(folder: Path, quick: bool) -> Figures:
    """Return the seconds and memory of the slower and larger build, whether both gave the same bytes, and the agreement."""
    place = folder / "made"
    papers = 80 if quick else PAPERS
    fill_workspace(place, papers, words=6000, cited=30, settings=_LEVELS)
    builds = [call(build_workspace, place, output) for output in ("once", "twice")]
    agreement = classifier.measure(classifier.read_labels(LABELS), 2 if quick else 10)
    structured = [read_structured(SCALAR / file) for file in FILES]
    equal, citations = shown_alike(structured, SCALAR)
    return {
        "papers_alike": equal,
        "citations": citations,
        "seconds": round(max(build.seconds for build in builds), 1),
        "peak_mb": round(max(build.peak_mb for build in builds), 1),
        "identical": hashes(place / "once") == hashes(place / "twice"),
        "type_agreement": agreement["type_agreement"],
    }


def shown_alike(structured: Sequence[Structured], data: Path) -> tuple[int, int]:
    """Return how many single citations of a work in the files give the text inside <Paper> of a published prompt, and how many there
    are.
    """
    equal = total = 0
    for each, file in zip(structured, FILES, strict=True):
        records = (parse_json(line) for line in lines_of(data / file) if line)
        for citing, record in zip(each.citing, records, strict=True):
            document, all_parts = citing.document, top_sections(citing.document)
            of_section = {i: part for part in all_parts for i in part.sections}
            mentions = iter(document.mentions)
            for heading, section in record["sections"].items():
                for place in section["citations"]:
                    mention = next(mentions)
                    if not place["single_citation"] or place["paper_id"] not in record["references"]["data"]:
                        continue
                    total += 1
                    part = of_section.get(mention.section)
                    title, abstract = citing.paper.title, citing.paper.abstract
                    equal += part is not None and all(
                        question(document, title, abstract, mention, scope) == laid_out(record, heading, place, scope)
                        for scope in SCOPES
                    )
    return equal, total


def laid_out(record: Row, heading: str, place: Row, scope: Scope) -> str:
    """Return a paper, or a section of it, as the published prompts show it, one citation masked."""
    text = record["sections"][heading]["content"]
    masked = f"{text[: place['start_pos']]}{MASK}{text[place['end_pos'] :]}"
    if scope == "section":
        return f"\n## {heading}\n{masked}"
    sections = {name: section["content"] for name, section in record["sections"].items()} | {heading: masked}
    body = "".join(f"\n\n## {name}\n{content}" for name, content in sections.items())
    return f"{record['title']}\n\nAbstract: {record['abstract']}\n{body}"


if __name__ == "__main__":
    run(measure, LABELS)
