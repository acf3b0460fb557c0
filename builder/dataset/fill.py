"""Complete a publishable copy on the reader's own machine: id-only rows get their texts back.

Papers are taken from the workspace, and from the round's source where the workspace lacks them; every text is compared
with its hash. A folder that could be completed whole is the original one, byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import merge
from itertools import count
from pathlib import Path
from typing import Any

from builder.dataset import folder
from builder.dataset import question_rows as scalar
from builder.dataset.card import Built, close_all, file_table
from builder.dataset.frozen_core import CORE
from builder.dataset.overview import card
from builder.dataset.publishable import IDS, all_rows, by_setting, kind_of, papers_of, read_rows, row_texts
from builder.dataset.text_hashes import digest
from builder.dataset.write import RowWriter
from builder.errors import FolderError
from builder.extract.stage import KINDS, extract_papers
from builder.ids import parse_arxiv_id
from builder.progress import progress
from builder.records import SPLITS, Document, Paper, Split, Task
from builder.report import StageReport
from builder.round.model import Round
from builder.round.tables import ScalarTable
from builder.samples import task_view
from builder.sources.base import Source
from builder.store import Store


def fill(source: Path, output: Path, round_: Round, papers_from: Source, store: Store, jobs: int) -> StageReport:
    """Write the completed folder.

    Drop reasons (of id-only rows): missing_paper, missing_file, changed_text.

    Raises:
        FolderError: `source` is no publishable copy.
    """
    manifest = folder.read_manifest(source)
    if "original_files" not in manifest:
        raise FolderError(f"{source} is no publishable copy, it has nothing to fill")
    settings = by_setting(manifest["files"])
    wanted = [row for name in settings if name.endswith(IDS) for row in all_rows(source, settings[name])]
    _learn(round_, papers_from, store, wanted, jobs)
    report = StageReport("fill")
    built: list[Built] = []
    with folder.replacing(output) as place:
        for name in sorted({name.removesuffix(IDS) for name in settings}):
            whole, ids = settings.get(name, {}), settings.get(name + IDS, {})
            built.append(_complete(source, place, name, whole, ids, store, report))
        original = {key: value for key, value in manifest.items() if key not in _OWN_KEYS}
        facts = original | {"files": file_table(built)}
        # After a takedown the hashes of the whole are not known, only those of every text.
        expected = manifest["original_files"] or (facts["files"] if not report.dropped else None)
        complete = facts["files"] == expected
        notes = () if complete else (report,)
        (place / "README.md").write_text(card(facts, _in_order(built, manifest), *notes), encoding="utf-8")
        folder.write_manifest(place, facts if complete else facts | {"fill": report.to_dict()})
    return report


_OWN_KEYS = frozenset({"format", "files", "original_files", "licenses", "publishable"})


def _in_order(built: list[Built], manifest: dict[str, Any]) -> list[Built]:
    """Configurations in the order of the original's card: settings, SCALAR's levels, then the core's."""
    config = manifest.get("config", {})
    chosen = config.get("settings", [])
    table = ScalarTable.model_validate({**config.get("scalar", {}), "accepted": None})
    levels = [level.name for level in table.chosen]
    order = {name: i for i, name in enumerate([*chosen, *levels, *(name + CORE for name in chosen)])}
    return sorted(built, key=lambda one: order.get(one.setting.name, len(order)))


def _learn(round_: Round, source: Source, store: Store, rows: Sequence[dict[str, Any]], jobs: int) -> None:
    """Fetch the records and files of the papers that the rows name, as far as the workspace lacks them."""
    shown = {name for row in rows for name in papers_of(row)}
    cited = {name for row in rows for name in row.get("citations", ())}
    lacking = sorted(name for name in shown if not _is_known(store, name))
    lacking += sorted(name for name in cited if not store.knows(_bare(name)))
    found = (item for item in progress(source.by_ids(lacking), "papers", len(lacking)) if isinstance(item, Paper))
    store.add_papers(found, since="", look_up=False)
    with_text = [paper for paper in store.papers(sorted(map(_bare, shown))) if not _documents(store, paper.id)]
    extract_papers(round_, source, store, with_text, jobs)


def _is_known(store: Store, name: str) -> bool:
    parsed = parse_arxiv_id(name)
    return parsed is not None and store.knows(parsed[0]) and store.version(parsed[0]) == parsed[1]


def _bare(name: str) -> str:
    parsed = parse_arxiv_id(name)
    if parsed is None:
        raise FolderError(f"the folder names {name!r}, which is no arXiv id")
    return parsed[0]


def _documents(store: Store, paper_id: str) -> list[Document]:
    return [document for kind in KINDS if (document := store.document(paper_id, kind)) is not None]


def _complete(
    source: Path, place: Path, name: str, whole: dict[Split, list[str]], ids: dict[Split, list[str]], store: Store,
    report: StageReport,
) -> Built:  # fmt: skip
    """Write one setting with all rows that could be completed, in their first order."""
    setting, columns = kind_of(name, next(all_rows(source, ids or whole)), by_id=False)
    writers = {split: RowWriter(place, name, split, columns) for split in SPLITS}
    for split in SPLITS:
        by_id = list(read_rows(source, ids.get(split, [])))
        taken = {row["position"] for row in by_id}
        free = (position for position in count() if position not in taken)
        rows = zip(free, read_rows(source, whole.get(split, [])), strict=False)
        filled = _filled(by_id, store, report, name)
        for _, row in merge(rows, filled, key=lambda item: item[0]):
            writers[split].add(row)
    return close_all(setting, writers, columns)


def _filled(
    rows: Sequence[dict[str, Any]], store: Store, report: StageReport, name: str
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The id-only rows with their texts, and their positions."""
    for row in rows:
        if scalar.is_question(row):
            outcome = scalar.fill_row(row, lambda name: _known(store, name))
        else:
            outcome = _fill_row(row, row["task"], store)
        if isinstance(outcome, str):
            report.drop(f"{name} {row['id']}", outcome)
        else:
            report.kept += 1
            yield row["position"], outcome


def _known(store: Store, name: str) -> tuple[Paper, list[Document]] | None:
    paper = next(store.papers([_bare(name)]), None)
    return (paper, _documents(store, paper.id)) if paper is not None and paper.versioned_id == name else None


def _fill_row(row: dict[str, Any], task: Task, store: Store) -> dict[str, Any] | str:
    """The whole row, or why it cannot be had."""
    hashes = {text["name"]: text["sha256"] for text in row["texts"]}
    own = _texts(store, row["id"], task, hashes, "")
    shown = [_texts(store, d["id"], task, hashes, f"demonstrations.{i}.") for i, d in enumerate(row["demonstrations"])]
    for texts in (own, *shown):
        if isinstance(texts, str):
            return texts
    cited = [paper for name in row["citations"] for paper in store.papers([_bare(name)])]
    filled = {name: value for name, value in row.items() if name not in ("position", "task", "texts", "citations")}
    filled |= own | {"demonstrations": [d | texts for d, texts in zip(row["demonstrations"], shown, strict=True)]}  # type: ignore[operator]
    if task == "related":
        filled["citations"] = [
            {"id": name, "title": paper.title, "abstract": paper.abstract}
            for name, paper in zip(row["citations"], cited, strict=False)
        ]
    matches = {name: digest(text) for name, text in row_texts(filled).items()} == hashes
    return filled if matches else "changed_text"


def _texts(store: Store, name: str, task: Task, hashes: dict[str, str], prefix: str) -> dict[str, str] | str:
    """The texts of one paper, from the document whose hash is right."""
    paper = next(store.papers([_bare(name)]), None)
    if paper is None or paper.versioned_id != name:
        return "missing_paper"
    documents = _documents(store, paper.id)
    if not documents:
        return "missing_file"
    target = "output" if prefix else "target"
    for document in documents:
        content = task_view.content(document, task)
        if digest(content) == hashes[f"{prefix}content"]:
            asked = task_view.target(paper, document, task)
            return {"title": paper.title, "abstract": paper.abstract, "content": content, target: asked}
    return "changed_text"
