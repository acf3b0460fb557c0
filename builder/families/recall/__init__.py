"""Recall: texts whose numbers and names an older or newer model must find again in what it has read."""

from builder.families.descriptor import FamilyBuilder
from builder.families.recall.columns import SCHEMA, complete
from builder.families.recall.writing import write

FAMILY = FamilyBuilder(schema=lambda _: SCHEMA, complete=complete, write=write)
