"""What programs without a language model get on exact questions: floors, rules, and a program that is in no list.

SCALAR's levels and Match over SCALAR's papers, Walk and Next over the papers of the folder `lab`; with `--quick` Walk and Next alone, over
a small made-up world. Of the programs that do not parse what a paper is made of, the one that is best on every other row is the floor, and
its share on the rest of the rows is stated. `rules` is a parser written for the task, `chance` guesses or knows the best constant,
`held_program` compares character n-grams. Then, how many of the masks of Match an independent search sees through.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from benchmarks.jats import ARTICLES
from benchmarks.reading import SEED, Rows, Texts, lab, made_up, opened, scalar_papers
from benchmarks.scalar import FILES, SCALAR
from benchmarks.shared.running import Figures, run
from builder.extract.jats import read_jats
from builder.families.match.masks import Mask, masks_of
from builder.families.scalar.citation_classifier import types_of
from builder.families.scalar.columns import row_of
from builder.families.scalar.questions import QuestionMaker, ask_all, turn_of
from builder.families.scalar.structured import Structured, read_structured
from builder.imports.scalar import library_of
from builder.records import Cited, Citing, Document, Paper
from builder.sources.jats.source import JatsSource
from lm_eval_tasks.base.bm25 import bm25_scores, standardised
from lm_eval_tasks.base.contract import OF_SCALAR
from lm_eval_tasks.base.text import sentences
from lm_eval_tasks.base.typed import typed
from lm_eval_tasks.engines.registry import LocalEngine
from lm_eval_tasks.families.reading.answering import reading_answering, share_right_of
from lm_eval_tasks.families.reading.prompt import part_texts, prompt_of
from lm_eval_tasks.families.reading.reading_row import ReadingRow
from lm_eval_tasks.families.scalar import LEVELS
from lm_eval_tasks.families.scalar.scalar_row import ScalarRow
from lm_eval_tasks.families.scalar.shortcuts import around_the_mask, chooser
from lm_eval_tasks.families.walk.programs import is_in_span, papers_that, places_of
from lm_eval_tasks.llm.weights import minilm_path
from lm_eval_tasks.retrieval.retrievers import encoder
from standins import rounds
from standins.jats_world import papers_of
from standins.places import DATA

# Characters of an n-gram, and of a passage's end and beginning.
N, END = 4, 500
# Characters of an entry that gives no more than how the work is cited.
N_CITED = 60
QUESTIONS = 100
_NAME = re.compile(r"[A-Z][\w’'-]{3,}")
# Parts of a paper between which a work may be cited, or by which two citations may differ.
_EDGES = (0.0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)
_SPANS = [(low, high) for low in _EDGES for high in _EDGES if low < high]
_EMBEDDED: dict[str, np.ndarray] = {}
Programs = dict[str, list[float]]


def measure(folder: Path, quick: bool) -> Figures:
    """Return all families."""
    if quick:
        rows, texts = built(made_up(folder / "round", 50, ["Walk-128K", "Next-128K"], 20))
        return {name: of_reading(name, rows, texts, embed=False) for name in ("walk", "next")}
    rows, texts = built(lab(folder / "lab"))
    asked, shown = opened(scalar_papers(folder))
    structured = [read_structured(SCALAR / file) for file in FILES]
    return {
        **{f"scalar_{name}": of_scalar(rows_) for name, rows_ in scalar_rows(structured).items()},
        "walk": of_reading("walk", rows, texts, embed=True),
        "next": of_reading("next", rows, texts, embed=True),
        "match": of_reading("match", asked, shown, embed=True),
        **leaks([*structured, articles(folder / "jats")]),
    }


def stated(programs: Programs, **others: float) -> Figures:
    """Return the best program on every other row, and what it gets on the rest; prints all of them over all rows."""
    best = max(programs, key=lambda name: fmean(programs[name][::2]))
    print({name: round(fmean(scores), 3) for name, scores in programs.items()}, f"best: {best}", flush=True)
    figures = {"floor": fmean(programs[best][1::2] or programs[best]), **others}
    return {**{name: round(figure, 3) for name, figure in figures.items()}, "program": best}


def likeness(queries: Sequence[str], texts: Sequence[str]) -> np.ndarray:
    """Return the share of each query's character n-grams that stand in each text, shape (queries, texts)."""
    grams = [{text[i : i + N] for i in range(len(text) - N + 1)} for text in map(str.casefold, (*queries, *texts))]
    of_texts = grams[len(queries) :]
    return np.array([[len(own & other) / max(1, len(own)) for other in of_texts] for own in grams[: len(queries)]])


# --- SCALAR


def scalar_rows(structured: Sequence[Any]) -> dict[str, list[ScalarRow]]:
    """Return level -> questions of our own over SCALAR's papers."""
    known = {id_: cited for each in structured for id_, cited in each.known.items()}
    citing = sorted((citing for each in structured for citing in each.citing), key=lambda one: turn_of(one.paper, SEED))
    makers = [QuestionMaker(level, SEED, known.get, types_of, 5, "published") for level in LEVELS]
    return {
        level.short_name: [
            typed(ScalarRow, {"round": "", **row_of(one)}) for one in ask_all(maker, citing, SEED, QUESTIONS)
        ]
        for level, maker in zip(LEVELS, makers, strict=True)
    }


def of_scalar(rows: Sequence[ScalarRow]) -> Figures:
    """Return the figures of a level."""
    choices: dict[str, list[int]] = {name: [chooser(name)(row) for row in rows] for name in OF_SCALAR}
    choices["vote"] = [max(each, key=each.count) for each in zip(*choices.values(), strict=True)]
    held = [
        float(
            np.argmax(likeness([around_the_mask(row.question)], [f"{c.title} {c.content}" for c in row.candidates])[0])
            == row.label
        )
        for row in rows
    ]
    programs = {
        name: [float(choice == row.label) for choice, row in zip(of_program, rows, strict=True)]
        for name, of_program in choices.items()
    }
    labels = [row.label for row in rows]
    return stated(
        programs, chance=max(labels.count(label) for label in set(labels)) / len(labels), held_program=fmean(held)
    )


# --- reading families


def built(round_: Any) -> tuple[Rows, Texts]:
    """Return the rows and texts of a round."""
    rounds.run(round_, LocalEngine())
    return opened(round_.output)


def of_reading(family: str, rows: Rows, texts: Texts, *, embed: bool) -> Figures:
    """Return the figures of a family, of its largest configuration of whole papers."""
    answering = reading_answering(family)
    name = max((name for name in rows if name.lower().startswith(f"{family}-")), key=lambda name: len(rows[name]))
    asked = [typed(ReadingRow, row) for row in rows[name]]
    print(f"{name}: {len(asked)} rows", flush=True)
    chance = fmean(answering.blind_score(row) for row in asked)
    if family == "walk":
        right = [
            float(set(papers_that(row.kind, "".join(prompt_of(row, texts, answering)))) == set(row.answer))
            for row in asked
        ]
        held = fmean(float(_walk_held(row, texts) == set(row.answer)) for row in asked)
        programs = {
            "title-search": list(map(answering.shortcut_score, asked)),
            "blind": list(map(answering.blind_score, asked)),
            "places": _by_places(asked, texts),
        }
        return stated(programs, chance=chance, rules=fmean(right), held_program=held)
    found = [_pairs(family, row, part_texts(row, texts), embed) for row in asked]
    scored = {name: [one[name] for one in found] for name in found[0]}
    held = fmean(scored.pop("n-grams"))
    return stated(scored, chance=chance, held_program=held)


def _by_places(rows: Sequence[ReadingRow], texts: Texts) -> list[float]:
    """Return the scores of the program `places`, whose spans are learned on every other row, and print these."""
    places = [
        [[places_of(work.title, text) for work in row.works] for text in part_texts(row, texts)[: row.labels]]
        for row in rows
    ]

    def right(i: int, span: tuple[float, float]) -> float:
        named = {n for n, of_paper in enumerate(places[i], 1) if is_in_span(rows[i].kind, of_paper, span)}
        return float(named == set(rows[i].answer))

    spans: dict[str, tuple[float, float]] = {}
    for kind in sorted({row.kind for row in rows}):
        known = [i for i in range(0, len(rows), 2) if rows[i].kind == kind]
        spans[kind] = max(_SPANS, key=lambda span, known=known: sum(right(i, span) for i in known))  # type: ignore[misc]
    print(f"spans: {spans}", flush=True)
    return [right(i, spans[row.kind]) for i, row in enumerate(rows)]


def _walk_held(row: ReadingRow, texts: Texts) -> set[int]:
    """Return the papers that most of the titles' n-grams stand in, in a line before the reference list."""
    bodies = [text.rpartition("\n## References\n")[0] for text in part_texts(row, texts)[: row.labels]]
    shares = likeness([work.title for work in row.works], bodies).min(axis=0)
    return {i for i, share in enumerate(shares, 1) if share > 0.95}


def _pairs(family: str, row: ReadingRow, parts: Sequence[str], embed: bool) -> dict[str, float]:
    """Return program -> what it scores on a row of Next or Match."""
    shown = list(parts[: row.labels])
    places = [label - 1 for label in row.asked]
    if family == "next":
        queries, targets = [shown[i] for i in places], shown
        ends, begins = [query[-END:] for query in queries], [text[:END] for text in shown]
    else:
        queries = ends = [_masked(parts[-1], label) for label in row.asked]
        targets = begins = [_summary(text) for text in shown]
    signals = {
        "bm25": bm25_scores(queries, targets),
        "bm25 of ends": bm25_scores(ends, begins),
        "bm25 of texts": bm25_scores(queries, shown),
        "length": np.array([[-float(abs(len(text) - len(query))) for text in targets] for query in queries]),
        "n-grams": likeness(ends, begins),
    }
    if embed:
        vectors = _encode([*ends, *begins])
        signals["embeddings"] = vectors[: len(ends)] @ vectors[len(ends) :].T
    usual = [scores for name, scores in signals.items() if name not in ("n-grams", "length")]
    signals["vote"] = np.sum([standardised(scores) for scores in usual], axis=0)
    if family == "next":
        for scores in signals.values():
            scores[range(len(places)), places] = -np.inf
    named = {name: [int(place) + 1 for place in scores.argmax(axis=1)] for name, scores in signals.items()}
    if family == "match":
        # No paper is the answer to two masks.
        each = {name: linear_sum_assignment(-scores)[1] for name, scores in signals.items() if name != "n-grams"}
        named |= {f"{name}, one each": [int(place) + 1 for place in one] for name, one in each.items()}
    named["stored"] = list(row.shortcut)
    return {
        name: share_right_of(dict(zip(row.asked, labels, strict=True)), row.asked, row.answer)
        for name, labels in named.items()
    }


def _encode(texts: Sequence[str]) -> np.ndarray:
    """Return the embeddings of length 1, shape (texts, dimensions)."""
    if new := [text for text in dict.fromkeys(texts) if text not in _EMBEDDED]:
        vectors = encoder(minilm_path("baseline"), "mean")(new)
        _EMBEDDED.update(zip(new, vectors / np.linalg.norm(vectors, axis=1, keepdims=True), strict=True))
    return np.stack([_EMBEDDED[text] for text in texts])


def _summary(text: str) -> str:
    """Return title and abstract of a shown paper."""
    title, abstract = text.partition("\n")[0], text.partition("\n\n## ")[2].partition("\n\n## ")[0]
    return f"{title}\n{abstract}"


def _masked(text: str, mask: int) -> str:
    """Return the sentences with a mask."""
    mark = f"[MASK {mask}]"
    lines = (line for line in text.split("\n") if mark in line)
    return " ".join(sentence.replace(mark, "") for line in lines for sentence in sentences(line) if mark in sentence)


# --- leaks


def leaks(structured: Sequence[Any]) -> Figures:
    """Return the share of masks beside which a name of the masked work stands, found by another search than the one that lets masks be."""
    every = [leaking for each in structured for leaking in _leaking(each)]
    for left in filter(None, every):
        print(f"a mask leaves {left}", flush=True)
    return {"masks": len(every), "mask_leaks": round(fmean(map(bool, every)), 4)}


def articles(work: Path) -> Structured:
    """Return real articles, whose works count as known by what the reference lists say of them: many more masks than have a text to
    match.
    """
    source = JatsSource(str(ARTICLES), work)
    citing: list[Citing] = []
    known: dict[str, Cited] = {}
    for paper in papers_of(source):
        file = source.fetch("jats", paper.id, paper.version)
        assert file is not None
        document = read_jats(file).document
        entries = {i: entry for i, entry in enumerate(document.references) if entry.title and entry.authors}
        cited = {i: f"{paper.id}-{i}" for i in entries}
        for i, id_ in cited.items():
            before = paper.published - timedelta(days=365)
            work_ = Paper(id_, 1, entries[i].title, "-", entries[i].authors, (), before, before)
            known[id_] = Cited(work_, Document(work_.title, "-", ()))
        citing.append(Citing(paper, document, cited))
    return Structured(tuple(citing), known)


def _leaking(structured: Any) -> Iterator[str]:
    """Return for each mask, the name that gives it away, or ""."""
    library, papers = library_of(structured, SEED)
    for paper in papers:
        read = library.read(paper.id)
        for mask in masks_of(read, library, SEED, None):
            [entry] = [read.document.references[i] for i, id_ in read.resolved.items() if id_ == mask.work.id][:1]
            cited_as = _NAME.findall(entry.raw) if len(entry.raw) < N_CITED and not entry.authors else []
            yield next(filter(None, (_name_left(read, mask, place, cited_as) for place in mask.spans)), "")


def _name_left(read: Any, mask: Mask, place: tuple[int, int, int], cited_as: Sequence[str]) -> str:
    """Return a name of the work in the sentence around a place, "" for none."""
    section, start, end = place
    text = read.document.sections[section].text
    before = re.split(r"[.?!]\s", text[max(0, start - END) : start])[-1]
    after = re.split(r"[.?!]\s", text[end : end + END])[0]
    near = re.sub(r"[^a-z0-9]", "", f"{before} {after}".casefold())
    authors = [name for author in mask.work.authors for name in author.split()[-1:] if len(name) > 4]
    own = {part.casefold() for name in (*authors, *cited_as) for part in (name, *name.split("-")) if len(part) > 3}
    head = mask.work.title.partition(":")[0].casefold() if ":" in mask.work.title else ""
    names = {*own, head if len(head.split()) < 3 else ""} - {""}
    words = {word.casefold() for word in _NAME.findall(f"{before} {after}")}
    return next(
        (name for name in names if name in words or (re.sub(r"[^a-z0-9]", "", name) in near and len(name) > 6)), ""
    )


if __name__ == "__main__":
    run(measure, DATA / "lab", DATA / "scalar")
