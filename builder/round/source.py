"""`[source]` of round.toml: where papers come from, one table for each kind.

A new kind is a class here, a member of `AnySource`, and the module that the class names, with a function `open_source`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from builder.round.table import Table

# arXiv API Terms of Use: "no more than one request every three seconds".
MIN_DELAY = 3.0


class SourceTable(Table):
    """What every kind of source has.

    Attributes:
        MODULE: where its `open_source(table, round_, store)` is.
        LOCAL: keys that say where and how this machine asks, not what it gets: they stay out of the manifest.
        LIVE: whether it grows from month to month, and asking it is costly. It sets defaults of round.toml: rounds of such
            a source grow and prune their graph (`Round.pruning`, `Round.new_papers`) and read one file of a paper, not both.
    """

    MODULE: ClassVar[str]
    LOCAL: ClassVar[frozenset[str]] = frozenset()
    LIVE: ClassVar[bool] = False
    references: tuple[Path, ...] = Field(
        (), description="metadata files that references may resolve to, in addition to the papers"
    )

    @property
    def seconds_between_requests(self) -> float:
        return 0.0

    def with_base(self, base: Path) -> Self:
        """The table with its paths taken relative to a folder."""
        return self.model_copy(update={"references": tuple(base / path for path in self.references)})


class ArxivTable(SourceTable):
    """arXiv itself."""

    MODULE: ClassVar[str] = "builder.sources.arxiv.source"
    LOCAL: ClassVar[frozenset[str]] = frozenset({"contact", "delay", "timeout", "api", "oai", "files"})
    LIVE: ClassVar[bool] = True
    kind: Literal["arxiv"]
    contact: str = Field("", description="your email or web address, sent with every request")
    harvest: Literal["oai", "search"] = Field("oai", description="how whole months are fetched")
    delay: float = Field(3.0, ge=0, description="seconds between requests")
    timeout: float = Field(300.0, gt=0, description="seconds that one request may take, from first byte to last")
    api: str = Field("https://export.arxiv.org/api/query", description="the export API")
    oai: str = Field("https://oaipmh.arxiv.org/oai", description="the OAI-PMH service")
    files: str = Field("https://export.arxiv.org", description="host of PDF and HTML files")

    @model_validator(mode="after")
    def _check_politeness(self) -> Self:
        if "@" not in self.contact and "://" not in self.contact:
            raise ValueError("arXiv wants to know who asks: give `contact`, your email or web address")
        if self.delay < MIN_DELAY and not all(map(_is_loopback, (self.api, self.oai, self.files))):
            raise ValueError(f"arXiv's terms of use ask for {MIN_DELAY:g} s between requests; `delay` must not be less")
        return self

    @property
    def seconds_between_requests(self) -> float:
        return self.delay


class MirrorTable(SourceTable):
    """A folder of metadata and files."""

    MODULE: ClassVar[str] = "builder.sources.mirror"
    LOCAL: ClassVar[frozenset[str]] = frozenset({"path"})
    kind: Literal["mirror"]
    path: Path = Field(description="the folder that contains its metadata and pdf/, relative to round.toml")
    metadata: str | None = Field(None, description="metadata file in it; found by name if not given")
    pdf: str = Field("pdf", description="folder of PDF files in it")
    html: str = Field("html", description="folder of HTML files in it")

    def with_base(self, base: Path) -> Self:
        return super().with_base(base).model_copy(update={"path": base / self.path})


class SampleTable(SourceTable):
    """A made-up arXiv."""

    MODULE: ClassVar[str] = "builder.sources.sample.source"
    kind: Literal["sample"]
    seed: int = Field(0, description="which made-up world")
    authors: int = Field(60, ge=4, le=100_000, description="authors of that world")
    papers: int = Field(120, ge=4, le=100_000, description="papers of that world")


AnySource = Annotated[ArxivTable | MirrorTable | SampleTable, Field(discriminator="kind")]


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host == "localhost" or host.startswith("127.") or host == "::1"
