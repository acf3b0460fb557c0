"""Which of a model's runs over a setting count: of those that answer the same samples, the newest that is no part of another."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from hub_scripts.errors import ReportError
from hub_scripts.report.cells import Key
from lm_eval_tasks.base.errors import SamplesError
from lm_eval_tasks.samples.sample import Sample, paired, read_file, revisions_apart

if TYPE_CHECKING:
    from hub_scripts.report.inputs import Inputs, SamplesFile
    from hub_scripts.report.round_names import RoundNames

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SettingRun:
    """The samples of one setting in one file, by one model; a model with retrieval is one of its own."""

    file: SamplesFile
    model: str
    samples: Sequence[Sample]

    @property
    def ids(self) -> set[str]:
        return {sample.id for sample in self.samples}

    @property
    def revisions(self) -> set[str]:
        return {sample.row.dataset_revision for sample in self.samples}


def groups(inputs: Inputs) -> dict[Key, list[SamplesFile]]:
    """Sort the files by setting; a file's first line says what it contains."""
    files: dict[Key, list[SamplesFile]] = {}
    for file in inputs.samples:
        # A journal contains all settings of its run, a samples file only one.
        samples = islice(read_file(file.path), 1) if file.finished else read_file(file.path)
        for key in {_key(sample, inputs.round_names) for sample in samples}:
            files.setdefault(key, []).append(file)
    return files


def newest_runs(key: Key, files: Sequence[SamplesFile], names: RoundNames) -> Iterator[SettingRun]:
    """Read a setting's runs and choose those that count.

    Args:
        names: of rounds, as the key has them.

    Raises:
        ReportError: a run has two answers to one sample, or runs do not belong on one page.
    """
    runs = _runs(key, files, names)
    of_build = {model: _of_one_build(of_model) for model, of_model in runs.items()}
    contents = _contents(key, of_build)
    for of_model in of_build.values():
        files_by_id: dict[str, SamplesFile] = {}
        for run in _parts_last(of_model):
            counted = _with_contents(key, run, contents)
            if not counted.samples:
                continue
            others = [files_by_id[id_] for id_ in sorted(counted.ids) if id_ in files_by_id]
            apart = [file for file in files_by_id.values() if file.asked and run.file.asked not in ("", file.asked)]
            if not others and not apart:
                files_by_id |= dict.fromkeys(counted.ids, run.file)
                yield counted
                continue
            _LOGGER.warning(
                "%s is not shown: %s %s; to show both, name one with --label NAME=FOLDER",
                run.file.path,
                [*others, *apart][0].path,
                "was asked otherwise" if apart and not others else "is newer or has more answers",
            )


def _parts_last(runs: Sequence[SettingRun]) -> list[SettingRun]:
    """Return the runs of a model, last those that are parts of others."""
    return sorted(runs, key=lambda run: any(run.ids < other.ids for other in runs))


def _runs(key: Key, files: Sequence[SamplesFile], names: RoundNames) -> dict[str, list[SettingRun]]:
    """Read the runs of each model, the newest first."""
    runs: dict[str, list[SettingRun]] = {}
    for file in sorted(files, key=lambda file: (-file.date, str(file.path))):
        by_model: dict[str, list[Sample]] = {}
        for sample in read_file(file.path):
            if _key(sample, names) == key:
                model = f"{file.model} + {sample.row.retriever}" if sample.row.retriever else file.model
                by_model.setdefault(model, []).append(sample)
        for model, samples in by_model.items():
            run = SettingRun(file, model, samples)
            if len(run.ids) < len(samples):
                raise ReportError(f"{file.path} has two answers to a sample of {key.setting}")
            runs.setdefault(model, []).append(run)
    return runs


def _of_one_build(runs: Sequence[SettingRun]) -> list[SettingRun]:
    """Take a model's newest run, and others over the same dataset, such as its shards."""
    newest = runs[0]
    kept = []
    for run in runs:
        if newest.revisions & run.revisions:
            kept.append(run)
        else:
            # A journal does not say which build it is over.
            what = "newer run of %s over another dataset" if run.file.finished else "run of %s that has ended"
            _LOGGER.warning(f"%s: a {what} counts: %s", run.file.path, run.model, newest.file.path)
    return kept


def _with_contents(key: Key, run: SettingRun, contents: dict[str, str]) -> SettingRun:
    """Leave out the samples that show other contents under their ids than most; ids that are new are added."""
    samples = [sample for sample in run.samples if contents.setdefault(sample.id, sample.identity) == sample.identity]
    if len(samples) < len(run.samples):
        _LOGGER.warning(
            "%s: %d samples of %s are left out: their contents differ from others' of round %s",
            run.file.path,
            len(run.samples) - len(samples),
            key.setting,
            key.round,
        )
    return SettingRun(run.file, run.model, samples)


def _contents(key: Key, runs: Mapping[str, Sequence[SettingRun]]) -> dict[str, str]:
    """Find the identity of each id, by the newest samples of the model that answered most of a setting.

    Raises:
        ReportError: another model's are others.
    """
    every = {model: [sample for run in of_model for sample in run.samples] for model, of_model in runs.items()}
    most = max(every, key=lambda model: len({sample.id for sample in every[model]}))
    for model, samples in every.items():
        try:
            paired(key.setting, every[most], samples)
        except SamplesError as err:
            raise ReportError(f"the runs of {most} and {model} do not belong on one page: {err}") from err
        apart = revisions_apart(every[most], samples)
        if apart:
            _LOGGER.warning("%s, round %s, of %s and %s: %s", key.setting, key.round, most, model, apart)
    return {sample.id: sample.identity for sample in reversed(every[most])}


def _key(sample: Sample, names: RoundNames) -> Key:
    """Name the setting, and what was asked differently from usual; retrieval counts as part of the model."""
    row = sample.row
    return Key(names.get((row.round, row.dataset_revision), row.round), row.suffixed if row.retriever else row.name)
