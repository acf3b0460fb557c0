"""A round's page from its manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl

from builder.dataset.card import sections
from builder.dataset.manifest import Manifest
from hub_scripts.report.drawing import BLUE, PLAIN, Plot, Sheet, both


def round_page(manifest: Manifest, place: Path, runs: tuple[int, int]) -> dict[str, Any]:
    """What a round's page shows: its name; facts, name -> value; the card's sections that have rows; plots, whose files go below `place`.

    Args:
        runs: how many were made over exactly this build of the round, and over any.
    """
    name = manifest.published_as
    facts = dict(_facts(manifest))
    if runs[1]:
        facts["Runs over exactly these files"] = f"{runs[0]} of {runs[1]}"
    shown = [(heading, tables, about) for heading, tables, about in sections(manifest) if tables and tables[0].rows]
    place.mkdir(parents=True, exist_ok=True)
    audit = manifest.audit
    counts = [("month", audit.months), ("category", audit.categories)] if audit else []
    plots = [both(_bars, place, name, what, counted) for what, counted in counts if counted]
    return {"name": name, "facts": facts, "sections": shown, "plots": plots}


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
