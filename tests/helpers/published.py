"""Records as the papers' own repositories have them, made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PAPER = {
    "url": "http://arxiv.org/abs/2401.00001v1",
    "title": "A title",
    "abstract": "An abstract.",
    "authors": "Ada, Bo",
    "published": "2024-01-01",
    "primary_cat": "cs.CL",
    "gt": "The target.",
    "main_content": "The body.",
}
REFERENCE: dict[str, Any] = {
    **PAPER,
    "additional_info": [{**PAPER, "title": "Other"}],
    "additional_graph_info": {"node_feat": {"a": [{**PAPER, "title": "Third"}]}},
}
WORK = {
    "title": "B",
    "arxiv_id": "2401.00001",
    "abstract": "C",
    "citation": "B.",
    "sections": {"2 Method": {"content": "D", "citations": []}},
}
STRUCTURED: dict[str, Any] = {
    "title": "T",
    "abstract": "A",
    "paper_id": "http://arxiv.org/abs/2410.00001",
    "sections": {
        "1 Introduction": {
            "content": "We cite [1].",
            "citations": [{"paper_id": "a", "start_pos": 8, "end_pos": 11, "single_citation": True}],
        }
    },
    "references": {"data": {"a": WORK}},
}


def write_reference(folder: Path, count: int = 3) -> None:
    """A setting of the reference layout with this many samples."""
    (folder / "abs_9K").mkdir(parents=True)
    for i in range(count):
        record = {**REFERENCE, "url": f"http://arxiv.org/abs/2401.0000{i}v1", "title": f"Title {i}"}
        (folder / "abs_9K" / f"{i}.json").write_text(json.dumps(record))


def write_structured(path: Path, count: int = 3) -> None:
    """Structured papers that cite eight works each, one after the other."""
    works = {f"w{k}": {**WORK, "title": f"Work {k}", "arxiv_id": f"2401.0000{k}"} for k in range(8)}
    lines = []
    for i in range(count):
        sentences = [f"As work number {k} shows [{k}], reading helps when it is done with care. " for k in range(8)]
        content, citations = "", []
        for k, sentence in enumerate(sentences):
            start = len(content) + sentence.index("[")
            place = {"paper_id": f"w{k}", "start_pos": start, "end_pos": start + 3, "single_citation": True}
            citations.append(place)
            content += sentence
        # Shorter papers are not asked about.
        method = {"content": "Reading helps when it is done with care. " * 400, "citations": []}
        sections = {"1 Introduction": {"content": content, "citations": citations}, "2 Method": method}
        record = {
            **STRUCTURED,
            "paper_id": f"http://arxiv.org/abs/2410.0000{i}",
            "title": f"T{i}",
            "sections": sections,
            "references": {"data": works},
        }
        lines.append(json.dumps(record))
    path.write_text("\n".join(lines) + "\n")
