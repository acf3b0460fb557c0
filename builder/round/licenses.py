"""What the papers' licences allow (https://info.arxiv.org/help/license/index.html)."""

from __future__ import annotations

import re
from typing import Literal

# What a round may contain: everything (for private use), what may be redistributed for free, what may be redistributed, no text.
Licenses = Literal["all", "noncommercial", "redistributable", "none"]
_CREATIVE_COMMONS = re.compile(
    r"https?://creativecommons\.org/(?:licenses/(by(?:-[a-z]+)*)|(publicdomain)/zero)(?:/\d\.\d(?:/[a-z]{2,3})?)?/?"
)
_ALLOWED: dict[str, frozenset[str]] = {
    "redistributable": frozenset({"by", "by-sa", "publicdomain"}),
    "noncommercial": frozenset({"by", "by-sa", "publicdomain", "by-nc", "by-nc-sa"}),
    "none": frozenset(),
}


def allows(license_: str, wanted: Licenses) -> bool:
    """Whether a text under a licence may be in a round of this kind.

    NoDerivatives licences allow neither: a paper without one of its sections is a derivative.
    """
    if wanted == "all":
        return True
    match = _CREATIVE_COMMONS.fullmatch(license_.strip())
    return match is not None and (match[1] or match[2]) in _ALLOWED[wanted]
