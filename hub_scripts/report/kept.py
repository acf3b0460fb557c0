"""The plot of what is kept: the share of what a model recalls alone, against the length of the context."""

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from hub_scripts.report.cells import Cell, Group
from hub_scripts.report.drawing import Plot, Sheet, in_plot
from lm_eval_tasks.base.tables import Table, with_bounds
from lm_eval_tasks.families.descriptor import Kept
from lm_eval_tasks.families.registry import FAMILIES
from lm_eval_tasks.stats.kept import CHAT, HELD, OF_A_PART, KeptShare, ScoredRow, kept_over, reach_of

# By how much, in powers of two, models stand beside one another at a size.
_ASIDE = 0.05


class KeptPoint(NamedTuple):
    """What a model keeps at one size, over all rows or over a part of them.

    Attributes:
        share, low, high: over all rows.
        recalled: in bits, at that size.
        samples: over how many texts.
        reach: how far the model holds, see `reach_of`.
        part: of the rows, "" for all.
        part_share: None for all rows.
    """

    configuration: str
    thousand_tokens: int
    model: str
    share: float
    low: float | None
    high: float | None
    verdict: str
    recalled: float
    samples: int
    reach: str
    part: str = ""
    part_share: float | None = None


def rows_of(groups: Sequence[Group]) -> Iterator[KeptPoint]:
    """Yield a line for each model and size, and one for each part of its rows."""
    for known in filter(None, (family.kept for family in FAMILIES)):
        # What is asked through a chat template has other levels: a line of its own.
        for way in ("", CHAT):
            own = {name: group for group in groups for name in known.names if group.key.setting == f"{name}{way}"}
            for model in sorted({cell.model for group in own.values() for cell in group.cells}):
                yield from _lines_of_model(own, model, way, known)


def _lines_of_model(groups: Mapping[str, Group], model: str, way: str, known: Kept) -> Iterator[KeptPoint]:
    """Yield a model's lines, by configurations' groups that were asked in one way."""
    rows: dict[str, dict[str, ScoredRow]] = {}
    unscored: set[str] = set()
    reason = ""
    for configuration, group in groups.items():
        cell = group.cell_of(model)
        if cell is None:
            continue
        rows[configuration] = _scored_rows(group, cell)
        if len(rows[configuration]) < len(cell.prompts):
            unscored.add(configuration)
        if configuration == known.alone and len(cell.prompts) < (cell.of or 0):
            reason = OF_A_PART
    shares = kept_over(rows, known, unscored)
    reach = reach_of(shares, known.sizes, reason)
    for each in shares:
        yield from _lines(each, known, f"{model}{way}", reach)


def _scored_rows(group: Group, cell: Cell) -> dict[str, ScoredRow]:
    column = cell.columns.get(group.metric)
    if column is None:
        return {}
    names, parts = dict(zip(group.ids, group.names, strict=True)), dict(zip(group.ids, group.parts, strict=True))
    return {names[id_]: ScoredRow(score, column.clusters[id_], parts[id_]) for id_, score in column.scores.items()}


def _lines(each: KeptShare, known: Kept, model: str, reach: str) -> Iterator[KeptPoint]:
    if each.share is None or each.configuration not in known.sizes:
        return
    low, high = each.share.bounds or (None, None)
    size = known.sizes[each.configuration]
    line = KeptPoint(
        configuration=each.configuration,
        thousand_tokens=size,
        model=model,
        share=each.share.mean,
        low=low,
        high=high,
        verdict=each.verdict,
        recalled=each.recalled.mean,
        samples=each.share.samples,
        reach=reach,
    )
    yield line
    yield from (line._replace(part=part, part_share=share) for part, share in each.parts.items())


def by_length(sheet: Sheet, rows: Sequence[KeptPoint], round_: str, styles: Mapping[str, Mapping[str, Any]]) -> Plot:
    """Draw the shares of all rows, and of each part of them, a line for each model."""
    parts = list(dict.fromkeys(row.part for row in rows))
    models = list(dict.fromkeys(row.model for row in rows))
    sizes = sorted({row.thousand_tokens for row in rows})
    figure, panels = sheet.panels(len(parts), 3.2 + 0.12 * len(models), sharey=True)
    for panel, part in zip(panels, parts, strict=True):
        for number, model in enumerate(models):
            own = (row for row in rows if (row.model, row.part) == (model, part))
            points = sorted(own, key=attrgetter("thousand_tokens"))
            if points:
                # Beside one another, so that intervals do not cover each other.
                aside = 2 ** (min(_ASIDE, 0.5 / len(models)) * (number - (len(models) - 1) / 2))
                style = styles.get(model) or {**styles[model.removesuffix(CHAT)], "linestyle": (0, (1, 1))}
                _draw(panel, points, style, aside)
        panel.axhline(HELD, color="black", linewidth=0.8, linestyle=":")
        panel.set_xscale("log", base=2)
        panel.set_xticks(sizes, [f"{size}K" for size in sizes])
        panel.minorticks_off()
        panel.grid(visible=False, axis="x")
        panel.set(title=f"evidence {part}" if part else "all rows", xlabel="context (tokens)")
    panels[0].set_ylabel("share kept of recall from the evidence alone")
    sheet.add_legend(figure, across=2)
    title = f"Recall kept in longer contexts, round {round_}"
    said = "; ".join(dict.fromkeys(f"{row.model}: {row.reach}" for row in rows))
    alt = f"{title}: a line for each of {len(models)} models, with 95 % intervals. {said}."
    takeaway = f"A size is held if the lower bound of its share is at least {HELD:g} (dotted), lost if the upper bound is below."
    plot = Plot(f"kept_{round_}", title, alt, takeaway, leads=True, table=_table(rows))
    return sheet.save(figure, plot, KeptPoint._fields, rows)


def _table(rows: Sequence[KeptPoint]) -> Table:
    head = ("Model", "Context", "Share kept [95%]", "n", "Recalled, bits", "Verdict")
    cells = [
        (
            row.model,
            row.configuration,
            with_bounds(row.share, row.low, row.high, ".2f"),
            str(row.samples),
            f"{row.recalled:.1f}",
            row.verdict,
        )
        for row in rows
        if not row.part
    ]
    return Table(head, "llrrrl", cells)


def _draw(panel: Any, points: Sequence[KeptPoint], style: Mapping[str, Any], aside: float) -> None:
    sizes = [row.thousand_tokens * aside for row in points]
    shares = [row.share if row.part_share is None else row.part_share for row in points]
    panel.plot(sizes, shares, **style, label=f"{in_plot(points[0].model)}: {points[0].reach.partition(';')[0]}")
    for size, row in zip(sizes, points, strict=True):
        if not row.part and row.low is not None and row.high is not None:
            reach = [[row.share - row.low], [row.high - row.share]]
            panel.errorbar(size, row.share, yerr=reach, color=style["color"], capsize=2, linewidth=1)
