"""A round's page from its manifest, and from its rows what the co-author graph looks like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import matplotlib as mpl
import networkx as nx

from builder.dataset import tables
from builder.dataset.manifest import QUANTILES, Manifest
from builder.dataset.rows import kind_of, read_columns
from hub_scripts.report.drawing import BLUE, PLAIN, Plot, Sheet, both
from lm_eval_tasks.core.tables import Table

_LABEL = {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.5}
_DRAWN = 90
_NAMED = 8
_MAX_AUTHORS = 50


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


def round_page(path: Path, manifest: Manifest, place: Path) -> RoundPage:
    """A manifest and the rows next to it, if they are there, as a page; plots go below `place`."""
    name = manifest.published_as
    page = RoundPage(name, dict(_facts(manifest)), {title: table for title, table in _tables(manifest) if table.rows})
    place.mkdir(parents=True, exist_ok=True)
    if manifest.audit:
        for what, counted in (("month", manifest.audit.months), ("category", manifest.audit.categories)):
            if counted:
                page.plots.append(both(_bars, place, name, what, counted))
    if boxes := _boxes(manifest):
        page.plots.append(both(_lengths, place, name, boxes))
    papers = _authors(path.parent, manifest)
    if any(papers.values()):
        page.plots.append(both(_graph, place, name, papers))
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
    yield "Papers in contexts that are newer", tables.newer_than(manifest.configurations)
    yield "Kept and dropped", tables.stages(manifest)
    if manifest.audit:
        yield "Audit", tables.checks(manifest.audit, manifest.allowed)
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


def _boxes(manifest: Manifest) -> dict[str, tuple[int, ...]]:
    """Configuration -> input lengths of its test samples at each of `QUANTILES`."""
    tests = {
        configuration.name: configuration.statistics("test").input_lengths for configuration in manifest.configurations
    }
    return {name: lengths for name, lengths in tests.items() if lengths}


def _lengths(sheet: Sheet, name: str, boxes: Mapping[str, Sequence[int]]) -> Plot:
    stats = [
        {"label": label, "whislo": low, "q1": first, "med": middle, "q3": third, "whishi": high}
        for label, (low, first, middle, third, high, _) in boxes.items()
    ]
    with mpl.rc_context(PLAIN):
        figure, panels = sheet.panels(1, 1, 7, 1 + 0.26 * len(stats))
        axis = panels[0][0]
        axis.bxp(stats, orientation="horizontal", showfliers=False, patch_artist=True, boxprops={"facecolor": BLUE})
        axis.invert_yaxis()
        axis.set_xlabel("input tokens")
        axis.spines[["top", "right"]].set_visible(False)
    title = "Input lengths"
    alt = (
        f"{title} of the test samples of round {name}: boxes from 25 to 75 %, whiskers from 5 to 95 %, medians "
        + ", ".join(f"{label} {lengths[2]}" for label, lengths in boxes.items())
        + "."
    )
    head = ("configuration", *(f"{100 * share:g}%" for share in QUANTILES))
    rows = [(label, *lengths) for label, lengths in boxes.items()]
    return sheet.save(figure, Plot(f"round_{name}_lengths", title, alt), head, rows)


def _authors(folder: Path, manifest: Manifest) -> dict[str, list[str]]:
    """Paper -> its authors, for every row that is there."""
    authors: dict[str, list[str]] = {}
    for configuration in manifest.configurations:
        key = kind_of(configuration).paper_column
        # A manifest may be given without its data.
        if all((folder / file.path).is_file() for file in configuration.every_file):
            authors.update((row[key], row["authors"]) for row in read_columns(folder, configuration, [key, "authors"]))
    return dict(sorted(authors.items()))


def _graph(sheet: Sheet, name: str, papers: Mapping[str, Sequence[str]]) -> Plot:
    """A connected sample of the co-author graph: the neighbourhood of the author with most papers."""
    graph: nx.Graph[str] = nx.Graph()
    for authors in papers.values():
        graph.add_nodes_from(authors)
        if len(authors) <= _MAX_AUTHORS:
            graph.add_edges_from(combinations(sorted(set(authors)), 2))
    first = {authors[0] for authors in papers.values() if authors}
    parts = sorted(nx.connected_components(graph), key=lambda part: (-len(part), min(part)))
    drawn = _neighbourhood(graph, parts[0])
    with mpl.rc_context(PLAIN):
        figure, panels = sheet.panels(1, 1, 7, 5)
        axis = panels[0][0]
        at = nx.spring_layout(drawn, seed=0)
        nx.draw_networkx_edges(drawn, at, ax=axis, alpha=0.35, width=0.6)
        for nodes, fill in ((sorted(first & set(drawn)), BLUE), (sorted(set(drawn) - first), "white")):
            nx.draw_networkx_nodes(
                drawn, at, nodelist=nodes, ax=axis, node_color=fill, edgecolors="black", linewidths=0.6, node_size=28
            )
        busiest = sorted(drawn, key=lambda node: (-drawn.degree(node), node))[:_NAMED]
        for node in busiest:
            axis.annotate(
                node, (float(at[node][0]), float(at[node][1])), fontsize=7, ha="center", va="bottom", bbox=_LABEL
            )
        axis.set_axis_off()
    degree = 2 * graph.number_of_edges() / max(1, graph.number_of_nodes())
    figures = {
        "papers": len(papers),
        "authors": graph.number_of_nodes(),
        "first authors": len(first),
        "pairs of co-authors": graph.number_of_edges(),
        "connected parts": len(parts),
        "authors in the largest part": len(parts[0]),
        "mean co-authors": round(degree, 2),
        "drawn": drawn.number_of_nodes(),
    }
    listed = ", ".join(f"{what} {n}" for what, n in figures.items())
    alt = f"A sample of the co-author graph around its busiest author; filled marks are first authors. {listed}."
    plot = Plot(f"round_{name}_graph", "Co-author graph", alt)
    return sheet.save(figure, plot, ("figure", "value"), list(figures.items()))


def _neighbourhood(graph: nx.Graph[str], part: set[str]) -> nx.Graph[str]:
    start = min(part, key=lambda node: (-graph.degree(node), node))
    near: list[str] = [start]
    for node in near:
        near += [neighbour for neighbour in sorted(graph[node]) if neighbour not in near][: _DRAWN - len(near)]
        if len(near) >= _DRAWN:
            break
    # A subgraph's nodes come in the order of a set, which differs from process to process, and the layout with it.
    drawn: nx.Graph[str] = nx.Graph()
    drawn.add_nodes_from(near)
    drawn.add_edges_from((first, second) for first, second in combinations(near, 2) if graph.has_edge(first, second))
    return drawn
