"""`academiceval report`: everything together -> a folder that opens from disk, makes no requests, and can be a static Space."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from builder.dataset.folder import replacing
from builder.dataset.tables import report_card
from hub_scripts.errors import ReportError
from hub_scripts.report.agreement import agreement
from hub_scripts.report.board import TASK_LABELS, board, scores_of_samples
from hub_scripts.report.cells import Group, Key, Values, in_order, reader_of
from hub_scripts.report.figures import draw_all
from hub_scripts.report.gather import MOST_COPIED, gather, groups, script
from hub_scripts.report.inputs import Inputs, find
from hub_scripts.report.model_facts import ModelFacts, facts_of, known_models
from hub_scripts.report.pages import read_packaged, render
from hub_scripts.report.placing import ceilings_of, placed_scores, scorers_of
from hub_scripts.report.round_page import RoundPage, round_page
from hub_scripts.report.runs import run_facts
from hub_scripts.report.standings import Standings, standings_of
from lm_eval_tasks.core.progress import progress
from lm_eval_tasks.core.row_format import MADE_UP
from lm_eval_tasks.metrics import registry
from lm_eval_tasks.prompts.registry import kind_of
from lm_eval_tasks.samples.labels import cutoffs_of
from lm_eval_tasks.stats import scales
from lm_eval_tasks.stats.boards import BOARDS

if TYPE_CHECKING:
    from builder.round.licenses import Licenses

MARK = "academiceval-site.json"
_PAGES = ("index.html", "plots.html", "samples.html", "rounds.html", "about.html")
_STATIC = ("common.js", "tables.js", "models.js", "board.js", "samples.js", "site.css")


@dataclass(frozen=True, slots=True)
class Notes:
    """What is known about models besides their runs.

    Attributes:
        cutoffs: `MODEL=YYYY-MM`, the months up to which models were trained, if their results do not say.
        labels: name -> folder of a run that is shown under it.
        models: a file of facts about models, see `model_facts`.
        anchors: models that put several rounds on one scale, separated by commas; None for the usual ones.
    """

    cutoffs: Sequence[str] = ()
    labels: Mapping[str, Path] = field(default_factory=dict)
    models: Path | None = None
    anchors: str | None = None


def report(paths: Sequence[Path], output: Path, licenses: Licenses, notes: Notes | None = None) -> Iterator[str]:
    """Write the site; yields lines to show.

    Args:
        paths: result folders, files of results, samples and judges, dataset folders or their manifests.
        licenses: texts of papers that these do not allow are left out.

    Raises:
        ReportError: nothing to show, or a file that cannot be read.
        FolderError: `output` contains something else.
    """
    notes = notes or Notes()
    facts = known_models(notes.models)  # before anything is read that takes long
    inputs = find(paths, notes.labels)
    for path, split in sorted(inputs.left_out.items()):
        yield f"left out: {path}, whose scores are over the split {split!r} and not over the test papers"
    with replacing(output, MARK, "report") as place:
        yield from _write(inputs, place, licenses, notes, facts)
    size = sum(file.stat().st_size for file in output.rglob("*") if file.is_file())
    yield f"written: {output} ({size / 1e6:.1f} MB); open {output / 'index.html'}"


def labels_of(arguments: Sequence[str]) -> dict[str, Path]:
    """`NAME=FOLDER`, as typed, read.

    Raises:
        ReportError: one is something else, or a name is given twice.
    """
    labels: dict[str, Path] = {}
    for argument in arguments:
        name, _, folder = argument.partition("=")
        if not name or not folder or name in labels:
            raise ReportError(f"--label {argument!r:.200} is not NAME=FOLDER with a unique name")
        labels[name] = Path(folder)
    return labels


def _known_cutoffs(inputs: Inputs) -> dict[str, str]:
    return {model: month for model, runs in inputs.runs.items() if (month := runs[0].cutoff)}


def _scales(groups: Sequence[Group], anchors: str | None) -> dict[str, dict[tuple[Key, str], Values]]:
    """Name of a scale -> (setting, model) -> scores on it: placed between floor and ceiling, and what is registered."""
    settings = [_setting_scores(group) for group in groups]
    registered = {
        name: {(Key(round_, setting), model): values for (round_, setting, model), values in scaled.items()}
        for name, scaled in scales.scores_on_scales(settings, anchors).items()
    }
    return {**registered, "placed": placed_scores(groups)}


def _setting_scores(group: Group) -> scales.SettingScores:
    authors = dict(zip(group.ids, group.clusters, strict=True))
    scores = {
        metric: {
            cell.model: {id_: (score, authors[id_]) for id_, score in cell.values[metric].items()}
            for cell in group.cells
            if cell.values.get(metric)
        }
        for metric in registry.headline()
    }
    kind = kind_of(group.task)
    cells = [] if kind == "writing" else group.cells
    floors = [value for cell in cells for value in cell.floors.get(registry.ranking(kind), {}).values()]
    return scales.SettingScores(group.key.round, group.key.setting, fmean(floors) if floors else None, scores)


def _write(
    inputs: Inputs, place: Path, licenses: Licenses, notes: Notes, facts: Mapping[str, ModelFacts]
) -> Iterator[str]:
    all_groups = in_order(
        gather(key, files, inputs, place / "data" / "samples", licenses)
        for key, files in progress(groups(inputs).items(), "report")
    )
    if inputs.samples and not all_groups:
        raise ReportError(f"{inputs.samples[0].path} contains no sample; run `academiceval eval` again")
    inputs.verdicts.warn_of_others()
    scorers = scorers_of(run for runs in inputs.runs.values() for run in runs)
    for group in all_groups:
        group.ceilings = ceilings_of(group.key.round, group.task, inputs.manifests.values(), scorers)
    samples = sum(len(group.ids) for group in all_groups)
    counts = {
        "model": len({cell.model for group in all_groups for cell in group.cells if not cell.is_carried}),
        "setting": len(all_groups),
        "sample": samples,
    }
    yield ", ".join(f"{n} {name}{'s' * (n != 1)}" for name, n in counts.items())
    if withheld := sum(group.withheld for group in all_groups):
        # Answers of a run that has no scores yet are not among the cells'.
        answers = max(
            withheld, sum(cell.samples for group in all_groups for cell in group.cells if not cell.is_carried)
        )
        yield (
            f"left out: {withheld} of {answers} answers ({withheld / answers:.1%}), which repeat more than {MOST_COPIED} words in a "
            f"row of texts whose licences are not {licenses}"
        )
    models = {cell.model for group in all_groups for cell in group.cells}
    cutoffs = _known_cutoffs(inputs) | cutoffs_of(notes.cutoffs, models | {reader_of(model) for model in models})
    model_cutoffs = {model: month for model in models if (month := cutoffs.get(model) or cutoffs.get(reader_of(model)))}
    about = {model: facts_of(model, facts) for model in models}
    data = board(all_groups, model_cutoffs, about, _scales(all_groups, notes.anchors), scorers)
    (place / "data" / "scores").mkdir(parents=True, exist_ok=True)
    (place / "data" / "board.js").write_text(script("board", data), encoding="utf-8")
    for group in all_groups:
        text = script(f"scores:{group.key.slug}", scores_of_samples(group))
        (place / "data" / "scores" / f"{group.key.slug}.js").write_text(text, encoding="utf-8")
    plots = draw_all(all_groups, model_cutoffs, place / "plots")
    rounds = sorted(_round_pages(inputs, place / "plots"), key=lambda page: page.name)
    cards = {name: report_card(card) for name, card in sorted(inputs.cards.items())}
    by_round = [list(round_groups) for _, round_groups in groupby(all_groups, key=lambda group: group.key.round)]
    boards = [_boards(round_groups, inputs) for round_groups in reversed(by_round)]
    off_board = _off_board(all_groups, boards)
    if off_board:
        yield f"on no board, only by task and setting: {', '.join(off_board)}"
    content = {
        "off_board": off_board,
        "groups": all_groups,
        "plots": plots,
        "pages": rounds,
        "cards": cards,
        "about": about,
        "cutoffs": model_cutoffs,
        "runs": run_facts(inputs.runs, place),
        "agreement": agreement(all_groups),
        "duels": inputs.duels,
        "made_up": sorted(_made_up(all_groups, inputs)),
        "boards": boards,
    }
    _pages(place, data, content)
    for name in _STATIC:
        (place / name).write_text(read_packaged("static", name), encoding="utf-8")
    (place / "README.md").write_text(read_packaged("templates", "README.md"), encoding="utf-8")
    (place / MARK).write_text(json.dumps({"licenses": licenses}) + "\n", encoding="utf-8")


def _made_up(groups: Sequence[Group], inputs: Inputs) -> set[str]:
    """The rounds whose papers are made up."""
    by_manifest = {manifest.round for manifest in inputs.manifests.values() if manifest.source == MADE_UP}
    return {group.key.round for group in groups if group.made_up} | by_manifest


def _boards(groups: Sequence[Group], inputs: Inputs) -> list[Standings]:
    """The boards of one round; what counts is the round's if its manifest is there, else what any model was run on."""
    manifests = [manifest for manifest in inputs.manifests.values() if manifest.round == groups[0].key.round]
    names = {configuration.name for manifest in manifests for configuration in manifest.configurations}
    core = {entry.configuration: entry.samples for manifest in manifests for entry in manifest.core}
    configurations = names or {group.key.setting for group in groups}
    boards = (standings_of(groups, configurations, board, core, is_fixed=bool(names)) for board in BOARDS)
    return [board for board in boards if board]


def _off_board(groups: Sequence[Group], boards: Sequence[Sequence[Standings]]) -> list[str]:
    """The models that were run, but on nothing that a board counts."""
    placed = {
        standing.model for of_round in boards for board in of_round for standing in board.standings if standing.overall
    }
    ran = {cell.model for group in groups for cell in group.cells if not (cell.is_carried or cell.shown)}
    return sorted(ran - placed)


def _round_pages(inputs: Inputs, place: Path) -> Iterator[RoundPage]:
    for path, manifest in inputs.manifests.items():
        yield round_page(path, manifest, place)


def _pages(place: Path, data: Mapping[str, Any], content: Mapping[str, Any]) -> None:
    names = [page.name for page in content["pages"]]
    if len(set(names)) < len(names):
        raise ReportError(f"two manifests of round {next(n for n in names if names.count(n) > 1)} are given; give one")
    context = {
        **content,
        "first": first_view(data),
        "labels": data["metrics"],
        "tasks": TASK_LABELS,
        "has_rounds": bool(names),
    }
    for name in _PAGES:
        (place / name).write_text(render(name, page=name, **context), encoding="utf-8")


def first_view(data: Mapping[str, Any]) -> dict[str, Any]:
    """The table that the landing page shows before its script runs: the newest round's first task, by its first metric."""
    newest = max((setting["round"] for setting in data["settings"]), default="")
    task = next((name for name in data["tasks"] if any(_is(setting, newest, name) for setting in data["settings"])), "")
    columns = [(i, setting) for i, setting in enumerate(data["settings"]) if _is(setting, newest, task)]
    present = {name for cell in data["cells"] if cell["s"] in dict(columns) for name in cell["x"]}
    metric = next((name for name in data["metrics"] if name in present), "")
    cells = {(cell["m"], cell["s"]): cell for cell in data["cells"]}
    rows = [
        (model["name"], [cells.get((m, s)) for s, _ in columns])
        for m, model in enumerate(data["models"])
        if any((m, s) in cells for s, _ in columns)
    ]
    return {
        "round": newest,
        "task": data["tasks"].get(task, ""),
        "metric": metric,
        "columns": [setting for _, setting in columns],
        "rows": rows,
    }


def _is(setting: Mapping[str, Any], round_: str, task: str) -> bool:
    return bool(setting["round"] == round_ and setting["task"] == task)
