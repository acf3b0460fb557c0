"""`academiceval report`: everything together -> a folder that opens from disk, makes no requests, and can be a static Space."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from importlib import resources
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from builder.dataset.card import sections
from builder.dataset.folder import replacing
from hub_scripts.errors import ReportError
from hub_scripts.report.cells import (
    TASK_LABELS,
    Group,
    ScoreRow,
    in_order,
    reader_of,
    score_labels,
    score_rows,
    scores_csv,
    split_steps,
    splits_csv,
)
from hub_scripts.report.figures import draw_all
from hub_scripts.report.gather import gather
from hub_scripts.report.inputs import Inputs, find
from hub_scripts.report.newest import groups
from hub_scripts.report.round_names import own_folders
from hub_scripts.report.runs import ModelFacts, facts_of, known_models, run_facts, scorers_of
from hub_scripts.report.sample_pages import MOST_COPIED, script
from hub_scripts.report.standings import Standings, boards_csv, standings_of
from lm_eval_tasks.base.contract import MADE_UP, Licenses
from lm_eval_tasks.base.manifest import Manifest
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.families.registry import BOARDS, label
from lm_eval_tasks.samples.results import cutoffs_of

# The bundle is a module, which a page opened from disk may not load: it becomes a script that leaves its class behind.
_EXPORT = re.compile(r"export\s*\{[^}]*?([\w$]+) as default[^}]*\};?")


def table_library() -> str:
    """Return the library as a script; a ReportError if the installed release of itables has it in another form."""
    script, count = _EXPORT.subn(
        r"window.DataTable=\1;", (resources.files("itables") / "html" / "dt_bundle.js").read_text(encoding="utf-8")
    )
    if count != 1:
        raise ReportError("this release of itables is not understood: pip install itables==2.9.1")
    return f"(() => {{\n{script}\n}})();\n"


def render(template: str, **values: object) -> str:
    """Return a page from a template, its texts escaped."""
    jinja = Environment(
        loader=PackageLoader("hub_scripts.report", "templates"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    jinja.filters |= {"score": _score, "label": label}
    return jinja.get_template(template).render(**values)


def _score(value: float, form: str = "%.3f") -> str:
    """Return a score in three decimals; what rounds to nothing has no sign."""
    shown = form % value
    return shown if float(shown) else shown.lstrip("+-")


MARK = "academiceval-site.json"


def report(
    paths: Sequence[Path],
    output: Path,
    licenses: Licenses,
    cutoffs: Sequence[str] = (),
    labels: Sequence[str] = (),
    models: Path | None = None,
) -> Iterator[str]:
    """Write the site; yields lines to show.

    Args:
        paths: result folders, files of results, samples and judges, dataset folders or their manifests.
        licenses: texts of papers that these do not allow are left out.
        cutoffs: `MODEL=YYYY-MM`, the months up to which models were trained, if their results do not say.
        labels: `NAME=FOLDER`, the names under which folders' runs are shown.
        models: a file of facts about models, see `runs.known_models`.

    Raises:
        ReportError: nothing to show, or a file that cannot be read.
        FolderError: `output` contains something else.
    """
    facts = known_models(models)  # before anything is read that takes long
    inputs = find(paths, _labels_of(labels))
    for path, split in sorted(inputs.left_out.items()):
        yield f"left out: {path}, whose scores are over the split {split!r} and not over the test papers"
    with replacing(output, MARK, "report", _is_of_site) as draft:
        yield from _write(inputs, draft, licenses, cutoffs, facts)
    size = sum(file.stat().st_size for file in output.rglob("*") if file.is_file())
    yield f"written: {output} ({size / 1e6:.1f} MB); open {output / 'index.html'}"


def _is_of_site(entry: Path) -> bool:
    return (
        entry.name in ("data", "plots")
        if entry.is_dir()
        else entry.name == MARK or entry.suffix in (".html", ".js", ".css")
    )


def _labels_of(arguments: Sequence[str]) -> dict[str, Path]:
    labels: dict[str, Path] = {}
    for argument in arguments:
        name, _, folder = argument.partition("=")
        if not name or not folder or name in labels:
            raise ReportError(f"--label {argument!r:.200} is not NAME=FOLDER with a unique name")
        labels[name] = Path(folder)
    return labels


def _write(
    inputs: Inputs, draft: Path, licenses: Licenses, typed: Sequence[str], facts: Mapping[str, ModelFacts]
) -> Iterator[str]:
    files = groups(inputs).items()
    folder = draft / "data" / "samples"
    gathered = in_order(gather(key, of_key, inputs, folder, licenses) for key, of_key in progress(files, "report"))
    by_round = [list(of_round) for _, of_round in groupby(gathered, key=lambda group: group.key.round)]
    all_groups = [group for of_round in sorted(by_round, key=_newness, reverse=True) for group in of_round]
    if inputs.samples and not all_groups:
        raise ReportError(f"{inputs.samples[0].path} contains no sample; run `academiceval eval` again")
    inputs.verdicts.warn_of_others()
    yield from _counts(all_groups, licenses)
    models = {cell.model for group in all_groups for cell in group.cells}
    cutoffs = _cutoffs(inputs, models, typed)
    over = {path: inputs.runs_over(path) for path in inputs.manifests}
    for path, (same, every) in over.items():
        if every and not same:
            yield f"{path}: no run used exactly these files; runs used another build of the round"
    boards = [
        _boards(list(of_round), inputs, over) for _, of_round in groupby(all_groups, key=lambda group: group.key.round)
    ]
    off_board = _off_board(all_groups, boards)
    if off_board:
        yield f"on no board, only by task and setting: {', '.join(off_board)}"
    rows = score_rows(all_groups, cutoffs)
    splits = _write_data(draft, rows, boards, all_groups)
    runs = [run for of_model in inputs.runs.values() for run in of_model]
    shown = {row.task for row in rows}
    content = {
        "labels": score_labels(all_groups),
        "tasks": {name: title for name, title in TASK_LABELS.items() if name in shown},
        "has_rounds": bool(inputs.manifests),
        "off_board": off_board,
        "groups": all_groups,
        "rows": rows,
        "splits": splits,
        "plots": draw_all(all_groups, draft / "plots"),
        "pages": sorted(_round_pages(inputs, over), key=itemgetter("name")),
        "about": {model: facts_of(model, facts) for model in models},
        "cutoffs": cutoffs,
        "runs": run_facts(inputs.runs, inputs.round_names, draft),
        "duels": inputs.duels,
        "made_up": sorted(_made_up(all_groups, inputs)),
        "boards": list(filter(None, boards)),
        "scorers": sorted(scorers_of(runs)),
    }
    for name in ("index.html", "plots.html", "samples.html", "rounds.html", "about.html"):
        (draft / name).write_text(render(name, page=name, **content), encoding="utf-8")
    for name in ("site.css", "tables.js", "samples.js"):
        (draft / name).write_bytes((resources.files("hub_scripts.report") / "static" / name).read_bytes())
    (draft / "datatables.js").write_text(table_library(), encoding="utf-8")
    (draft / MARK).write_text(json.dumps({"licenses": licenses}) + "\n", encoding="utf-8")


def _newness(groups: Sequence[Group]) -> tuple[bool, str, str]:
    """Return what rounds are sorted by: real papers before made-up ones, then its month, then its newest paper."""
    month = groups[0].key.round.partition(" ")[0]
    return not groups[0].made_up, month, max((day for group in groups for day in group.published), default="")


def _counts(all_groups: Sequence[Group], licenses: Licenses) -> Iterator[str]:
    """Say how much the page shows, and what it leaves out."""
    cells = [cell for group in all_groups for cell in group.cells if not cell.is_carried]
    counts = {
        "model": len({cell.model for cell in cells}),
        "setting": len(all_groups),
        "sample": sum(len(group.ids) for group in all_groups),
    }
    yield ", ".join(f"{n} {name}{'s' * (n != 1)}" for name, n in counts.items())
    withheld = sum(group.withheld for group in all_groups)
    if withheld:
        # Answers of a run that has no scores yet are not among the cells'.
        answers = max(withheld, sum(cell.samples for cell in cells))
        yield (
            f"left out: {withheld} of {answers} answers ({withheld / answers:.1%}), which repeat over {MOST_COPIED} consecutive "
            f"words of texts whose licences are not {licenses}"
        )


def _cutoffs(inputs: Inputs, models: Set[str], typed: Sequence[str]) -> dict[str, str]:
    """Find the month up to which each model was trained: as typed, or as its newest run with one says; with retrieval the reader's."""
    stated = {model: [run for run in runs if run.cutoff] for model, runs in inputs.runs.items()}
    known = {model: str(max(runs, key=lambda run: run.seconds).cutoff) for model, runs in stated.items() if runs}
    known |= cutoffs_of(typed, models | {reader_of(model) for model in models})
    months = {model: known.get(model) or known.get(reader_of(model)) for model in models}
    return {model: month for model, month in months.items() if month}


def _write_data(
    draft: Path, rows: Sequence[ScoreRow], boards: Sequence[Sequence[Standings]], all_groups: Sequence[Group]
) -> list[str]:
    """Write the tables as files beside the pages; return the names of the splits that they have."""
    steps = split_steps(rows)
    names = {name for group in all_groups for cell in group.cells for name in cell.columns}
    labels = {name: label(name) for name in sorted(names) if label(name) != name}
    data = {
        "scores.csv": scores_csv(rows),
        "splits.csv": splits_csv(rows),
        "boards.csv": boards_csv([board for of_round in boards for board in of_round]),
        "splits.js": script("splits", steps),
        "settings.js": script("settings", [_setting(group) for group in all_groups]) + script("labels", labels),
    }
    (draft / "data").mkdir(exist_ok=True)
    for name, text in data.items():
        (draft / "data" / name).write_text(text, encoding="utf-8")
    splits: list[str] = steps["splits"]
    return splits


def _setting(group: Group) -> dict[str, Any]:
    """Return what the page of samples must know before it loads any."""
    samples = [f"{name} {title}" for name, title in zip(group.names, group.titles, strict=True)]
    return {"slug": group.key.slug, "name": f"{group.key.setting}, round {group.key.round}", "samples": samples}


def _made_up(groups: Sequence[Group], inputs: Inputs) -> set[str]:
    by_manifest = {inputs.name_of(path) for path, each in inputs.manifests.items() if each.source == MADE_UP}
    return {group.key.round for group in groups if group.made_up} | by_manifest


def _boards(groups: Sequence[Group], inputs: Inputs, over: Mapping[Path, tuple[int, int]]) -> list[Standings]:
    """Return the boards of one round; what counts is the round's if its manifest is there, else what any model was run on."""
    named = {path: each for path, each in inputs.manifests.items() if inputs.name_of(path) == groups[0].key.round}
    asked = [each for path, each in named.items() if over[path][0]]
    # Of two rounds of one name, the one that was asked says what counts.
    manifests = asked or (list(named.values()) if len(named) == 1 else [])
    names = {configuration.name for manifest in manifests for configuration in manifest.configurations}
    core = {entry.configuration: entry.samples for manifest in manifests for entry in manifest.core}
    configurations = names or {group.key.setting for group in groups}
    every = (standings_of(groups, configurations, board, core, is_fixed=bool(names)) for board in BOARDS)
    return [standings for standings in every if standings]


def _off_board(groups: Sequence[Group], boards: Sequence[Sequence[Standings]]) -> list[str]:
    """Return the models that were run, but on nothing that a board counts."""
    standings = [standing for of_round in boards for board in of_round for standing in board.standings]
    placed = {standing.model for standing in standings if standing.overall}
    run = {cell.model for group in groups for cell in group.cells if not (cell.is_carried or cell.shown)}
    return sorted(run - placed)


def _round_pages(inputs: Inputs, over: Mapping[Path, tuple[int, int]]) -> Iterator[dict[str, Any]]:
    """Yield the page of each manifest, with the card's sections that have rows; rounds of one name are called after their folders.

    Args:
        over: how many runs were made over exactly a manifest's build of the round, and over any.
    """
    names = [inputs.name_of(path, manifest.published_as) for path, manifest in inputs.manifests.items()]
    folders = own_folders([[path.resolve().parent] for path in inputs.manifests])
    for (path, manifest), name, folder in zip(inputs.manifests.items(), names, folders, strict=True):
        called = f"{name} ({folder})" if names.count(name) > 1 else name
        shown = [(heading, tables, about) for heading, tables, about in sections(manifest) if tables and tables[0].rows]
        yield {"name": called, "facts": dict(_round_facts(manifest, *over[path])), "sections": shown}


def _round_facts(manifest: Manifest, same: int, every: int) -> Iterator[tuple[str, object]]:
    """Yield (name, value), also how many runs were made over exactly this build of the round, and over any."""
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
    if every:
        yield "Runs over exactly these files", f"{same} of {every}"
