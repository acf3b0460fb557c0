"""What `academiceval report` is given: runs with their samples, manifests of rounds, and judges' results: a verdict is shown only beside
the answer and the target that it is about.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hub_scripts.errors import ReportError
from hub_scripts.report.round_names import RoundNames, names_of
from hub_scripts.report.runs import how_asked
from lm_eval_tasks.base.contract import MANIFEST
from lm_eval_tasks.base.files import sha256_of
from lm_eval_tasks.base.manifest import Manifest
from lm_eval_tasks.base.metadata import TEST
from lm_eval_tasks.base.tables import Table
from lm_eval_tasks.base.text import ODD, parse_json
from lm_eval_tasks.families.rounds import read_manifest
from lm_eval_tasks.judge.verdict import SETTLED, is_complete, texts_hash
from lm_eval_tasks.judge.win_rates import table
from lm_eval_tasks.samples.results import JOURNAL, RESULTS, Results, read_results
from lm_eval_tasks.samples.run_folder import SAMPLES, is_time, results_in, samples_beside, samples_of, task_of
from lm_eval_tasks.samples.sample import Sample

_LOGGER = logging.getLogger(__name__)
# Judge -> the winners in both orders, or which text is missing (`verdict.SETTLED`).
Orders = dict[str, Any]
# What a verdict is about: model, round, task, sample, hash of the texts.
_Subject = tuple[str, str, str, str, str]


class Verdicts:
    """The verdicts of all files."""

    def __init__(self) -> None:
        self._orders: dict[_Subject, Orders] = {}
        # The files of those that no answer was found for.
        self._left: dict[_Subject, Path] = {}

    def __len__(self) -> int:
        return len(self._orders)

    def add(self, path: Path, model: str, content: Mapping[str, Any]) -> None:
        """Add a file of a judge's results on a model's answers, a ReportError if it is not one; of two verdicts of one judge on the same
        texts the first counts.
        """
        try:
            round_, tasks = str(content["round"]), content["verdicts"]
            for task, samples in tasks.items():
                hashes = content.get("texts", {}).get(task, {})
                unknown = samples.keys() - hashes.keys()
                if unknown:
                    _LOGGER.warning(
                        "%s does not say which texts %d verdicts on %s are about, so they are not shown: run the same "
                        "`academiceval judge` command again to write that; it keeps its verdicts",
                        path,
                        len(unknown),
                        task,
                    )
                for id_, digest in hashes.items():
                    self._add(path, (model, round_, task, id_, str(digest)), samples.get(id_, {}))
        except ODD as err:
            raise ReportError(f"{path} is not a file of a judge's results ({err})") from err

    def _add(self, path: Path, subject: _Subject, judges: Mapping[str, Any]) -> None:
        for orders in judges.values():
            if isinstance(orders, str) and orders in SETTLED:
                continue
            decided = [winners for winners in orders if winners is not None]
            if len(orders) != 2 or not all(map(is_complete, decided)):
                raise ValueError(f"{orders!r:.80} are not the winners in two orders")
        self._orders[subject] = {**judges, **self._orders.get(subject, {})}
        self._left.setdefault(subject, path)

    def of(self, model: str, sample: Sample) -> Orders:
        """Return the verdicts on a model's answer."""
        subject = model, sample.row.round, sample.task, sample.id, texts_hash(sample.answer, sample.row.target)
        self._left.pop(subject, None)
        return self._orders.get(subject, {})

    def warn_of_others(self) -> None:
        """Say how many verdicts of each file are about texts that no sample had."""
        left = list(self._left.values())
        for path in sorted(set(left)):
            _LOGGER.warning(
                "%s: %d verdicts are about other answers than those given here, and are not shown",
                path,
                left.count(path),
            )


def duel(path: Path, content: Mapping[str, Any]) -> tuple[str, Table]:
    """Return a judge's results on two models: title and table."""
    try:
        model, opponent, round_ = (str(content[name])[:200] for name in ("judged_model", "against", "round"))
        return f"{model} against {opponent}, round {round_}", table(content)
    except ODD as err:
        raise ReportError(f"{path} is not a file of a judge's results ({err})") from err


@dataclass(frozen=True, slots=True)
class SamplesFile:
    """One task's samples of one model.

    Attributes:
        finished: whether they have scores; those that are only in a journal have none.
        date: when the run was made, in seconds; of two runs of a model over as many samples the newer counts.
        asked: see `how_asked`.
    """

    path: Path
    model: str
    finished: bool = True
    date: float = 0.0
    asked: str = ""


@dataclass(slots=True)
class Inputs:
    """Everything that was found.

    Attributes:
        runs: model -> its results.
        verdicts: of judges on answers.
        manifests: path -> manifest of a dataset folder.
        duels: title -> table of the judges that compared one model with another.
        left_out: results of a run -> its split, if that is not the test split, whose scores a board shows.
        round_names: what rounds are called.
    """

    samples: list[SamplesFile] = field(default_factory=list)
    runs: dict[str, list[Results]] = field(default_factory=dict)
    verdicts: Verdicts = field(default_factory=Verdicts)
    manifests: dict[Path, Manifest] = field(default_factory=dict)
    duels: dict[str, Table] = field(default_factory=dict)
    left_out: dict[Path, str] = field(default_factory=dict)
    round_names: RoundNames = field(default_factory=dict)

    def name_of(self, manifest: Path, otherwise: str = "") -> str:
        """Return what the round of a manifest is called; otherwise its own name."""
        round_ = self.manifests[manifest].round
        name = self.round_names.get((round_, sha256_of(manifest)), round_)
        return otherwise if otherwise and name == round_ else name

    def runs_over(self, manifest: Path) -> tuple[int, int]:
        """Return how many runs were made over exactly the files of a manifest, and over any of its round whose files have a known hash."""
        of_round = [run for runs in self.runs.values() for run in runs if self.manifests[manifest].round in run.rounds]
        # A sha256 has 64 digits; the commit of a dataset on the Hub has fewer.
        hashes = [run.contents for run in of_round if len(run.contents) == 64]
        return hashes.count(sha256_of(manifest)), len(hashes)


def find(paths: Sequence[Path], labels: Mapping[str, Path] | None = None) -> Inputs:
    """Read what files and folders contain; `labels` name folders of runs that are shown under these names in place of their models'. A
    ReportError if nothing was found, or a file cannot be read.
    """
    finding = _Finding(_folders(labels or {}))
    given = {file.resolve() for path in [*paths, *finding.labels] for file in _files(path)}
    of_runs = [file for file in given if file.match(f"{RESULTS}*.json")]
    given.update(*(samples_beside(file).values() for file in of_runs))
    # Results say of which split samples are.
    results = {each for file in given for each in results_in(file.parent) if task_of(file.name, each)}
    finding.read(sorted(given | results))
    inputs = finding.inputs
    read = [*(samples.path for samples in inputs.samples), *inputs.left_out]
    for folder, name in finding.labels.items():
        if not any(folder in file.parents for file in read):
            raise ReportError(f"--label {name} names {folder}, which contains no run")
    if not inputs.samples and not inputs.manifests and inputs.left_out:
        path, split = min(inputs.left_out.items())
        raise ReportError(f"the scores in {path} are over the split {split!r}: a page shows those of the test papers")
    if not inputs.samples and not inputs.manifests:
        raise ReportError(f"{', '.join(map(str, paths))}: no samples_*.jsonl, journal.jsonl or manifest.json was found")
    inputs.round_names = names_of([file.path for file in inputs.samples])
    return inputs


def _folders(labels: Mapping[str, Path]) -> dict[Path, str]:
    for folder in labels.values():
        if not folder.is_dir():
            raise ReportError(f"--label names {folder}, which is not a folder")
    return {folder.resolve(): name for name, folder in labels.items()}


@dataclass(slots=True)
class _Finding:
    """Inputs while they are read.

    Attributes:
        labels: folder -> what the runs in it are called.
        folders: folder -> models whose samples it has.
    """

    labels: Mapping[Path, str]
    inputs: Inputs = field(default_factory=Inputs)
    folders: dict[Path, list[str]] = field(default_factory=dict)

    def read(self, files: Sequence[Path]) -> None:
        """Read files: results first, then samples, journals, manifests, and last what judges say of the samples."""
        results = {path: read_results(path) for path in files if path.match(f"{RESULTS}*.json")}
        left_out = self._left_out(results)
        files = [path for path in files if path not in left_out]
        # Of two results with one ending, the first by name has the samples.
        owners: dict[Path, Results] = {}
        for result in reversed(results.values()):
            owners |= dict.fromkeys(samples_beside(result.path).values(), result)
        for path in files:
            if path.match(f"{SAMPLES}*.jsonl"):
                self._add_samples(path, owners.get(path))
        for path, result in results.items():
            self.inputs.runs.setdefault(self._label(path) or result.model, []).append(result)
        for path in files:
            if path.name == JOURNAL and path.parent not in self.folders:
                self.inputs.samples.append(SamplesFile(path, self._label(path) or _folder_name(path), finished=False))
            elif path.name == MANIFEST:
                self.inputs.manifests[path] = read_manifest(path.parent)
        self._check_rounds()
        for path in files:
            if path.match("judge_*.json"):
                self._add_verdicts(path)

    def _check_rounds(self) -> None:
        """Compare the runs over a folder that was given with its manifest; a SamplesError that names what differs."""
        from lm_eval_tasks.stats.opened import check_against

        by_hash = {sha256_of(path): manifest for path, manifest in self.inputs.manifests.items()}
        for result in (result for runs in self.inputs.runs.values() for result in runs):
            if result.contents in by_hash:
                check_against(result, by_hash[result.contents])

    def _left_out(self, results: dict[Path, Results]) -> set[Path]:
        """Take the results over other splits out; return the files that are of these or of earlier runs."""
        from lm_eval_tasks.stats.opened import open_run

        others: set[Path] = set()
        for path, result in list(results.items()):
            beside = set(samples_beside(path).values())
            if result.split != TEST:
                self.inputs.left_out[path] = results.pop(path).split
                others |= {path, path.parent / JOURNAL, *beside}
                continue
            if open_run(result):
                # Samples next to results that do not list them are of earlier runs.
                others |= beside - set(samples_of(result).values())
        return others

    def _add_samples(self, path: Path, owner: Results | None) -> None:
        from lm_eval_tasks.stats.opened import read_rows

        model = self._label(path) or (owner.model if owner else _folder_name(path))
        date = owner.seconds if owner else 0
        if owner is None:
            read_rows(path)
        date = date or path.stat().st_mtime
        self.inputs.samples.append(SamplesFile(path, model, date=date, asked=how_asked(owner)))
        self.folders.setdefault(path.parent, []).append(model)

    def _add_verdicts(self, path: Path) -> None:
        content = _read(path)
        if content.get("against"):
            title, shown = duel(path, content)
            # Another judge's, or the same one's with passages of the papers.
            known = self.inputs.duels.get(title, replace(shown, rows=[]))
            # A copy of a file says nothing new.
            fresh = [row for row in shown.rows if row not in known.rows]
            self.inputs.duels[title] = replace(known, rows=[*known.rows, *fresh])
        else:
            model = self._label(path) or self._judged_model(str(content.get("judged_model", "")))
            self.inputs.verdicts.add(path, model, content)

    def _label(self, path: Path) -> str:
        """Find the label of the nearest folder around a file that has one; "" without one."""
        return next((self.labels[folder] for folder in path.parents if folder in self.labels), "")

    def _judged_model(self, name: str) -> str:
        """Find the model that a judge's results are about, which may be called by its results' folder."""
        if name in {file.model for file in self.inputs.samples}:
            return name
        owners = {model for folder, models in self.folders.items() if folder.name == name for model in models}
        return owners.pop() if len(owners) == 1 else name


def _folder_name(file: Path) -> str:
    """Return what a model is called after the folder of its files, results/MODEL/TIME or another one."""
    return next(folder.name for folder in file.parents if not is_time(folder.name))


def _files(path: Path) -> Iterable[Path]:
    if path.is_dir():
        return (file for file in path.rglob("*.json*") if file.is_file())
    if not path.is_file():
        raise ReportError(f"{path} does not exist")
    return [path]


def _read(path: Path) -> dict[str, Any]:
    try:
        content = parse_json(path.read_bytes())
    except (OSError, ValueError) as err:
        raise ReportError(f"{path} cannot be read: {err}") from err
    if not isinstance(content, dict):
        raise ReportError(f"{path} contains no JSON object")
    return content
