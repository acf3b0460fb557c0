"""How rows of the reading families by id alone become whole again: their texts are titles, all else stands in them."""

from builder.families.reading.columns import KEPT, texts
from builder.parquet.schema import Lacking, Row, hashes_of, matches
from builder.store import Store
from lm_eval_tasks.base.files import sha256_of_bytes


def complete_row(row: Row, task: str, store: Store) -> Row | Lacking:
    """Make the whole row, or say why it cannot be had: missing_paper, changed_text."""
    paper = store.paper(row["paper_id"])
    if paper is None:
        return "missing_paper"
    hashes = hashes_of(row)
    whole: Row = {**{name: row[name] for name in KEPT}, "title": paper.title, "works": []}
    for i, work in enumerate(row["works"]):
        title = _title(work, store, hashes[f"works.{i}.title"])
        if title is None:
            return "changed_text"
        whole["works"].append({"title": title, **work})
    return whole if matches(texts(whole), hashes) else "changed_text"


def _title(work: Row, store: Store, sha256: str) -> str | None:
    paper = store.paper(work["paper"])
    lists = [document.references for document in (store.documents(paper.id) if paper else ())]
    titles = (entries[work["entry"]].title for entries in lists if work["entry"] < len(entries))
    return next((title for title in titles if sha256_of_bytes(title) == sha256), None)
