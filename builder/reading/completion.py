"""Reading rows by id alone -> whole rows: titles are taken from the workspace, and the answers of a sealed copy worked out again."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from builder.dataset.completion import documents_of, paper_of
from builder.dataset.text_hashes import digest, matches
from builder.reading.match import Mask, by_titles, marker
from builder.reading.neutral import CITE, Edit
from builder.reading.next import by_words, following
from builder.reading.papers_read import PaperRead
from builder.reading.passages import neutral_text, passages_of
from builder.reading.rows import ANSWER, KEPT, answer_text, texts
from builder.reading.select_rows import by_abstracts, introduction_of
from builder.reading.shelf import NOTHING
from builder.reading.text import abstract_text
from builder.reading.walk import Walk
from lm_eval_tasks.core.row_format import PAPERS
from lm_eval_tasks.core.text import title_key
from lm_eval_tasks.metrics.reading import FOLLOWING, MASKS, WORKS
from lm_eval_tasks.prompts.reading import part_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from builder.dataset.families import Lacking
    from builder.dataset.row_kind import Row
    from builder.records import Document, Paper
    from builder.store import Store

Answer = tuple[list[int], list[int]]


def complete_row(row: Row, store: Store) -> Row | Lacking:
    """The whole row, or why it cannot be had."""
    paper = paper_of(store, row["paper_id"])
    if paper is None:
        return "missing_paper"
    hashes = {text["name"]: text["sha256"] for text in row["texts"]}
    whole: Row = {**{name: row[name] for name in KEPT}, "title": paper.title, "works": []}
    for i, work in enumerate(row["works"]):
        title = _title(work, store, hashes[f"works.{i}.title"])
        if title is None:
            return "changed_text"
        whole["works"].append({"title": title, **work})
    sealed = hashes.pop(ANSWER, None)
    if sealed is not None:
        reads = _reads(whole, store)
        if isinstance(reads, str):
            return reads
        try:
            whole["answer"], whole["shortcut"] = _answer(whole, reads)
        except (KeyError, ValueError):
            # What was read is other than what the row was made of.
            return "changed_text"
        if digest(answer_text(whole)) != sealed:
            return "changed_text"
    return whole if matches(texts(whole), hashes) else "changed_text"


def _title(work: Row, store: Store, sha256: str) -> str | None:
    """The title of an entry of a reference list."""
    lists = [document.references for document in _documents(store, work["paper"])]
    titles = (entries[work["entry"]].title for entries in lists if work["entry"] < len(entries))
    return next((title for title in titles if digest(title) == sha256), None)


def _documents(store: Store, name: str) -> list[Document]:
    paper = paper_of(store, name)
    return documents_of(store, paper.id) if paper else []


def _reads(row: Row, store: Store) -> tuple[PaperRead, ...] | Lacking:
    """The papers of a row, from the documents that its parts were taken from."""
    shown = tuple((listed["id"], listed["texts"]) for listed in row["papers"])
    return _reads_of(store, shown, frozenset((part["paper"], part["start"], part["end"]) for part in row["parts"]))


# The rows of a context follow each other.
@lru_cache(maxsize=1)
def _reads_of(
    store: Store, shown: tuple[tuple[str, str], ...], parts: frozenset[tuple[int, int, int]]
) -> tuple[PaperRead, ...] | Lacking:
    papers = [paper_of(store, id_) for id_, _ in shown]
    known = [paper for paper in papers if paper is not None]
    if len(known) < len(papers):
        return "missing_paper"
    reads = []
    for place, (paper, (_, texts_from)) in enumerate(zip(known, shown, strict=True)):
        documents = documents_of(store, paper.id)
        if not documents and texts_from == PAPERS:
            return "missing_file"
        spans = {(start, end) for of, start, end in parts if of == place}
        candidates = (
            PaperRead(paper, document, _resolved(store, paper, document, known)) for document in (*documents, NOTHING)
        )
        read = next((read for read in candidates if _has(read, spans)), None)
        if read is None:
            return "changed_text"
        reads.append(read)
    return tuple(reads)


def _resolved(store: Store, paper: Paper, document: Document, others: Sequence[Paper]) -> dict[int, str]:
    """Entry of a reference list -> id of the paper that it is: as the workspace has it, else among the papers of the row."""
    by_title = {title_key(other.title): other.id for other in others}
    ids = {other.id for other in others}
    found = {
        i: entry.arxiv_id if entry.arxiv_id in ids else by_title[title_key(entry.title)]
        for i, entry in enumerate(document.references)
        if entry.arxiv_id in ids or title_key(entry.title) in by_title
    }
    return {i: id_ for i, id_ in (found | store.cited_ids(paper.id)).items() if id_}


def _has(read: PaperRead, spans: set[tuple[int, int]]) -> bool:
    """Whether rows may show these stretches of a paper's text."""
    shown, sections = read.shown, read.document.sections
    usual = {(0, end) for end in (len(shown.text), shown.references, len(abstract_text(read.paper)))}
    usual |= {(start, start + len(sections[i].text)) for i, start in shown.sections.items()}
    return spans <= usual or spans <= usual | {(passage.start, passage.end) for passage in passages_of(read)}


def _answer(row: Row, reads: Sequence[PaperRead]) -> Answer:
    """The labels that are right, and those that the shortcut names."""
    ways = {MASKS: _match_answer, WORKS: _select_answer, FOLLOWING: _next_answer}
    return ways.get(row["kind"], _walk_answer)(row, reads)


def _labels(row: Row, reads: Sequence[PaperRead]) -> dict[str, int]:
    """Paper -> its label, where each has one."""
    return {reads[part["paper"]].paper.id: label for label, part in enumerate(row["parts"][: row["labels"]], 1)}


def _match_answer(row: Row, reads: Sequence[PaperRead]) -> Answer:
    read, labels, part = reads[0], _labels(row, reads), row["parts"][-1]
    places: dict[str, list[tuple[int, int, int]]] = {}
    for edit in part["edits"]:
        if edit["text"] == CITE:
            continue
        section = max(i for i, start in read.shown.sections.items() if start <= edit["start"])
        at = read.shown.sections[section]
        places.setdefault(edit["text"], []).append((section, edit["start"] - at, edit["end"] - at))
    entries: dict[tuple[int, int, int], set[int]] = {}
    for mention in read.document.mentions:
        entries.setdefault((mention.section, *marker(read, mention)), set()).update(mention.references)
    works = {other.paper.id: other.paper for other in reads}
    chosen = []
    for _, of_mask in sorted(places.items()):
        # At one place at least the work stands alone.
        [entry] = set.intersection(*(entries[place] for place in of_mask))
        chosen.append(Mask(works[read.resolved[entry]], tuple(of_mask), 0, 0))
    candidates = [other.paper for other in reads[1:]]
    found = by_titles(read, chosen, candidates)
    return [labels[mask.work.id] for mask in chosen], [labels[id_] for id_ in found]


def _select_answer(row: Row, reads: Sequence[PaperRead]) -> Answer:
    read, labels = reads[0], _labels(row, reads)
    section = introduction_of(read)
    entries = [i for mention in read.document.mentions if mention.section == section for i in mention.references]
    cited = {read.resolved[entry] for entry in entries if entry in read.resolved} & labels.keys()
    part = row["parts"][-1]
    shown = neutral_text(read.shown.text, part["start"], part["end"], [Edit(**edit) for edit in part["edits"]])
    found = by_abstracts(shown, [other.paper for other in reads[1:]], len(cited))
    return sorted(labels[id_] for id_ in cited), [labels[id_] for id_ in found]


def _walk_answer(row: Row, reads: Sequence[PaperRead]) -> Answer:
    question = _walk(tuple(reads)).question(row["kind"], [title_key(work["title"]) for work in row["works"]])
    if question is None:
        return [], []
    labels = _labels(row, reads)
    return sorted(labels[id_] for id_ in question.answer), sorted(labels[id_] for id_ in question.by_title)


@lru_cache(maxsize=1)
def _walk(reads: tuple[PaperRead, ...]) -> Walk:
    return Walk(reads)


def _next_answer(row: Row, reads: Sequence[PaperRead]) -> Answer:
    labels = {(part["paper"], part["start"]): label for label, part in enumerate(row["parts"], 1)}
    after = {
        labels[place, first.start]: labels[place, second.start]
        for place, read in enumerate(reads)
        for first, second in following(passages_of(read)).items()
    }
    shown = part_texts(row, {(PAPERS, read.paper.versioned_id): read.shown.text for read in reads})
    found = by_words([label - 1 for label in row["asked"]], shown)
    return [after[label] for label in row["asked"]], [place + 1 for place in found]
