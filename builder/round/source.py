"""`[source]` of round.toml: where papers come from, one table for each kind.

A new kind is a class here, a member of `AnySource`, and what the class names as `OPENS`, a class or function.
"""

from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from builder.ids import IdKind
from builder.records import FileType
from builder.round.toml_file import RoundTable


class SourceTable(RoundTable):
    """What every kind of source has.

    Attributes:
        OPENS: what makes the source of a table, a round and a store, as module:name.
        LOCAL: keys that say where and how this machine asks, not what it gets: they stay out of the manifest.
        FILES: the kinds of files that its papers have.
        IDS: the kinds of ids by which it finds a paper.
        LIVE: whether it grows from month to month, and asking it is costly. It sets defaults of round.toml: rounds of such
            a source grow and prune their graph (`Round.max_age_months`, `Round.new_papers`).
    """

    OPENS: ClassVar[str]
    LOCAL: ClassVar[frozenset[str]] = frozenset()
    FILES: ClassVar[tuple[FileType, ...]] = ("html", "pdf")
    IDS: ClassVar[frozenset[IdKind]] = frozenset({"arxiv"})
    LIVE: ClassVar[bool] = False
    references: tuple[Path, ...] = Field(
        (), description="metadata files that references may resolve to, in addition to the papers"
    )

    @property
    def seconds_between_requests(self) -> float:
        return 0.0

    def with_base(self, base: Path) -> Self:
        """Return the table with its paths taken relative to a folder."""
        paths: dict[str, object] = {name: base / value for name, value in self if isinstance(value, Path)}
        return self.model_copy(update={**paths, "references": tuple(base / path for path in self.references)})


class LiveTable(SourceTable):
    """A service on the internet that is asked one request after another.

    Attributes:
        SERVICE: what it is called.
        LEAST_DELAY: seconds that it asks for between requests.
        ADDRESSES: keys that are addresses of the service.
    """

    LIVE: ClassVar[bool] = True
    SERVICE: ClassVar[str]
    LEAST_DELAY: ClassVar[float]
    ADDRESSES: ClassVar[tuple[str, ...]]
    contact: str = Field("", description="your email or web address, sent with every request")
    delay: float = Field(3.0, ge=0, le=86_400, description="seconds between requests")
    timeout: float = Field(300.0, gt=0, description="seconds that one request may take, from first byte to last")

    @model_validator(mode="after")
    def _check_politeness(self) -> Self:
        for key in self.ADDRESSES:
            try:
                urlsplit(getattr(self, key))
            except ValueError as err:
                raise ValueError(f"`{key}` is not an address ({err})") from err
        if not (self.contact.isascii() and self.contact.isprintable()):
            raise ValueError("`contact` is sent in a header of each request: give it in ASCII, on one line")
        if "@" not in self.contact and "://" not in self.contact:
            raise ValueError(f"{self.SERVICE} wants to know who asks: give `contact`, your email or web address")
        if self.delay < self.LEAST_DELAY and not all(_is_loopback(getattr(self, key)) for key in self.ADDRESSES):
            raise ValueError(
                f"{self.SERVICE} asks for {self.LEAST_DELAY:g} s between requests; `delay` must not be less"
            )
        return self

    @property
    def seconds_between_requests(self) -> float:
        return self.delay


class ArxivTable(LiveTable):
    """arXiv itself."""

    OPENS: ClassVar[str] = "builder.sources.arxiv:ArxivSource"
    LOCAL: ClassVar[frozenset[str]] = frozenset({"contact", "delay", "timeout", "api", "oai", "files"})
    SERVICE: ClassVar[str] = "arXiv"
    # arXiv API Terms of Use: "no more than one request every three seconds".
    LEAST_DELAY: ClassVar[float] = 3.0
    ADDRESSES: ClassVar[tuple[str, ...]] = ("api", "oai", "files")
    kind: Literal["arxiv"]
    harvest: Literal["oai", "search"] = Field("oai", description="how whole months are fetched")
    api: str = Field("https://export.arxiv.org/api/query", description="the export API")
    oai: str = Field("https://oaipmh.arxiv.org/oai", description="the OAI-PMH service")
    files: str = Field("https://export.arxiv.org", description="host of PDF and HTML files")


class EuropePmcTable(LiveTable):
    """Europe PMC: open-access articles and preprints of the life sciences, with their full texts."""

    OPENS: ClassVar[str] = "builder.sources.europepmc:EuropePmcSource"
    FILES: ClassVar[tuple[FileType, ...]] = ("jats",)
    IDS: ClassVar[frozenset[IdKind]] = frozenset({"doi", "pmcid", "ppr", "pmid"})
    LOCAL: ClassVar[frozenset[str]] = frozenset({"contact", "delay", "timeout", "api"})
    SERVICE: ClassVar[str] = "Europe PMC"
    # It allows ten a second and address; a round needs far fewer.
    LEAST_DELAY: ClassVar[float] = 0.2
    ADDRESSES: ClassVar[tuple[str, ...]] = ("api",)
    kind: Literal["europepmc"]
    delay: float = Field(1.0, ge=0, le=86_400, description="seconds between requests")
    field: str = Field("", description="words to find in title, abstract, key words or the name of the journal")
    query: str = Field("", description='terms in Europe PMC\'s search syntax, such as `JOURNAL:"eLife"`')
    preprints: bool = Field(False, description="preprints (bioRxiv, medRxiv and others) in place of articles")
    papers: int | None = Field(
        None, ge=1, description="maximum number of papers, taken evenly from all months of the window"
    )
    api: str = Field("https://www.ebi.ac.uk/europepmc/webservices/rest", description="the REST service")


class JatsTable(SourceTable):
    """Articles in JATS: a folder of them, an archive, or an address in an object store."""

    OPENS: ClassVar[str] = "builder.sources.jats.source:open_source"
    FILES: ClassVar[tuple[FileType, ...]] = ("jats",)
    IDS: ClassVar[frozenset[IdKind]] = frozenset({"doi", "pmcid", "ppr", "pmid"})
    LOCAL: ClassVar[frozenset[str]] = frozenset({"path"})
    kind: Literal["jats"]
    path: str = Field(
        description="a folder of .xml files and of archives (.tar, .tar.gz, .zip, .meca), one such archive, or an address that "
        "matches files (`s3://bucket/*.xml`); a path is relative to round.toml"
    )

    def with_base(self, base: Path) -> Self:
        path = self.path if "://" in self.path else str(base / self.path)
        return super().with_base(base).model_copy(update={"path": path})


class MirrorTable(SourceTable):
    """A folder of metadata and files."""

    OPENS: ClassVar[str] = "builder.sources.mirror:open_source"
    LOCAL: ClassVar[frozenset[str]] = frozenset({"path"})
    kind: Literal["mirror"]
    path: Path = Field(description="the folder that contains its metadata and pdf/, relative to round.toml")
    metadata: str | None = Field(None, description="metadata file in it; found by name if not given")
    pdf: str = Field("pdf", description="its folder of PDF files")
    html: str = Field("html", description="its folder of HTML files")


# The table that `academiceval init` writes beside round.toml.
PDF_TABLE = "papers.csv"


class PdfsTable(SourceTable):
    """A folder of PDFs with a table of them."""

    OPENS: ClassVar[str] = "builder.sources.mirror:PdfsSource"
    FILES: ClassVar[tuple[FileType, ...]] = ("pdf",)
    LOCAL: ClassVar[frozenset[str]] = frozenset({"path", "table"})
    kind: Literal["pdfs"]
    path: Path = Field(description="the folder of PDFs")
    table: Path = Field(Path(PDF_TABLE), description="their metadata, which `academiceval init` writes")


class SampleTable(SourceTable):
    """A made-up arXiv."""

    OPENS: ClassVar[str] = "builder.sources.sample:open_source"
    kind: Literal["sample"]
    seed: int = Field(0, description="which made-up world")
    authors: int = Field(60, ge=4, le=5_000, description="authors of that world")
    papers: int = Field(120, ge=4, le=100_000, description="papers of that world")


AnySource = Annotated[
    ArxivTable | EuropePmcTable | JatsTable | MirrorTable | PdfsTable | SampleTable, Field(discriminator="kind")
]


def is_open_access(kind: str) -> bool:
    """Tell whether the papers of a kind of source are open-access articles."""
    return kind in ("jats", "europepmc")


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host == "localhost" or host.startswith("127.") or host == "::1"
