"""A round's page from its manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib as mpl

from builder.dataset import tables
from builder.dataset.manifest import Manifest
from hub_scripts.report.drawing import BLUE, PLAIN, Plot, Sheet, both
from lm_eval_tasks.base.tables import Table


@dataclass(slots=True)
class RoundPage:
    """What one round's page shows.

    Attributes:
        facts: name -> value, one line each.
        tables: heading -> table.
    """

    name: str
    facts: dict[str, object]
    tables: dict[str, Table]
    plots: list[Plot] = field(default_factory=list)


def round_page(manifest: Manifest, place: Path, runs: tuple[int, int]) -> RoundPage:
    """A manifest as a page; plots go below `place`.

    Args:
        runs: how many were made over exactly this build of the round, and over any.
    """
    name = manifest.published_as
    facts = dict(_facts(manifest))
    if runs[1]:
        facts["Runs over exactly these files"] = f"{runs[0]} of {runs[1]}"
    page = RoundPage(name, facts, {title: table for title, table in _tables(manifest) if table.rows})
    place.mkdir(parents=True, exist_ok=True)
    if manifest.audit:
        for what, counted in (("month", manifest.audit.months), ("category", manifest.audit.categories)):
            if counted:
                page.plots.append(both(_bars, place, name, what, counted))
    return page


def _facts(manifest: Manifest) -> Iterator[tuple[str, object]]:
    yield "Round", manifest.round
    yield "Seed", "" if manifest.seed is None else manifest.seed
    yield "Code version", manifest.code_version
    if manifest.split:
        yield "Validation from", manifest.split.validation_from
        yield "Test from", manifest.split.test_from
    if manifest.source:
        yield "Source", manifest.source
    if manifest.imported:
        yield "Imported from", manifest.imported
    if manifest.publishable:
        yield "Texts with licences", manifest.publishable.licenses
    yield "Data files", len(manifest.files)
    yield "Size", f"{sum(file.bytes for file in manifest.files.values()) / 1e6:.1f} MB"


def _tables(manifest: Manifest) -> Iterator[tuple[str, Table]]:
    yield (
        "Statistics",
        tables.statistics([configuration for configuration in manifest.configurations if configuration.samples]),
    )
    yield "Lengths", tables.lengths(manifest.configurations)
    yield "Labels", tables.labels(manifest.configurations)
    yield "Without reading the paper", tables.without_reading(manifest)
    yield "Reading questions", tables.reading(manifest)
    yield "Kept and dropped", tables.stages(manifest)
    if manifest.audit:
        yield "Audit", tables.audit_tables(manifest.audit, manifest.allowed)[0]
    if manifest.reading:
        yield "Extraction", tables.extraction_quality(manifest.reading)
    yield "Citations", tables.links(manifest.links)


def _bars(sheet: Sheet, name: str, what: str, counted: Mapping[str, int]) -> Plot:
    rows = sorted(counted.items(), key=lambda item: item[0] if what == "month" else (-item[1], item[0]))
    with mpl.rc_context(PLAIN):
        figure, panels = sheet.panels(1, 1, 7, 2.6)
        axis = panels[0][0]
        bars = rows if what == "month" else rows[:30]
        axis.bar(range(len(bars)), [n for _, n in bars], color=BLUE, edgecolor="black", linewidth=0.5)
        step = max(1, len(bars) // 24)
        axis.set_xticks(
            range(0, len(bars), step), [label for label, _ in bars][::step], rotation=60, ha="right", fontsize=7
        )
        axis.set_ylabel("papers")
        axis.spines[["top", "right"]].set_visible(False)
    most = max(rows, key=lambda item: item[1])
    title = f"Papers by {what}"
    alt = f"{title} of round {name}: {len(rows)} bars, most in {most[0]} ({most[1]} papers)."
    return sheet.save(figure, Plot(f"round_{name}_{what}", title, alt), (what, "papers"), rows)
