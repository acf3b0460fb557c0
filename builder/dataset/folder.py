"""A dataset folder as a whole: how it is finished, and how a new one takes the place of an old one."""

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from builder.dataset.card import CARD, card
from builder.errors import FolderError
from builder.stage_report import StageReport
from lm_eval_tasks.base.contract import MANIFEST, PAPERS_TASK, SPLITS
from lm_eval_tasks.base.files import (
    exchange,
    exclusive,
    named,
    sha256_of,
    sha256_of_bytes,
    sync,
    sync_folder,
    write_whole,
)
from lm_eval_tasks.base.manifest import CoreEntry, ListedConfiguration, Manifest, place_of
from lm_eval_tasks.base.manifest_file import manifest_bytes
from lm_eval_tasks.families import target_of_configuration
from lm_eval_tasks.families.registry import CORE
from lm_eval_tasks.families.rounds import read_manifest

# Characters of a text that is cut, and of the longest that is not.
_SHOWN, _WHOLE = 120, 160


def finish(draft: Path, manifest: Manifest) -> Manifest:
    """Write the card, and last the manifest, of a folder whose data is complete; return the manifest as written."""
    shown = replace(manifest, examples=_examples(draft, manifest.configurations))
    text = card(shown)
    write_whole(draft / CARD, text)
    finished = replace(shown, other_files={CARD: sha256_of_bytes(text)})
    write_whole(draft / MANIFEST, manifest_bytes(finished))
    return finished


def _examples(folder: Path, configurations: Iterable[ListedConfiguration]) -> dict[str, dict[str, Any]]:
    """Return configuration -> the first row of its newest split, shortened, for the card. Rows by id, and the papers that rows share, have
    none.
    """
    return {
        configuration.name: _shortened(row)
        for configuration in configurations
        if configuration.form != "ids" and configuration.task != PAPERS_TASK
        for row in _first(folder, configuration)
    }


def _first(folder: Path, configuration: ListedConfiguration) -> Iterator[dict[str, Any]]:
    """Yield the first row, if there is one; of a dataset that was made elsewhere it may have empty cells."""
    files = (file for split in reversed(SPLITS) for file in configuration.files(split) if file.rows)
    for file in islice(files, 1):
        with pq.ParquetFile(place_of(folder, file.path)) as table:
            yield from next(table.iter_batches(batch_size=1)).to_pylist()


def _shortened(value: Any) -> Any:
    """Cut texts after some words, and lists after their first entry; both say how much there is."""
    if isinstance(value, str) and len(value) > _WHOLE:
        return f"{value[:_SHOWN].rpartition(' ')[0] or value[:_SHOWN]} … ({len(value.split()):,} words)"
    if isinstance(value, list):
        return [*map(_shortened, value[:1]), *([f"… ({len(value)} entries)"] if len(value) > 1 else [])]
    if isinstance(value, dict):
        return {key: _shortened(entry) for key, entry in value.items()}
    return value


def finish_import(
    draft: Path,
    round_name: str,
    origin: str,
    configurations: Sequence[ListedConfiguration],
    reports: Sequence[StageReport],
) -> None:
    """Write the card and the manifest of a dataset that was made elsewhere, at `origin`."""
    finish(
        draft,
        Manifest(
            round_name,
            version("academiceval"),
            tuple(configurations),
            tuple(report.counts() for report in reports),
            imported=origin,
            core=tuple(core_of(configurations)),
        ),
    )


def file_differences(folder: Path, manifest: Manifest) -> Iterator[str]:
    """Yield one sentence for each file of a folder that is missing or changed."""
    listed = {path: file.sha256 for path, file in manifest.files.items()} | manifest.other_files
    for path in sorted(listed):
        if not place_of(folder, path).is_file():
            yield f"{path} is missing"
        elif sha256_of(place_of(folder, path)) != listed[path]:
            yield f"{path} has changed"


def unlisted_files(folder: Path, manifest: Manifest) -> list[str]:
    """Return the files of a folder that its manifest does not list."""
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    return sorted(there - manifest.files.keys() - manifest.other_files.keys() - {MANIFEST})


def core_of(configurations: Iterable[ListedConfiguration]) -> Iterator[CoreEntry]:
    """Yield what every model is asked first, of a round's configurations; where it asks for masks, only if enough of them need full
    texts.
    """
    tests = {configuration.name: configuration.statistics("test") for configuration in configurations}
    for core in CORE:
        test = tests.get(core.configuration)
        if test and test.samples and sum(kind.body_masks for kind in test.kinds.values()) >= core.masks:
            yield CoreEntry(
                core.configuration,
                min(core.samples, test.samples),
                target_of_configuration(core.configuration).headline,
            )


def refuse_other_contents(new: Manifest, output: Path) -> None:
    """Raise a FolderError if a folder would replace one of the same round with other contents.

    Anyone who has published a round or measured with it must not find another one under its name.
    """
    if not (output / MANIFEST).is_file():
        return
    old = read_manifest(output)
    if new.round == old.round and new.files != old.files:
        raise FolderError(
            f"{output} contains round {old.round} with other contents; give the new one another `round` or `output`, "
            "or pass --replace if nobody has used the old one"
        )


def _is_of_dataset(entry: Path) -> bool:
    if not entry.is_dir():
        return entry.name in (MANIFEST, CARD)
    return not entry.name.startswith(".") and all(
        path.suffix == ".parquet" for path in entry.rglob("*") if path.is_file()
    )


@contextmanager
def replacing(
    output: Path, mark: str = MANIFEST, what: str = "dataset folder", is_ours: Callable[[Path], bool] = _is_of_dataset
) -> Iterator[Path]:
    """Make an empty folder to build in, which replaces `output` when the block is left and is removed if it fails.

    Args:
        mark: a file that only folders of this kind contain.
        what: what such folders are called in messages.
        is_ours: whether a file or folder in such a folder is of its kind, and may be replaced with it.

    Raises:
        FolderError: `output` is something of another kind, contains something else too, or the place cannot be written.
        EvalError: another process is writing it.
    """
    output = output.resolve()  # a link stays a link, and its target is replaced
    if not output.name:
        raise FolderError(f"{output} cannot be replaced; choose another `output`")
    with named(output), exclusive(output):
        building, old = (output.with_name(f".{output.name}.{what}") for what in ("building", "old"))
        _begin(output, building, old, mark, what, is_ours)
        try:
            yield building
            sync_folder(building)
        except BaseException:
            shutil.rmtree(building, ignore_errors=True)
            raise
        _finish(output, building, old)


def _begin(output: Path, building: Path, old: Path, mark: str, what: str, is_ours: Callable[[Path], bool]) -> None:
    try:
        if old.exists() and not output.exists():
            # A build was killed between its two renames: the previous folder is still whole.
            old.rename(output)
        if output.exists() and not output.is_dir():
            raise FolderError(f"{output} exists and is a file; move it away or choose another `output`")
        if output.exists() and any(output.iterdir()) and not (output / mark).is_file():
            raise FolderError(f"{output} exists and is not a {what}; move it away or choose another `output`")
        others = sorted(entry.name for entry in output.glob("*") if not is_ours(entry))
        if others:
            raise FolderError(
                f"{output} contains {', '.join(others[:3])}, which would be lost with it: move that away or choose another `output`"
            )
        shutil.rmtree(building, ignore_errors=True)
        building.mkdir(parents=True)
    except OSError as err:
        raise FolderError(f"cannot write {building}: {err.strerror}") from err


def _finish(output: Path, building: Path, old: Path) -> None:
    """Put the built folder in the place of `output`; the previous one is removed only once the new one is there."""
    shutil.rmtree(old, ignore_errors=True)
    if not output.exists():
        building.rename(output)
    elif not exchange(building, output):
        output.rename(old)
        try:
            building.rename(output)
        except OSError:
            old.rename(output)
            raise
    sync(output.parent)
    for left in (building, old):
        shutil.rmtree(left, ignore_errors=True)
