"""round.toml -> Round: everything that decides what a round holds, checked before any work begins."""

from __future__ import annotations

import tomllib
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from builder import settings as registry
from builder.errors import RoundError
from builder.settings import Setting

_Share = Annotated[float, Field(gt=0, lt=1)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SourceTable(_Table):
    """Where papers come from. `mirror` reads a folder, `sample` draws a made-up arXiv."""

    kind: Literal["mirror", "sample"]
    path: Path | None = Field(None, description="mirror: the folder, relative to round.toml")
    metadata: str | None = Field(None, description="mirror: metadata file in it; found by name where not given")
    pdf: str = Field("pdf", description="mirror: folder of PDF files in it")
    html: str = Field("html", description="mirror: folder of HTML files in it")
    references: tuple[Path, ...] = Field(
        (), description="metadata files that references may resolve to, beside the papers"
    )
    seed: int = Field(0, description="sample: which made-up world")
    authors: int = Field(60, ge=4, description="sample: authors of that world")
    papers: int = Field(120, ge=4, description="sample: papers of that world")

    @model_validator(mode="after")
    def _mirror_has_path(self) -> SourceTable:
        if self.kind == "mirror" and self.path is None:
            raise ValueError("a mirror needs `path`, the folder that holds its metadata and pdf/")
        return self


class PapersTable(_Table):
    """Which papers of the source belong to the round."""

    categories: tuple[str, ...] = Field((), description="primary categories (cs.LG) or archives (cs); empty: all")
    published_from: date | None = None
    published_to: date | None = Field(None, description="last day that counts")

    @model_validator(mode="after")
    def _in_order(self) -> PapersTable:
        if self.published_from and self.published_to and self.published_from > self.published_to:
            raise ValueError(f"published_from {self.published_from} is later than published_to {self.published_to}")
        return self


class GraphTable(_Table):
    """The co-author graph."""

    max_authors: int = Field(50, ge=2, description="papers with more authors add no edges")
    component: Literal["largest", "all"] = Field(
        "largest", description="keep the largest connected component, or every author"
    )


class ExtractTable(_Table):
    """Limits of one file's extraction."""

    time_limit: float = Field(60.0, gt=0, description="seconds")
    memory_limit: int = Field(2048, ge=256, description="MiB of address space beyond the interpreter's own")
    prefer: Literal["html", "pdf"] = Field("html", description="which file's document is used where both are read")


class QualityTable(_Table):
    """What a document must reach to be used; see `records.Quality`."""

    min_words: int = Field(300, ge=0)
    min_coverage: float = Field(0.3, ge=0, le=1)
    max_hyphen_breaks: float = Field(10.0, ge=0, description="per 1,000 words")
    max_unmapped: float = Field(0.05, ge=0, le=1)
    min_entries: float = Field(0.5, ge=0, le=1)
    min_common_words: float = Field(0.12, ge=0, le=1)
    in_order: bool = True


class SplitTable(_Table):
    """The chronological split: either the first days of validation and test, or their shares of the papers."""

    validation_from: date | None = None
    test_from: date | None = None
    validation: _Share = 0.19
    test: _Share = 0.09

    @model_validator(mode="after")
    def _in_order(self) -> SplitTable:
        if (self.validation_from is None) != (self.test_from is None):
            raise ValueError("validation_from and test_from are given together or not at all")
        if self.validation_from and self.test_from and self.validation_from >= self.test_from:
            raise ValueError(f"validation_from {self.validation_from} must be earlier than test_from {self.test_from}")
        if self.validation + self.test >= 1:
            raise ValueError("the shares validation + test must leave something to train")
        return self


class SamplesTable(_Table):
    """What a paper must have to become a sample."""

    min_citations: int = Field(5, ge=0, description="Related: resolved citations of the section")
    min_target_words: int = Field(50, ge=1, description="abstract, introduction, related work")
    min_content_words: int = Field(300, ge=1)


class Round(_Table):
    """One round: the same Round over the same workspace gives the same bytes."""

    round: str = Field(pattern=r"^\d{4}\.(0[1-9]|1[0-2])$", description="the revision, e.g. 2026.11")
    seed: int = 0
    settings: tuple[str, ...] = tuple(setting.name for setting in registry.BUILT_IN)
    workspace: Path = Path("work")
    output: Path = Path("academiceval")
    source: SourceTable
    papers: PapersTable = PapersTable()
    graph: GraphTable = GraphTable()
    extract: ExtractTable = ExtractTable()
    quality: QualityTable = QualityTable()
    split: SplitTable = SplitTable()
    samples: SamplesTable = SamplesTable()

    @property
    def chosen(self) -> tuple[Setting, ...]:
        return registry.select(self.settings)

    def config(self) -> dict[str, object]:
        """What shapes the content, for the manifest: places on this machine are left out."""
        data = self.model_dump(mode="json", exclude={"workspace": True, "output": True, "source": {"path"}})
        data["settings"] = [setting.name for setting in self.chosen]
        data["source"]["references"] = [path.name for path in self.source.references]
        return data


def load_round(path: Path) -> Round:
    """Read and check round.toml; its paths are taken relative to the file.

    Raises:
        RoundError: no such file, no TOML, an unknown key, a value out of range or an unknown setting.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as err:
        raise RoundError(f"cannot read {path}: {err.strerror}") from err
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as err:
        raise RoundError(f"{path} is not valid TOML: {err}") from err
    try:
        parsed = Round.model_validate(data)
    except ValidationError as err:
        raise RoundError(f"{path}: {_first_problem(err)}") from err
    if not parsed.chosen:
        raise RoundError(f"{path}: `settings` is empty; leave it out for all sixteen")
    return _anchored(parsed, path.resolve().parent)


def _first_problem(err: ValidationError) -> str:
    problem = err.errors()[0]
    where = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        return f"unknown key `{where}`; docs/round.md lists the keys"
    message = problem["msg"].removeprefix("Value error, ")
    return f"`{where}`: {message}" if where else message


def _anchored(parsed: Round, base: Path) -> Round:
    source = parsed.source.model_copy(
        update={
            "path": base / parsed.source.path if parsed.source.path else None,
            "references": tuple(base / path for path in parsed.source.references),
        }
    )
    return parsed.model_copy(
        update={"workspace": base / parsed.workspace, "output": base / parsed.output, "source": source}
    )
