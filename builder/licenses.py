"""The papers' licences: what each allows, and how those are learned that the records did not carry.

arXiv's licences: https://info.arxiv.org/help/license/index.html.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from builder.progress import progress
from builder.records import UNKNOWN_LICENSE, Paper

if TYPE_CHECKING:
    from builder.sources import Source
    from builder.store import Store

# What a round may hold: everything (for one's own machine), what may be passed on for no money, what may be passed on.
Licenses = Literal["all", "noncommercial", "redistributable"]
_AT_ONCE = 500
_CREATIVE_COMMONS = re.compile(
    r"https?://creativecommons\.org/(?:licenses/(by(?:-[a-z]+)*)|(publicdomain)/zero)/\d\.\d/?"
)
_ALLOWED: dict[str, frozenset[str]] = {
    "redistributable": frozenset({"by", "by-sa", "publicdomain"}),
    "noncommercial": frozenset({"by", "by-sa", "publicdomain", "by-nc", "by-nc-sa"}),
}


def allows(license_: str, wanted: Licenses) -> bool:
    """Whether a text under a licence may be in a round of this kind.

    NoDerivatives licences allow neither: a paper without one of its sections is a derivative.
    """
    if wanted == "all":
        return True
    match = _CREATIVE_COMMONS.fullmatch(license_.strip())
    return match is not None and (match[1] or match[2]) in _ALLOWED[wanted]


def learn_licenses(source: Source, store: Store, papers: Sequence[Paper]) -> list[Paper]:
    """Ask the source for the licences that are not known, note them, and return the papers with them."""
    unknown = [paper for paper in papers if paper.license == UNKNOWN_LICENSE]
    if not unknown:
        return list(papers)
    found: list[tuple[str, str]] = []
    for pair in progress(source.licenses(unknown), "licences"):
        found.append(pair)
        if len(found) == _AT_ONCE:
            _keep(store, found)
            found = []
    _keep(store, found)
    return list(store.papers([paper.id for paper in papers]))


def _keep(store: Store, found: list[tuple[str, str]]) -> None:
    with store.transaction():
        store.set_licenses(found)
