"""The files in the output folder of a run: which results there are, which samples belong to them, and how they are written."""

import hashlib
import json
import logging
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

from lm_eval_tasks.base.contract import MANIFEST
from lm_eval_tasks.base.errors import EvalError, SamplesError
from lm_eval_tasks.base.files import known_sha256, sha256_of_bytes, write_together, write_whole
from lm_eval_tasks.base.redaction import redact
from lm_eval_tasks.samples.block import OURS, Arguments, Block
from lm_eval_tasks.samples.results import JOURNAL, RESULTS, Results, read_results

_LOGGER = logging.getLogger(__name__)
SAMPLES = "samples_"
_TIME = "%Y-%m-%dT%H-%M-%S"
# Beside a journal: how its run was asked for.
_ASKED = f".{JOURNAL}.asked"
_ADDRESS = re.compile(r"(?<=\w) at 0x[0-9a-f]+(?=>)")


def results_in(folder: Path) -> list[Path]:
    """Return the files of results in a folder, by name."""
    return sorted(folder.glob(f"{RESULTS}*.json"))


@contextmanager
def run_folder(given: Path | None, label: str, asked: object) -> Iterator[Path]:
    """Give a run its output folder: the one that was named, or results/MODEL/TIME; or the newest such folder whose run did not end, if it
    was asked for in the same way. A run that fails before it has an answer leaves none.
    """
    noted = sha256_of_bytes(json.dumps(asked, sort_keys=True, default=str))
    output = given or _unnamed_folder(Path("results") / label, noted)
    if not given:
        output.mkdir(parents=True, exist_ok=True)
        write_whole(output / _ASKED, noted)
    with removed_if_empty(output):
        yield output


def _unnamed_folder(folder: Path, asked: str) -> Path:
    for run in sorted(_timed_runs(folder), reverse=True):
        is_same = not (run / _ASKED).is_file() or (run / _ASKED).read_text(encoding="utf-8") == asked
        if is_same and not results_in(run):
            return run
    return folder / f"{datetime.now(UTC):{_TIME}}"


def newest_run(folder: Path) -> Path:
    """Return the folder itself if it has a run, or else of the runs that lie below it by their times the newest."""
    return folder if _has_run(folder) else max(_timed_runs(folder), default=folder)


def _timed_runs(folder: Path) -> Iterator[Path]:
    return (run for run in folder.glob("*T*") if is_time(run.name) and _has_run(run))


def files_below(folder: Path, pattern: str) -> list[Path]:
    """Return files in a folder and below it, by name; if it has a run, without those of other runs, which lie below it by their times."""
    others = set(_timed_runs(folder)) if _has_run(folder) else set()
    return sorted(file for file in folder.rglob(pattern) if others.isdisjoint(file.parents))


def _has_run(folder: Path) -> bool:
    return (folder / JOURNAL).is_file() or bool(results_in(folder) or samples_in(folder))


def is_time(name: str) -> bool:
    """Tell whether a folder is named by `run_folder` after the time of its run."""
    try:
        return bool(datetime.strptime(name, _TIME))  # noqa: DTZ007
    except ValueError:
        return False


def newest_results(run: Path) -> list[Path]:
    """Return the files of results of the run that a folder has, of several by their times the newest; of a file of samples, its own."""
    if run.is_dir():
        # lm-eval writes into a folder below the one that it is given.
        return files_below(newest_run(run), f"{RESULTS}*.json")
    return [results for results in results_in(run.parent) if task_of(run.name, results)]


def refuse_unfinished(folder: Path) -> None:
    """Raise a SamplesError if a folder has the journal of a run, and no results of it."""
    newest = newest_run(folder)
    if (newest / JOURNAL).is_file() and not results_in(newest) and not samples_in(newest):
        raise SamplesError(
            f"the run in {folder} has not ended, so its answers have no scores: the same command goes on"
        )


@contextmanager
def removed_if_empty(folder: Path) -> Iterator[None]:
    """Let a run that fails before it has an answer leave no folder."""
    from lm_eval_tasks.llm.addresses import noted_at

    try:
        yield
    finally:
        with suppress(OSError):
            if not _has_run(folder):
                for note in (folder / _ASKED, noted_at(folder / JOURNAL)):
                    note.unlink(missing_ok=True)
            folder.rmdir()


def only_result(folder: Path, owner: str = "the output folder of a run") -> Results:
    """Return the results of a folder that has one file of them; a SamplesError that says what such a folder is if this one has not."""
    refuse_unfinished(folder)
    files = newest_results(folder)
    if len(files) != 1:
        raise SamplesError(f"{folder} contains {len(files) or 'no'} results_*.json; {owner} has one")
    return read_results(files[0])


def samples_in(folder: Path) -> list[Path]:
    """Return the files of samples in a folder."""
    return sorted(folder.glob(f"{SAMPLES}*.jsonl"))


def task_of(samples: str, results: Path) -> str:
    """Return the task in the name of a file of samples that was written with a file of results; "" if the names have other endings."""
    ending = f"_{results.stem.removeprefix(RESULTS)}.jsonl"
    rest = samples.removeprefix(SAMPLES)
    return rest.removesuffix(ending) if rest != samples and rest.endswith(ending) else ""


def are_of_one_run(first: Path, second: Path) -> bool:
    """Tell whether two files of samples were written with one file of results."""
    both = {first.resolve(), second.resolve()}
    beside = (samples_beside(results).values() for results in results_in(first.parent))
    return any(both <= {file.resolve() for file in files} for files in beside)


def samples_beside(results: Path) -> dict[str, Path]:
    """Return task -> the file of samples that lies next to a file of results and has its ending, whether it belongs to it or not."""
    files = samples_in(results.parent)
    return {task: file for file in files if (task := task_of(file.name, results))}


def check_output(output: Path, model: str, tasks: Collection[str]) -> Results | None:
    """Return the results of an earlier run that one of a model on some tasks replaces; None if there are none that can be read.

    Raises:
        EvalError: the folder has results of another model, or of tasks that would be lost.
    """
    if (output / MANIFEST).exists():
        raise EvalError(f"{output} is a dataset folder: give the run its own with --output")
    file = output / f"{RESULTS}{model}.json"
    for other in results_in(output):
        if other != file:
            raise EvalError(
                f"{output} contains the results of {other.stem.removeprefix(RESULTS)}: give each model its own --output folder"
            )
    earlier = None
    with suppress(SamplesError):
        earlier = read_results(file)
    # What results do not list is left over, and no part of them.
    listed = [task_of(name, file) for name in earlier.files] if earlier else []
    others = sorted(set(listed or samples_beside(file)) - set(tasks))
    if others:
        raise EvalError(
            f"{output} has results of {others[0]}, which this run would replace: give it its own --output folder (`report` and "
            "`judge` take several), or ask for those tasks too"
        )
    return earlier


def samples_of(results: Results) -> dict[str, Path]:
    """Return task -> the file of its samples; what an earlier run left next to them is left out, with a warning.

    Raises:
        SamplesError: a file is missing, or is not the one that the results are of.
    """
    beside = samples_beside(results.path)
    if not results.files:
        # lm-eval's own command and earlier releases do not list them.
        return {task: file for task, file in beside.items() if task in (results.table("configs") or beside)}
    for file in beside.values():
        if file.name not in results.files:
            _LOGGER.warning("%s is left out: %s does not list it, so an earlier run left it there", file, results.path)
    lost = sorted(results.files.keys() - {file.name for file in beside.values()})
    if lost:
        raise SamplesError(
            f"{results.path.parent / lost[0]} is missing, which {results.path.name} lists: copy the folder again, or run that task again"
        )
    for name, digest in results.files.items():
        if known_sha256(results.path.parent / name) != digest:
            raise SamplesError(
                f"{results.path.parent / name} is not the file that {results.path.name} lists: another run wrote it, or it was "
                "changed; run that task again"
            )
    return {task: file for task, file in beside.items() if file.name in results.files}


def samples_below(folder: Path) -> list[Path]:
    """Return the files of samples in a folder and below it: those that results list; where there are no results, all.

    Raises:
        SamplesError: results cannot be read, or their samples are missing or changed.
    """
    files = files_below(folder, f"{SAMPLES}*.jsonl")
    folders = {file.parent: results_in(file.parent) for file in files}
    listed: set[Path] = set()
    for results in folders.values():
        for path in results:
            listed.update(samples_of(read_results(path)).values())
    return [file for file in files if file in listed or not folders[file.parent]]


def write_run(
    samples: Mapping[str, Iterable[Arguments]], lm_evals: Arguments, block: Block, model: str, output: Path
) -> None:
    """Write a run's samples (see `sample.compact`) and results, lm-eval's and our block; their file exists only while it matches all."""
    output.mkdir(parents=True, exist_ok=True)
    hashes = {f"samples_{task}_{model}.jsonl": hashlib.sha256() for task in samples}

    def text_of(lines: Iterable[Arguments], name: str) -> Iterator[str]:
        for line in lines:
            text = json.dumps(line, default=str, ensure_ascii=False) + "\n"
            hashes[name].update(text.encode())
            yield text

    def results() -> Iterator[str]:
        files = {name: digest.hexdigest() for name, digest in sorted(hashes.items())}
        content = redact({**lm_evals, OURS: asdict(replace(block, files=files))})
        # The memory address of a function is not part of a result.
        yield _ADDRESS.sub(
            "", json.dumps(content, default=lambda value: redact(str(value)), ensure_ascii=False, indent=1)
        )

    texts = {output / name: text_of(lines, name) for name, lines in zip(hashes, samples.values(), strict=True)}
    write_together({**texts, output / f"{RESULTS}{model}.json": results()})
