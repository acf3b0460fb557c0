"""The answers to reading questions that a made-up world has planted, worked out from the world alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from builder.ids import bare_id
from builder.sources.sample.world import WorldPaper, make_world
from lm_eval_tasks.base.text import title_key

Row = Mapping[str, Any]
# Section role, and number of the paragraph in the paper.
Locations = set[tuple[str, int]]


@cache
def world_of(seed: int, authors: int, papers: int) -> dict[str, WorldPaper]:
    return {paper.id: paper for paper in make_world(seed, authors, papers)}


def planted_answer(row: Row, texts: Mapping[str, str], world: Mapping[str, WorldPaper]) -> list[int]:
    """The labels that are right.

    Args:
        texts: versioned id -> the paper's text, where Next's passages stand.
    """
    if row["kind"] == "masks":
        return list(_of_masks(row, texts, world))
    if row["asked"]:
        return [_follower(row, label, texts) for label in row["asked"]]
    keys = [title_key(work["title"]) for work in row["works"]]
    ids = [bare_id(row["papers"][part["paper"]]["id"]) for part in row["parts"]]
    return [label for label, id_ in enumerate(ids, 1) if _fits(row["kind"], [_places(world[id_], key) for key in keys])]


def _places(paper: WorldPaper, key: str) -> Locations:
    entries = {i for i, entry in enumerate(paper.references) if key in title_key(entry)}
    return {(role, paragraph) for i, role, paragraph in citations(paper) if i in entries}


def _fits(kind: str, places: list[Locations]) -> bool:
    roles = [{role for role, _ in of_work} for of_work in places]
    if kind == "same_paragraph":
        return bool({n for _, n in places[0]} & {n for _, n in places[1]})
    if kind == "background_only":
        return bool(roles[0] & {"introduction", "related_work"}) and "experiments" not in roles[0]
    return kind in roles[0]


def _follower(row: Row, label: int, texts: Mapping[str, str]) -> int:
    """The passage that begins where another one ends."""
    asked = row["parts"][label - 1]
    text = texts[row["papers"][asked["paper"]]["id"]]
    begins = {(part["paper"], part["start"]): number for number, part in enumerate(row["parts"][: row["labels"]], 1)}
    rest = text[asked["end"] :]
    return begins[asked["paper"], asked["end"] + len(rest) - len(rest.lstrip())]


def _of_masks(row: Row, texts: Mapping[str, str], world: Mapping[str, WorldPaper]) -> Iterator[int]:
    """For each mask the paper whose mark in the text it replaces."""
    part = row["parts"][-1]
    paper = world[bare_id(row["papers"][part["paper"]]["id"])]
    text = texts[row["papers"][part["paper"]]["id"]]
    titles = {
        title_key(world[bare_id(row["papers"][other["paper"]]["id"])].title): number
        for number, other in enumerate(row["parts"][: row["labels"]], 1)
    }
    for mask in row["asked"]:
        edit = next(edit for edit in part["edits"] if edit["text"] == f"[MASK {mask}]")
        mark = re.sub(r"\s+", " ", text[edit["start"] : edit["end"]])
        entry = paper.references[paper.marks.index(mark)]
        yield next(number for key, number in titles.items() if key in title_key(entry))


def citations(paper: WorldPaper) -> Iterator[tuple[int, str, int]]:
    """Where a paper cites: index into its `references`, role of the section, number of the paragraph in the whole text."""
    paragraphs = ((section.role, text) for section in paper.sections for text in section.paragraphs)
    for number, (role, text) in enumerate(paragraphs):
        for index, mark in enumerate(paper.marks):
            yield from ((index, role, number) for _ in range(text.count(mark)))
