"""How many of SCALAR's questions are answered without reading the paper, and how many papers are shown as SCALAR shows them.

  python benchmarks/shortcuts.py [DATA] [--quick]

DATA: default ../shared/data/scalar. The shortcuts answer the published questions there, and questions made of SCALAR's structured
papers (100 a level; with --quick ten, and bm25-local alone); intervals are by paper. Then, for every single citation of a work in
these papers, the text inside <Paper> is compared with the layout of the published prompts. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from builder.extract.sections import parts  # noqa: E402
from builder.scalar.citation_classifier import types_of  # noqa: E402
from builder.scalar.importers.papers import Structured, read_structured  # noqa: E402
from builder.scalar.importers.questions import read_questions  # noqa: E402
from builder.scalar.questions import QuestionMaker, ask_all, turn_of  # noqa: E402
from builder.scalar.render import question  # noqa: E402
from builder.scalar.rows import row_of  # noqa: E402
from lm_eval_tasks.core.intervals import SHARES, interval  # noqa: E402
from lm_eval_tasks.core.row_format import MASK, OF_SCALAR  # noqa: E402
from lm_eval_tasks.retrieval.shortcuts import chooser  # noqa: E402
from lm_eval_tasks.tasks.records import LEVELS, Scope  # noqa: E402

Row = Mapping[str, Any]
DATA = ROOT.parent / "shared" / "data" / "scalar"
FILES = ("papers.jsonl.xz", "papers_more.jsonl.xz")
SEED = 1
SCOPES: tuple[Scope, ...] = ("full", "section")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", default=DATA)
    parser.add_argument("--quick", action="store_true", help="ten questions a level, bm25-local alone")
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        parser.exit(1, f"error: {arguments.data} is not there: name the folder of SCALAR's papers and questions\n")
    structured = [read_structured(arguments.data / file) for file in FILES]
    rows = {
        "published": list(published(arguments.data)),
        "made": list(made(structured, 10 if arguments.quick else 100)),
    }
    figures: dict[str, object] = {}
    for shortcut in OF_SCALAR[:1] if arguments.quick else OF_SCALAR:
        choose, name = chooser(shortcut), shortcut.replace("-", "_")
        for kind, of_kind in rows.items():
            all_right: list[float] = []
            for level, own in by_level(of_kind).items():
                right = [float(choose(row) == row["label"]) for row in own]
                all_right += right
                score = interval(right, [row["paper_id"] for row in own], SHARES)
                bounds = f" [{score.low:.2f}, {score.high:.2f}]" if score.bounds else ""
                print(f"{shortcut}, {kind}, {level}: {score.mean:.2f}{bounds}, n {len(own)}", flush=True)
                figures[f"{name}_{kind}_{level}"] = round(score.mean, 3)
            figures[f"{name}_{kind}"] = round(fmean(all_right), 3)
    equal, citations = shown_alike(structured, arguments.data)
    print(f"papers shown as the published prompts show them: {equal} of {citations} citations")
    print(json.dumps({**figures, "papers_alike": equal, "citations": citations}))


def published(data: Path) -> Iterator[Row]:
    """The published questions."""
    for _, row in read_questions(data / "published"):
        if not isinstance(row, str):
            yield row


def made(structured: Sequence[Structured], most: int) -> Iterator[Row]:
    """Questions of our own over SCALAR's papers."""
    known = {id_: cited for each in structured for id_, cited in each.known.items()}
    citing = sorted((citing for each in structured for citing in each.citing), key=lambda one: turn_of(one.paper, SEED))
    for level in LEVELS:
        maker = QuestionMaker(level, SEED, known.get, types_of, 5, "published")
        yield from map(row_of, ask_all(maker, citing, SEED, most))


def by_level(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The rows of each level."""
    levels: dict[str, list[Row]] = {level.short_name: [] for level in LEVELS}
    for row in rows:
        levels[row["level"]].append(row)
    return levels


def shown_alike(structured: Sequence[Structured], data: Path) -> tuple[int, int]:
    """How many single citations of a work in the files give the text inside <Paper> of a published prompt, and how many there are."""
    equal = total = 0
    for each, file in zip(structured, FILES, strict=True):
        with lzma.open(data / file, "rt") as lines:
            records = [json.loads(line) for line in lines]
        for citing, record in zip(each.citing, records, strict=True):
            document, all_parts = citing.document, parts(citing.document)
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
                        question(document, title, abstract, mention, part, scope, all_parts)
                        == laid_out(record, heading, place, scope)
                        for scope in SCOPES
                    )
    return equal, total


def laid_out(record: Row, heading: str, place: Row, scope: Scope) -> str:
    """A paper, or a section of it, as the published prompts show it, one citation masked."""
    text = record["sections"][heading]["content"]
    masked = f"{text[: place['start_pos']]}{MASK}{text[place['end_pos'] :]}"
    if scope == "section":
        return f"\n## {heading}\n{masked}"
    sections = {name: section["content"] for name, section in record["sections"].items()} | {heading: masked}
    body = "".join(f"\n\n## {name}\n{content}" for name, content in sections.items())
    return f"{record['title']}\n\nAbstract: {record['abstract']}\n{body}"


if __name__ == "__main__":
    main()
