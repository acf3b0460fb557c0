"""An earlier run of the same model in the same folder: a later run adds its tasks, and replaces only those that it has too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from lm_eval_tasks.base.errors import EvalError, SamplesError
from lm_eval_tasks.base.files import known_sha256
from lm_eval_tasks.base.metadata import dataset_of
from lm_eval_tasks.base.redaction import redact
from lm_eval_tasks.evaluate.models import RUNTIME, distinguishing
from lm_eval_tasks.llm.usage import UsageTotals
from lm_eval_tasks.samples.block import Arguments, RunPart, RunRequest
from lm_eval_tasks.samples.results import RESULTS, Results, read_results
from lm_eval_tasks.samples.run_folder import results_in, samples_beside, samples_of
from lm_eval_tasks.samples.sample import Sample, read_lines
from lm_eval_tasks.tasks.catalogue import expanded

# What does not make a run another one.
_FREE = (*RUNTIME, "model_cutoff", "served_as")
_LM_EVALS = ("results", "group_subtasks", "configs", "versions", "n-shot", "higher_is_better", "n-samples", "groups")


@dataclass(frozen=True, slots=True)
class PreviousRun:
    """What an earlier run leaves to a later one.

    Attributes:
        results: its results; None if there are none.
        samples: task -> its samples, of tasks that the later run does not have.
        files: name -> sha256 of the files of these samples.
    """

    results: Results | None
    samples: Mapping[str, list[Sample]]
    files: Mapping[str, str] = field(default_factory=dict)

    def check_dataset(self, output: Path, revisions: Sequence[str]) -> None:
        """Raise an EvalError if the samples that are kept are of another dataset than those of the later run.

        Args:
            revisions: of the dataset, in the samples of both.
        """
        if self.results and self.samples and self.results.block and self.results.block.datasets != tuple(revisions):
            raise EvalError(
                f"{output} has results of {min(self.samples)} over another revision of the dataset: give this run its own --output "
                "folder; its answers are kept in the journal there"
            )

    def with_figures(self, content: Arguments) -> Arguments:
        """lm-eval's figures of the later run, and of the tasks that are kept."""
        both = dict(content)
        for name in _LM_EVALS if self.results else ():
            if isinstance(figures := content.get(name), dict):
                earlier = self.results.table(name) if self.results else {}
                both[name] = {task: value for task, value in earlier.items() if task in self.samples} | figures
        return both

    def runs(self, tasks: Sequence[str], seconds: float, usage: UsageTotals) -> tuple[RunPart, ...]:
        """Each run that the results are of; the last one is the later run."""
        kept = [
            # What a part of a run used is not known.
            RunPart(own, run.date, run.usage if len(own) == len(run.tasks) else UsageTotals())
            for run in (_runs_of(self.results) if self.results else ())
            if (own := tuple(task for task in run.tasks if task in self.samples))
        ]
        return (*kept, RunPart(tuple(sorted(tasks)), seconds, usage))


def check_previous(output: Path | None, label: str, run: RunRequest, tasks: Sequence[str]) -> None:
    """Raise an EvalError if a folder contains the results of another model, or of this one on other tasks with other options.

    Args:
        run: how the later run is asked for.
        tasks: its tasks, groups and tags.
    """
    if output is None:
        return
    if lost := [name for file in results_in(output) if (name := file.stem.removeprefix(RESULTS)) != label]:
        raise EvalError(f"{output} contains the results of {lost[0]}: give each model its own --output folder")
    earlier = _results(output, label)
    replaced = set(expanded(tasks))
    files = samples_of(earlier, replaced) if earlier else samples_beside(_place(output, label))
    kept = sorted(files.keys() - replaced)
    if not kept:
        return
    if earlier is None:
        raise EvalError(
            f"{output} has samples of {kept[0]} without results that can be read: run that task there again first, or give this run "
            "its own --output folder"
        )
    before, now = _options(earlier.run) if earlier.run else {}, _options(run)
    if differing := sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name)):
        name = differing[0]
        values = f"{name.removeprefix('metadata ')} {before.get(name, 'not given')!r:.60}, not {now.get(name, 'not given')!r:.60}"
        raise EvalError(
            f"{output} has results of {label} on other tasks, made with another {', '.join(differing)} ({values}): give this run its own "
            "--output folder"
        )


def previous_run(output: Path, label: str, tasks: Sequence[str]) -> PreviousRun:
    """What an earlier run leaves to one with these tasks; a SamplesError if its samples cannot be read."""
    results = _results(output, label)
    if results is None:
        return PreviousRun(None, {})
    files = samples_of(results, tasks)
    kept = [task for run in _runs_of(results) for task in run.tasks if task in files]
    return PreviousRun(
        results,
        {task: [sample for sample, _ in read_lines(files[task])] for task in kept},
        {name: results.files.get(name) or known_sha256(output / name) for task in kept if (name := files[task].name)},
    )


def _results(output: Path, label: str) -> Results | None:
    """The results of a model in a folder; None if there are none of ours."""
    file = _place(output, label)
    if not file.is_file():
        return None
    try:
        results = read_results(file)
    except SamplesError:
        return None
    return results if results.block else None


def _place(output: Path, label: str) -> Path:
    return output / f"{RESULTS}{label}.json"


def _runs_of(results: Results) -> tuple[RunPart, ...]:
    """The runs that brought results; of merged shards and older versions one."""
    tasks = tuple(sorted({score.task for score in results.scores} & results.table("configs").keys()))
    usage = results.block.usage if results.block else UsageTotals()
    return results.runs or (RunPart(tasks, results.seconds, usage),)


def _options(run: RunRequest) -> dict[str, object]:
    """How a run was asked for, one level deep."""
    # Stored options are without secrets.
    options = {name: value for name, value in redact(asdict(run)).items() if name not in _FREE}
    for table in ("model_args", "metadata"):
        inner = distinguishing(options.pop(table, None) or {})
        options |= {f"{table} {name}": str(value) for name, value in inner.items() if name not in _FREE}
    # A folder is the same by any path, and if it is not named because it is the default.
    folder = Path(dataset_of(run.metadata)).expanduser()
    if folder.is_dir():
        options["metadata dataset"] = str(folder.resolve())
    return {name: value for name, value in options.items() if value not in (None, "", {}, [], ())}
