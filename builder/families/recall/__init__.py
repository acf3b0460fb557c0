"""Recall: texts whose numbers and names an older or newer model must find again in what it has read."""

from functools import partial

from builder.families.descriptor import FamilyBuilder
from builder.families.reading.completing import complete_row
from builder.families.recall.columns import SCHEMA
from builder.families.recall.writing import write

FAMILY = FamilyBuilder(schema=lambda _: SCHEMA, complete=partial(complete_row, SCHEMA), write=write)
