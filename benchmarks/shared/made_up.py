"""Made-up texts, and workspaces of made-up papers whose documents were put there as if they had been read."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

from builder.collect.coverage import Covered, finish
from builder.extract.stage import EXTRACTOR
from builder.records import Document, Link, Mention, Paper, Quality, Reference, Role, Section
from builder.round.model import load_round
from builder.stage_report import StageReport
from builder.store import STORE, Store
from builder.store.documents import FileOutcome
from lm_eval_tasks.engines.registry import LocalEngine
from standins.rounds import build

_ROUND = """
round = "2026.11"
seed = 1
{settings}
[source]
kind = "sample"
[split]
validation = 0.1
test = 0.25
"""
# Heading, role, share of the words, and which of eight cited works each cites.
_SECTIONS: tuple[tuple[str, Role, float, Sequence[int]], ...] = (
    ("1 Introduction", "introduction", 0.1, (0,)),
    ("2 Related Work", "related_work", 0.08, range(1, 6)),
    ("3 Method", "body", 0.4, (6,)),
    ("4 Results", "body", 0.36, (7,)),
    ("5 Conclusion", "conclusion", 0.06, ()),
)


def vocabulary(rng: random.Random, size: int) -> list[str]:
    """Return different words of four to nine letters."""
    return ["".join(rng.choices("bcdfglmnprstvaeiou", k=rng.randint(4, 9))) for _ in range(size)]


def text(rng: random.Random, words: Sequence[str], count: int) -> str:
    """Return a text of so many words."""
    return " ".join(rng.choices(words, k=count))


def pairs(count: int, words: int, seed: int, answers: int = 0) -> list[tuple[str, str]]:
    """Return targets and answers of about so many words, which share a third of them; `answers` changes only the answers."""
    rng, other = random.Random(seed), random.Random(f"{seed} {answers}")
    known = vocabulary(rng, 6_000)
    weights = [1 / (i + 1) for i in range(len(known))]
    made = []
    for _ in range(count):
        target = rng.choices(known, weights, k=int(words * rng.uniform(0.7, 1.3)))
        fresh = other.choices(known, weights, k=words)
        answer = [word if other.random() < 0.33 else new for word, new in zip(target, fresh, strict=False)]
        made.append((" ".join(target), " ".join(answer)))
    return made


def fill_workspace(
    place: Path,
    papers: int,
    *,
    words: int = 8000,
    cited: int = 8,
    group_papers: int = 24,
    settings: str = "",
) -> None:
    """Make a workspace of papers, linked, by authors who write together, and its round.toml.

    Args:
        words: of a paper.
        cited: how many earlier papers each cites.
        group_papers: how many papers each group of authors writes.
        settings: keys and tables of round.toml, as TOML; left out, all published settings.
    """
    place.mkdir(parents=True)
    (place / "round.toml").write_text(_ROUND.format(settings=settings))
    rng = random.Random(papers)
    known = vocabulary(rng, 20_000) + ["the", "of", "and", "to", "in", "a", "is", "that", "for", "we"] * 700
    with Store.open(place / "work" / STORE) as store:
        records = [_paper(i, papers, rng, known, group_papers) for i in range(papers)]
        store.add_papers(records, since="2026.11")
        for i, paper in enumerate(records):
            quality = Quality(words, 0.9, 0.0, 0.0, 1.0, 0.2, in_order=True)
            document = _document(paper, rng, known, words, cited)
            store.put_document(paper.id, "html", EXTRACTOR, FileOutcome(paper.id, quality=quality, document=document))
            older = rng.sample(records[:i], min(cited, i))
            links = [Link(paper.id, n, other.id, "title", 1.0) for n, other in enumerate(older)]
            with store.transaction():
                store.put_links(paper.id, links, "made up")
        finish(store, "2026.11", Covered(date(2026, 10, 31), StageReport("crawl", papers)))


def _paper(i: int, papers: int, rng: random.Random, words: Sequence[str], group_papers: int) -> Paper:
    """Make a paper; authors come in groups of eight, whose members sign together; neighbouring groups share one."""
    groups = max(1, papers // group_papers)
    names = [f"Author {(i % groups * 8 + k) % (8 * groups)}" for k in rng.sample(range(9), 3)]
    day = date(2025, 9, 1) + timedelta(days=400 * i // papers)
    return Paper(
        id=f"{2509 + i // 90000:04d}.{i:05d}",
        version=1,
        title=text(rng, words, 9).title(),
        abstract=text(rng, words, 180),
        authors=tuple(names),
        categories=("cs.CL",),
        published=day,
        updated=day,
        license="http://creativecommons.org/licenses/by/4.0/",
    )


def _document(paper: Paper, rng: random.Random, known: Sequence[str], words: int, cited: int) -> Document:
    """Return a document in which each cited work is named once, every other time by an acronym."""
    sections, mentions = [], []
    for number, (heading, role, share, places) in enumerate(_SECTIONS):
        here = [n for n in range(cited) if n % 8 in places]
        own = text(rng, known, int(words * share) // (len(here) + 1))
        for n in here:
            own += " with BERT-Net " if n % 2 else " "
            mark = f"[{n + 1}]"
            mentions.append(Mention(number, len(own), len(own) + len(mark), (n,), False))
            own += f"{mark}. {text(rng, known, int(words * share) // (len(here) + 1))}"
        sections.append(Section(heading, role, 1, own))
    references = tuple(Reference(f"[{n}] Entry number {n}", str(n)) for n in range(1, cited + 1))
    return Document(paper.title, paper.abstract, tuple(sections), references, tuple(mentions))


def build_workspace(place: Path, output: str = "academiceval", jobs: int = 1) -> None:
    """Build the dataset folder of a filled workspace, into a folder beside its round.toml."""
    with LocalEngine(jobs) as engine:
        build(load_round(place / "round.toml").model_copy(update={"output": place / output}), engine)
