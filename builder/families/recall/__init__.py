"""Recall: texts whose numbers and names an older or newer model must find again in what it has read."""

from functools import partial

import pyarrow as pa

from builder.families.descriptor import FamilyBuilder
from builder.families.reading.columns import PART, SHOWN
from builder.families.reading.completing import complete_row
from builder.families.recall.writing import write
from builder.parquet.schema import INTEGER, STRING, RowSchema, strings

_SPAN = pa.struct([("kind", STRING), ("start", INTEGER), ("end", INTEGER), ("times", INTEGER)])
_COLUMNS = pa.schema(
    [
        *strings("id", "paper_id", "title", "section", "place", "published", "license", "primary_category", "round"),
        ("input_tokens", INTEGER),
        ("authors", pa.list_(STRING)),
        ("papers", pa.list_(SHOWN)),
        ("parts", pa.list_(PART)),
        ("text", PART),
        ("spans", pa.list_(_SPAN)),
        ("parts_version", INTEGER),
    ]
)
SCHEMA = RowSchema(
    columns=_COLUMNS,
    kept=[name for name in _COLUMNS.names if name != "title"],
    own=["title"],
    paper_column="paper_id",
    shown_column="papers",
)


FAMILY = FamilyBuilder(schema=lambda _: SCHEMA, complete=partial(complete_row, SCHEMA), write=write)
