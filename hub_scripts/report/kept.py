"""The plot of what is kept: the share of what a model recalls alone, against the length of the context."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hub_scripts.report.cells import Group
from hub_scripts.report.drawing import Plot, Sheet
from lm_eval_tasks.families.descriptor import Kept
from lm_eval_tasks.families.registry import FAMILIES
from lm_eval_tasks.stats.kept import HELD, KeptShare, ScoredRow, kept_over, reach_of

_HEAD = "configuration thousand_tokens model share low high verdict recalled reach part part_share".split()


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
    figure, panels = sheet.panels(1, len(parts), 10, 3.2 + 0.12 * len(styles), sharey=True)
    for panel, part in zip(panels.flat, parts, strict=True):
        for model, style in styles.items():
            points = sorted((row for row in rows if (row[2], row[9]) == (model, part)), key=lambda row: row[1])
            if points:
                _draw(panel, points, style, is_part=bool(part))
        panel.axhline(HELD, color="black", linewidth=0.8, linestyle=":")
        panel.set_xscale("log", base=2)
        panel.set_xticks([row[1] for row in rows], [f"{row[1]}K" for row in rows])
        panel.set(title=part or "all rows", xlabel="context (thousand tokens)")
    panels.flat[0].set_ylabel("share kept of what is recalled alone")
    sheet.add_legend(figure, list(panels.flat))
    models = dict.fromkeys((row[2], row[8]) for row in rows)
    title = f"Recall kept in longer contexts, round {round_}"
    said = "; ".join(f"{model}: {reach}" for model, reach in models)
    alt = f"{title}: a line for each of {len(models)} models, with 95 % intervals. {said}."
    takeaway = f"A size is held if the lower bound is at least {HELD:g}. {said}."
    return sheet.save(figure, Plot(f"kept_{round_}", title, alt, takeaway, leads=True), _HEAD, rows)


def _draw(panel: Any, points: Sequence[tuple[Any, ...]], style: Mapping[str, Any], *, is_part: bool) -> None:
    sizes = [row[1] for row in points]
    shares = [row[10] if is_part else row[3] for row in points]
    panel.plot(sizes, shares, **style, label=f"{points[0][2]}: {points[0][8]}")
    for row in () if is_part else points:
        if row[4] is not None:
            reach = [[row[3] - row[4]], [row[5] - row[3]]]
            panel.errorbar(row[1], row[3], yerr=reach, color=style["color"], capsize=2, linewidth=1)
