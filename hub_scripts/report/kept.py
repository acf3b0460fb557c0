"""The plot of what is kept: the share of what a model recalls alone, against the length of the context."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hub_scripts.report.cells import Group
from hub_scripts.report.drawing import Plot, Sheet
from lm_eval_tasks.base.tables import Table, with_bounds
from lm_eval_tasks.families.descriptor import Kept
from lm_eval_tasks.families.registry import FAMILIES
from lm_eval_tasks.stats.kept import HELD, KeptShare, ScoredRow, kept_over, reach_of

_HEAD = "configuration thousand_tokens model share low high verdict recalled reach part part_share".split()

# By how much, in powers of two, models stand beside one another at a size.
_ASIDE = 0.05


def rows_of(groups: Sequence[Group]) -> Iterator[tuple[Any, ...]]:
    """Yield configuration, thousands of tokens, model, share with its bounds, verdict, what is recalled, how far the model holds; and, of
    each part of the rows, its share.
    """
    for known in filter(None, (family.kept for family in FAMILIES)):
        own = [group for group in groups if group.key.setting in known.names]
        for model in sorted({cell.model for group in own for cell in group.cells}):
            shares = kept_over(_rows_of_model(own, model), known)
            for each in shares:
                yield from _lines(each, known, model, reach_of(shares, known.sizes))


def _rows_of_model(groups: Sequence[Group], model: str) -> dict[str, dict[str, ScoredRow]]:
    rows: dict[str, dict[str, ScoredRow]] = {}
    for group in groups:
        names, parts = dict(zip(group.ids, group.names, strict=True)), dict(zip(group.ids, group.parts, strict=True))
        for cell in group.cells:
            column = cell.columns.get(group.metric)
            if cell.model == model and column:
                rows[group.key.setting] = {
                    names[id_]: ScoredRow(score, column.clusters[id_], parts[id_])
                    for id_, score in column.scores.items()
                }
    return rows


def _lines(each: KeptShare, known: Kept, model: str, reach: str) -> Iterator[tuple[Any, ...]]:
    if each.share is None or each.configuration not in known.sizes:
        return
    bounds = each.share.bounds or (None, None)
    size = known.sizes[each.configuration]
    line = (each.configuration, size, model, each.share.mean, *bounds, each.verdict, each.recalled.mean, reach)
    yield (*line, "", None)
    yield from ((*line, part, share) for part, share in each.parts.items())


def by_length(
    sheet: Sheet, rows: Sequence[tuple[Any, ...]], round_: str, styles: Mapping[str, Mapping[str, Any]]
) -> Plot:
    """Draw the shares of all rows, and of each part of them, a line for each model."""
    parts = list(dict.fromkeys(row[9] for row in rows))
    models = list(dict.fromkeys(row[2] for row in rows))
    sizes = sorted({row[1] for row in rows})
    figure, panels = sheet.panels(1, len(parts), 10, 3.2 + 0.12 * len(models), sharey=True)
    for panel, part in zip(panels.flat, parts, strict=True):
        for number, model in enumerate(models):
            points = sorted((row for row in rows if (row[2], row[9]) == (model, part)), key=lambda row: row[1])
            if points:
                # Beside one another, so that intervals do not cover each other.
                aside = 2 ** (min(_ASIDE, 0.5 / len(models)) * (number - (len(models) - 1) / 2))
                _draw(panel, points, styles[model], aside, is_part=bool(part))
        panel.axhline(HELD, color="black", linewidth=0.8, linestyle=":")
        panel.set_xscale("log", base=2)
        panel.set_xticks(sizes, [f"{size}K" for size in sizes])
        panel.minorticks_off()
        panel.grid(visible=False, axis="x")
        panel.set(title=f"evidence {part}" if part else "all rows", xlabel="context (tokens)")
    panels.flat[0].set_ylabel("share kept of what is recalled alone")
    sheet.add_legend(figure, list(panels.flat), across=2)
    title = f"Recall kept in longer contexts, round {round_}"
    said = "; ".join(f"{model}: {reach}" for model, reach in dict.fromkeys((row[2], row[8]) for row in rows))
    alt = f"{title}: a line for each of {len(models)} models, with 95 % intervals. {said}."
    takeaway = f"A size is held if the lower bound of its share is at least {HELD:g} (dotted), lost if the upper bound is below."
    plot = Plot(f"kept_{round_}", title, alt, takeaway, leads=True, table=_table(rows))
    return sheet.save(figure, plot, _HEAD, rows)


def _table(rows: Sequence[tuple[Any, ...]]) -> Table:
    head = ("Model", "Context", "Share kept [95%]", "Recalled, bits", "Verdict")
    cells = [
        (model, configuration, with_bounds(share, low, high, ".2f"), f"{recalled:.1f}", verdict)
        for configuration, _, model, share, low, high, verdict, recalled, _, part, _ in rows
        if not part
    ]
    return Table(head, "llrrl", cells)


def _draw(
    panel: Any, points: Sequence[tuple[Any, ...]], style: Mapping[str, Any], aside: float, *, is_part: bool
) -> None:
    sizes = [row[1] * aside for row in points]
    shares = [row[10] if is_part else row[3] for row in points]
    panel.plot(sizes, shares, **style, label=f"{points[0][2]}: {points[0][8].partition(';')[0]}")
    for size, row in () if is_part else zip(sizes, points, strict=True):
        if row[4] is not None:
            reach = [[row[3] - row[4]], [row[5] - row[3]]]
            panel.errorbar(size, row[3], yerr=reach, color=style["color"], capsize=2, linewidth=1)
