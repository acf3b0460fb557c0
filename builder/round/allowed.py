"""What a round allows: texts under which licences (https://info.arxiv.org/help/license/index.html), and what the audit may find."""

from __future__ import annotations

import re
from typing import Annotated, Self

from pydantic import Field, ValidationError, model_validator

from builder.errors import FolderError
from builder.round.toml_file import RoundTable
from lm_eval_tasks.base.contract import Licenses
from lm_eval_tasks.base.figures import Audit
from lm_eval_tasks.base.manifest import Manifest

_CREATIVE_COMMONS = re.compile(
    r"https?://creativecommons\.org/(?:licenses/(by(?:-[a-z]+)*)|(publicdomain)/zero)(?:/\d\.\d(?:/[a-z]{2,3})?)?/?"
)
_ALLOWED: dict[str, frozenset[str]] = {
    "redistributable": frozenset({"by", "by-sa", "publicdomain"}),
    "noncommercial": frozenset({"by", "by-sa", "publicdomain", "by-nc", "by-nc-sa"}),
    "none": frozenset(),
}
_Fraction = Annotated[float, Field(ge=0, le=1)]


def allows(license_: str, wanted: Licenses) -> bool:
    """Tell whether a text under a licence may be in a round of this kind.

    NoDerivatives licences allow neither: a paper without one of its sections is a derivative.
    """
    if wanted == "all":
        return True
    match = _CREATIVE_COMMONS.fullmatch(license_.strip())
    return match is not None and (match[1] or match[2]) in _ALLOWED[wanted]


def allowed_by(manifest: Manifest) -> AuditTable:
    """Read what the audit of a round's folder may find; a FolderError if its manifest says something else there."""
    known = {name: value for name, value in manifest.allowed.items() if name in AuditTable.model_fields}
    try:
        return AuditTable.model_validate(known)
    except ValidationError as err:
        first = err.errors()[0]
        where = first["loc"][0] if first["loc"] else first["msg"].removeprefix("Value error, ")
        raise FolderError(f"the manifest of round {manifest.round} allows an audit what cannot be ({where})") from err


class AuditTable(RoundTable):
    """What the audit of the finished folder may find; shares of samples, except for the last five, which are counts."""

    long_run: _Fraction = Field(1.0, description="over 13 consecutive words of the target are in the prompt")
    title_in_content: _Fraction = Field(0.05, description="Title: the body prints the title")
    target_in_content: _Fraction = Field(0.02, description="the body contains the target")
    target_in_demonstration: _Fraction = Field(0.0, description="a demonstration contains the target")
    demonstration_not_older: _Fraction = Field(0.0, description="a demonstration is from the same day or later")
    demonstration_is_target: _Fraction = Field(0.0, description="a demonstration has the target's id or title")
    not_english: _Fraction = Field(0.02, description="the body is not English")
    content_lost: _Fraction = Field(0.02, description="a task shows less than a fifth of what another shows")
    length_outlier: _Fraction = Field(0.1, description="the input is far longer or shorter than usual")
    same_paper: int = Field(0, ge=0, description="papers under a second id, or with a near copy of an abstract")
    split_order: int = Field(0, ge=0, description="settings whose splits overlap in time")
    context_newer: int = Field(0, ge=0, description="reading rows that show a newer paper than that asked about")
    context_repeats: int = Field(0, ge=0, description="reading rows that show a paper twice")
    answer_visible: int = Field(0, ge=0, description="reading rows that ask for a work by its title and show it")
    waive: tuple[str, ...] = Field((), description="checks that may be breached")

    @model_validator(mode="after")
    def _check_waived_names(self) -> Self:
        for name in self.waive:
            if name not in self.limits:
                raise ValueError(f"`waive` names {name!r}, which is not a check; there are {', '.join(self.limits)}")
        return self

    def breaches(self, found: Audit) -> list[str]:
        """Name the checks that are above their thresholds and not waived. A share that is a single paper is none: of a few, one is more
        than any share.
        """
        values = found.shares | found.counts
        above = [name for name, limit in self.limits.items() if values.get(name, 0) > limit and name not in self.waive]
        return [name for name in above if not 0 < self.limits[name] < 1 or len(found.examples.get(name, ())) != 1]

    @property
    def limits(self) -> dict[str, float]:
        """Check -> the most that is allowed."""
        return {name: float(value) for name, value in self.model_dump(exclude={"waive"}).items()}
