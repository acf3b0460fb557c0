"""`.zenodo.json`: what a revision is called where it is given a DOI (https://developers.zenodo.org/#representation)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from builder.dataset.manifest import Manifest

DOI = ".zenodo.json"
# The papers whose benchmarks a round is made for.
_CITED = ("https://openreview.net/forum?id=LjQ4voE5bs", "https://arxiv.org/abs/2502.13753")


def zenodo_json(manifest: Manifest, address: str) -> str:
    """The text of `.zenodo.json`.

    Args:
        address: of the revision, https://huggingface.co/datasets/ORG/NAME/tree/REVISION.
    """
    owner = address.partition("/datasets/")[2].partition("/")[0]
    related = [{"identifier": paper, "relation": "isDocumentedBy"} for paper in _CITED]
    content = {
        "title": f"AcademicEval, round {manifest.published_as}",
        "upload_type": "dataset",
        "version": manifest.published_as,
        "description": (
            "A round of AcademicEval, a live long-context benchmark made from new papers: writing tasks, SCALAR's citation questions and "
            "questions over many papers."
        ),
        "creators": [{"name": owner}],
        # Left out, Zenodo would call a dataset CC0. The papers keep licences of their own.
        "access_right": "open",
        "license": "other-closed",
        "keywords": ["benchmark", "language models", "long context", "scientific papers"],
        "notes": "Every row names the licence of its paper and of every other paper that it shows.",
        "related_identifiers": [{"identifier": address, "relation": "isIdenticalTo"}, *related],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
