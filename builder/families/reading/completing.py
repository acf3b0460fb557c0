"""How rows of the reading families and of recall become whole again from their ids: their texts are titles, all else stands in them."""

from builder.parquet.schema import Lacking, Row, RowSchema, hashes_of
from builder.store import Store
from lm_eval_tasks.base.files import sha256_of_bytes


def complete_row(schema: RowSchema, row: Row, task: str, store: Store) -> Row | Lacking:
    """Make the whole row, or say why it cannot be had: missing_paper, missing_file, changed_text."""
    paper = store.paper(row["paper_id"])
    if paper is None:
        return "missing_paper"
    hashes = hashes_of(row)
    works: list[Row] = []
    for i, work in enumerate(row.get("works", ())):
        whole = _whole_work(work, store, hashes[f"works.{i}.title"])
        if isinstance(whole, str):
            return whole
        works.append(whole)
    return schema.completed(row, {"title": paper.title, **({"works": works} if schema.listed else {})})


def _whole_work(work: Row, store: Store, sha256: str) -> Row | Lacking:
    """Return a work with its title as the citing paper's reference list prints it, or why it cannot be had."""
    paper = store.paper(work["paper"])
    if paper is None:
        return "missing_paper"
    documents = store.documents(paper.id)
    if not documents:
        return "missing_file"
    lists = [document.references for document in documents]
    titles = (entries[work["entry"]].title for entries in lists if work["entry"] < len(entries))
    return next(({"title": title, **work} for title in titles if sha256_of_bytes(title) == sha256), "changed_text")
