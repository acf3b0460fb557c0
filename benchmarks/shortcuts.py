"""How many of SCALAR's questions are answered without reading the paper, and how many papers are shown as SCALAR shows them.

The shortcuts answer the published questions, and questions made of SCALAR's structured papers (100 a level; with `--quick` ten, and
bm25-local alone). Then, for every single citation of a work in these papers, the text inside <Paper> is compared with the layout of the
published prompts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.shared.data import DATA, records_of
from benchmarks.shared.running import Figures, run
from builder.extract.sections import parts
from builder.families.scalar.citation_classifier import types_of
from builder.families.scalar.importers.papers import Structured, read_structured
from builder.families.scalar.importers.questions import read_questions
from builder.families.scalar.questions import QuestionMaker, ask_all, turn_of
from builder.families.scalar.render import question
from builder.families.scalar.rows import row_of
from lm_eval_tasks.base.row_format import MASK, OF_SCALAR
from lm_eval_tasks.base.typed import typed
from lm_eval_tasks.families.scalar import LEVELS, Scope
from lm_eval_tasks.families.scalar.row import ScalarRow
from lm_eval_tasks.families.scalar.shortcuts import chooser

Row = Mapping[str, Any]
SCALAR = DATA / "scalar"
FILES = ("papers.jsonl.xz", "papers_more.jsonl.xz")
SEED = 1
SCOPES: tuple[Scope, ...] = ("full", "section")


def measure(_: Path, quick: bool) -> Figures:
    """Shares right, and papers alike."""
    structured = [read_structured(SCALAR / file) for file in FILES]
    rows = {"published": list(published()), "made": list(made(structured, 10 if quick else 100))}
    figures: Figures = {}
    for shortcut in OF_SCALAR[:1] if quick else OF_SCALAR:
        choose, name = chooser(shortcut), shortcut.replace("-", "_")
        for kind, of_kind in rows.items():
            right = [choose(typed(ScalarRow, {"round": "", **row})) == row["label"] for row in of_kind]
            figures[f"{name}_{kind}"] = round(fmean(right), 3)
            for level in LEVELS:
                of_level = [own for row, own in zip(of_kind, right, strict=True) if row["level"] == level.short_name]
                figures[f"{name}_{kind}_{level.short_name}"] = round(fmean(of_level), 3)
    equal, citations = shown_alike(structured, SCALAR)
    return {**figures, "papers_alike": equal, "citations": citations}


def published() -> Iterator[Row]:
    """The published questions."""
    for _, row in read_questions(SCALAR / "published"):
        if not isinstance(row, str):
            yield row


def made(structured: Sequence[Structured], most: int) -> Iterator[Row]:
    """Questions of our own over SCALAR's papers."""
    known = {id_: cited for each in structured for id_, cited in each.known.items()}
    citing = sorted((citing for each in structured for citing in each.citing), key=lambda one: turn_of(one.paper, SEED))
    for level in LEVELS:
        maker = QuestionMaker(level, SEED, known.get, types_of, 5, "published")
        yield from map(row_of, ask_all(maker, citing, SEED, most))


def shown_alike(structured: Sequence[Structured], data: Path) -> tuple[int, int]:
    """How many single citations of a work in the files give the text inside <Paper> of a published prompt, and how many there are."""
    equal = total = 0
    for each, file in zip(structured, FILES, strict=True):
        for citing, record in zip(each.citing, records_of(data / file), strict=True):
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
    run(measure, SCALAR)
