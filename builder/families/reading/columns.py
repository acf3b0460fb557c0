"""Rows of the reading families, and their audit: ids, stretches of the papers' texts and edits; the texts are rows of `Papers`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from builder.families.registry import rows_of, schema_of
from builder.ids import bare_id
from builder.parquet.schema import INTEGER, STRING, Row, RowSchema, strings
from builder.records import Paper
from lm_eval_tasks.base.contract import PAPERS, PARTS_VERSION
from lm_eval_tasks.base.manifest import ListedConfiguration
from lm_eval_tasks.base.text import title_key

_EDIT = pa.struct([("start", INTEGER), ("end", INTEGER), ("text", STRING)])
PART = pa.struct([("paper", INTEGER), ("start", INTEGER), ("end", INTEGER), ("edits", pa.list_(_EDIT))])
SHOWN = pa.struct(strings("id", "license", "published", "texts"))
_WORK = pa.struct([*strings("title", "paper"), ("entry", INTEGER)])
_NUMBERS = pa.list_(INTEGER)
# Of labels: `answer`, `shortcut` and, where it is not all of them, `asked`. `works` that the question names, with the entries of the
# reference lists that their titles are from. Of each mask `tags`, what solves it, `cited_by`, how many papers of the round cite the
# work, and `ages` in months.
COLUMNS = pa.schema(
    [
        *strings("id", "paper_id", "title", "kind"),
        ("order", INTEGER),
        *strings("published", "license", "primary_category"),
        ("labels", INTEGER),
        ("input_tokens", INTEGER),
        *strings("round", "context"),
        ("asked", _NUMBERS),
        ("answer", _NUMBERS),
        ("shortcut", _NUMBERS),
        ("tags", pa.list_(STRING)),
        ("cited_by", _NUMBERS),
        ("ages", _NUMBERS),
        ("authors", pa.list_(STRING)),
        ("works", pa.list_(_WORK)),
        ("papers", pa.list_(SHOWN)),
        ("parts", pa.list_(PART)),
        ("parts_version", INTEGER),
    ]
)


def no_lists() -> Row:
    """Return an empty list for each column of lists: a family gives those that its questions have."""
    return {field.name: [] for field in COLUMNS if pa.types.is_list(field.type)}


def shared_columns(papers: Sequence[Paper], round_name: str) -> Row:
    """Return the columns that all rows of a paper set share, the paper that they ask about first; `texts` names the configuration of the
    texts.
    """
    paper = papers[0]
    return {
        "paper_id": paper.versioned_id,
        "title": paper.title,
        "authors": list(paper.authors),
        "primary_category": paper.primary_category,
        "published": paper.published.isoformat(),
        "license": paper.license,
        "context": paper.versioned_id,
        "papers": [
            {"id": one.versioned_id, "license": one.license, "published": one.published.isoformat(), "texts": PAPERS}
            for one in papers
        ],
        "parts_version": PARTS_VERSION,
        "round": round_name,
    }


SCHEMA = RowSchema(
    columns=COLUMNS,
    kept=[name for name in COLUMNS.names if name not in ("title", "works")],
    own=["title"],
    paper_column="paper_id",
    shown_column="papers",
    listed={"works": (pa.struct([("paper", STRING), ("entry", INTEGER)]), ["title"])},
)


def reading_faults(folder: Path, configurations: Iterable[ListedConfiguration]) -> dict[str, list[str]]:
    """Check -> the rows that fail it, as "Configuration id"."""
    every = list(configurations)
    titles = {
        row["id"]: title_key(row["title"])
        for configuration in every
        if configuration.form == "papers"
        for _, row in rows_of(folder, configuration)
    }
    faults: dict[str, list[str]] = {name: [] for name in ("context_newer", "context_repeats", "answer_visible")}
    for configuration in every:
        if configuration.form == "questions" and schema_of(configuration).shown_column == "papers":
            for _, row in rows_of(folder, configuration):
                for name in _faults(row, titles):
                    faults[name].append(f"{configuration.name} {row['id']}")
    return faults


def _faults(row: Row, titles: Mapping[str, str]) -> Iterator[str]:
    ids = [paper["id"] for paper in row["papers"]]
    if any(paper["published"] > row["published"] for paper in row["papers"]):
        yield "context_newer"
    if len(set(map(bare_id, ids))) < len(ids):
        yield "context_repeats"
    asked_for = {title_key(work["title"]) for work in row.get("works", ())}
    if any(titles.get(id_, "") in asked_for for id_ in ids):
        yield "answer_visible"
