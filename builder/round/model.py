"""round.toml -> Round: everything that decides what a round contains, checked before any work begins."""

import re
from collections.abc import Mapping
from datetime import date, timedelta
from functools import cached_property
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, ValidationError, model_validator

from builder.errors import RoundError
from builder.ids import bare_id
from builder.round import taxonomy
from builder.round.allowed import AuditTable
from builder.round.configurations import refuse_names
from builder.round.source import AnySource, ArxivTable
from builder.round.tables import (
    READINGS,
    CrawlTable,
    ExcludeTable,
    ExtractTable,
    GraphTable,
    LinkTable,
    PapersTable,
    QualityTable,
    ReadingTable,
    RecallTable,
    SamplesTable,
    ScalarTable,
    SettingTable,
    SplitTable,
    UpdateTable,
)
from builder.round.takedowns import TAKEDOWNS, taken_down
from builder.round.toml_file import RoundTable, among, read_toml, text_like
from lm_eval_tasks.base.command_line import ROUND
from lm_eval_tasks.base.contract import PAPERS, Licenses
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.base.redaction import redact
from lm_eval_tasks.families.recall import CONFIGURATIONS as RECALL
from lm_eval_tasks.families.scalar import ALL_LEVELS
from lm_eval_tasks.families.writing.settings import SETTINGS, Setting

# What section 3.3 of the AcademicEval paper leaves open. Two years without a paper, in any position, are "a long time"; papers of three
# years give demonstrations of the same era; and a month's growth by 1,000 first-author papers makes up for what pruning
# removes from a graph of up to 36,000.
_MAX_AGE_MONTHS, _INACTIVE_MONTHS, _NEW_PAPERS = 36, 24, 1000


class Round(RoundTable):
    """One round: the same Round over the same workspace gives the same bytes."""

    round: Annotated[str, text_like(ROUND, "2026.11")] = Field(description="a year and month; the revision")
    seed: int = Field(0, description="seed of every random choice")
    settings: tuple[Annotated[str, among([setting.name for setting in SETTINGS])], ...] = Field(
        tuple(setting.name for setting in SETTINGS),
        description="configurations to build; all settings of a task have the same papers",
    )
    setting: tuple[SettingTable, ...] = Field((), description="the round's own settings")
    exclude: tuple[ExcludeTable, ...] = Field((), description="rows that are left out")
    licenses: Licenses = Field("all", description="licences of the papers used as targets and demonstrations")
    workspace: Path = Field(Path("work"), description="folder of what was fetched and read")
    output: Path = Field(Path("academiceval"), description="the dataset folder; replaced when the new one is complete")
    takedowns: Path = Field(
        Path(TAKEDOWNS),
        description='optional file of papers not to show: a line `{"id": "2401.00001"}` for each',
    )
    source: AnySource
    papers: PapersTable = PapersTable()
    crawl: CrawlTable = CrawlTable()
    update: UpdateTable = UpdateTable()
    graph: GraphTable = GraphTable()
    extract: ExtractTable = ExtractTable()
    quality: QualityTable = QualityTable()
    link: LinkTable = LinkTable()
    split: SplitTable = SplitTable()
    samples: SamplesTable = SamplesTable()
    scalar: ScalarTable = ScalarTable()
    reading: ReadingTable = ReadingTable()
    recall: RecallTable = RecallTable()
    audit: AuditTable = AuditTable()
    changes: dict[str, str] = Field({}, description="round -> what changed in it, for the card")

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        own, levels = [table.name for table in self.setting], [table.name for table in self.scalar.level]
        taken = [*(each.name for each in (*SETTINGS, *ALL_LEVELS, *READINGS, *RECALL)), PAPERS]
        refuse_names(own, taken, "setting")
        # Rows call a level by its short name.
        shorts = [level.short_name for level in ALL_LEVELS]
        refuse_names(levels, [*taken, *shorts, *own], "level")
        refuse_names([table.level.short_name for table in self.scalar.level], shorts, "level")
        if isinstance(self.source, ArxivTable):
            for name in self.papers.categories:
                taxonomy.check(name)
        return self

    @property
    def last_day(self) -> date:
        """The last day that the round covers: `papers.published_to`, else the end of the month before the round's."""
        if self.papers.published_to:
            return self.papers.published_to
        year, month = map(int, self.round.split("."))
        return date(year, month, 1) - timedelta(days=1)

    @property
    def asks_about_citations(self) -> bool:
        """Whether questions are about citations anywhere in a paper, those of SCALAR and Match."""
        return bool(self.scalar.chosen) or self.reading.shows_cited

    @property
    def new_papers(self) -> int:
        """New first-author papers that an update wants."""
        return _live_default(self.update.papers, _NEW_PAPERS, self.source) or 0

    @property
    def max_age_months(self) -> int | None:
        """Older papers are pruned; None: none are."""
        return _live_default(self.update.max_age_months, _MAX_AGE_MONTHS, self.source) or None

    @property
    def inactive_months(self) -> int | None:
        """Authors without a paper for this long are pruned; None: none are."""
        return _live_default(self.update.inactive_months, _INACTIVE_MONTHS, self.source) or None

    @property
    def chosen(self) -> tuple[Setting, ...]:
        known = (setting for setting in SETTINGS if setting.name in self.settings)
        return (*known, *(table.setting for table in self.setting))

    @cached_property
    def taken_down(self) -> frozenset[str]:
        return taken_down(self.takedowns)

    @property
    def excluded(self) -> frozenset[str]:
        """The ids of the rows that are left out, without versions of papers."""
        return frozenset(bare_id(entry.id) for entry in self.exclude)

    def config(self) -> dict[str, object]:
        """Return what shapes the content, for the manifest: places on this machine and what has its own fields there are left out."""
        left_out: dict[str, object] = {
            **dict.fromkeys(("workspace", "output", "takedowns", "audit", "changes"), True),
            "source": self.source.LOCAL,
            "scalar": {"accepted", "base_url"},
        }
        data = self.model_dump(mode="json", exclude=left_out)  # type: ignore[arg-type]
        data |= {"takedowns": sorted(self.taken_down), "settings": [setting.name for setting in self.chosen]}
        data["update"] |= {
            "papers": self.new_papers,
            "max_age_months": self.max_age_months,
            "inactive_months": self.inactive_months,
        }
        # Which they are, without naming them.
        accepted = "\n".join(sorted(self.scalar.accepted_ids or ()))
        data["scalar"]["accepted"] = None if self.scalar.accepted is None else sha256_of_bytes(accepted)
        data["source"]["references"] = [path.name for path in self.source.references]
        cleared: dict[str, object] = redact(data)
        return cleared


def _live_default(value: int | None, usual: int, source: AnySource) -> int | None:
    return usual if value is None and source.LIVE else value


def load_round(path: Path, **instead: str) -> Round:
    """Read and check round.toml; its paths are taken relative to the file.

    Args:
        instead: values of top-level keys to use in place of the file's.

    Raises:
        RoundError: no such file, invalid TOML, an unknown key, a value out of range or an unknown setting.
    """
    try:
        parsed = read_toml(path, Round, **instead)
    except RoundError as err:
        hint = "; `academiceval init` writes a round.toml" if "is missing" in str(err) or not path.is_file() else ""
        raise RoundError(f"{err}{hint}") from err
    if not parsed.chosen:
        raise RoundError(f"{path}: `settings` is empty; leave it out for all sixteen")
    round_ = _anchor(parsed, path.resolve().parent)
    if "takedowns" in parsed.model_fields_set and not round_.takedowns.is_file():
        raise RoundError(
            f"{path}: there is no file {round_.takedowns}, which `takedowns` names; make one, even if empty"
        )
    return round_


def check_inputs(round_: Round) -> None:
    """Raise a RoundError if a file is missing that a crawl or a build needs, hours after it begins."""
    _ = round_.scalar.accepted_ids
    for references in round_.source.references:
        if not references.is_file():
            raise RoundError(f"`source.references` names {references}, which is not a file")


def check_places(round_: Round) -> None:
    """Raise a RoundError if the dataset could not be loaded from its folder, or would take the workspace's place."""
    output = round_.output
    odd = re.search(r"[*?\[\]{}]", str(output))
    if odd:
        raise RoundError(
            f"the dataset's folder {output} has {odd[0]!r} in its path, which load_dataset takes for a pattern: move or rename it"
        )
    if output.resolve() in (round_.workspace.resolve(), *round_.workspace.resolve().parents):
        raise RoundError(f"the dataset's folder {output} would replace the workspace {round_.workspace}: name another")


def round_of_source(revision: str, source: Mapping[str, str], workspace: Path) -> Round:
    """Return a round of which nothing but the source matters, with paths relative to where the command was started.

    Args:
        source: as in `[source]`.

    Raises:
        RoundError: it is not complete.
    """
    try:
        parsed = Round.model_validate({"round": revision, "source": source, "workspace": workspace})
    except ValidationError as err:
        first = err.errors()[0]
        name = first["loc"][-1]
        says = {"missing": f"give --{name}", "extra_forbidden": f"--{name} is none of its options"}
        why = says.get(first["type"]) or first["msg"].removeprefix("Value error, ")
        raise RoundError(f"--source {source['kind']}: {why}") from err
    return _anchor(parsed, Path.cwd())


def _anchor(parsed: Round, base: Path) -> Round:
    paths = {name: base / getattr(parsed, name) for name in ("workspace", "output", "takedowns")}
    accepted = base / parsed.scalar.accepted if parsed.scalar.accepted else None
    scalar = parsed.scalar.model_copy(update={"accepted": accepted})
    return parsed.model_copy(update={**paths, "source": parsed.source.with_base(base), "scalar": scalar})
