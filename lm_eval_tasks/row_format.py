"""What the rows of a dataset hold beside plain texts: the contract between who builds rows and who reads them."""

from __future__ import annotations

# Stands in a SCALAR question where the citation was.
MASK = "**[MASKED_CITATION]**"
# `candidate_text` of a SCALAR row whose candidates show their body alone, without a title.
BODY = "body"
