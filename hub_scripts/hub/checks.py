"""What is checked of a dataset folder before it goes to the Hub, and of a revision there, seen as a new user would see it."""

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from datasets import DownloadConfig, load_dataset
from huggingface_hub import HfFileSystem

from builder.dataset.card import CARD, check_canary
from builder.dataset.folder import file_differences, unlisted_files
from builder.errors import BuildError
from builder.families.registry import rows_of, schema_of
from builder.ids import bare_id
from builder.round.allowed import allows
from hub_scripts.errors import AccessError, DifferenceError, HubError
from hub_scripts.hub.faults import FaultError, ask_with_retries
from hub_scripts.hub.repo import MAIN, Repo
from hub_scripts.hub.uploads import ATTRIBUTES
from lm_eval_tasks.base.contract import MANIFEST, Licenses
from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.base.manifest import Manifest
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.base.yaml_text import FRONT_MATTER, parse_yaml
from lm_eval_tasks.compat.datasets import without_torch
from lm_eval_tasks.families.rounds import read_manifest

# Split -> rows.
Count = dict[str, int]


def counts_of(manifest: Manifest) -> dict[str, Count]:
    """Return configuration -> split -> rows, of those that have any."""
    return {
        configuration.name: {split: contents.statistics.samples for split, contents in configuration.splits.items()}
        for configuration in manifest.configurations
        if configuration.samples
    }


def load_counts(origin: str, name: str, cache: Path, revision: str | None = None, *, streaming: bool = False) -> Count:
    """Load a configuration whole, or stream its ids, and count its rows; again where the Hub or the way to it was at fault and not the
    data. The cache is removed. A DifferenceError says why it cannot be loaded.
    """

    def count() -> Count:
        # It remembers by thread number which files and revisions it did not find, even for later threads.
        HfFileSystem.clear_instance_cache()
        if streaming:
            with without_torch():
                return {
                    split: sum(1 for _ in rows.select_columns(["id"]))
                    for split, rows in load_dataset(origin, name, revision=revision, streaming=True).items()
                }
        files = DownloadConfig(cache_dir=cache / "files")
        loaded = load_dataset(origin, name, revision=revision, cache_dir=str(cache), download_config=files)
        return {split: rows.num_rows for split, rows in loaded.items()}

    try:
        return ask_with_retries(count, origin, caught=Exception)
    except FaultError as err:
        if err.again or isinstance(err.error, AccessError):
            raise err.error from err.__cause__
        cause = err.__cause__ or err
        line = next((line for line in str(cause).splitlines() if line.strip()), type(cause).__name__)
        raise DifferenceError(f"load_dataset of {name} in {origin} fails: {line}") from cause
    finally:
        shutil.rmtree(cache, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class Contents:
    """What the rows of a folder show.

    Attributes:
        papers: bare ids of the papers with texts, or hashes of texts, in it.
        licenses: licence -> rows with texts, by the paper's own licence.
        unlicensed: up to three rows with a text that lacks the licence.
    """

    papers: frozenset[str]
    licenses: dict[str, int]
    unlicensed: tuple[str, ...]


def check_files(folder: Path) -> Manifest:
    """Return the manifest of a folder; a HubError if a file is missing, changed or not listed."""
    manifest = read_manifest(folder)
    wrong = list(file_differences(folder, manifest))
    wrong += [f"{path} is not listed" for path in unlisted_files(folder, manifest) if path != ATTRIBUTES]
    if wrong:
        raise HubError(f"{folder} is not what its {MANIFEST} says: {'; '.join(wrong[:5])}; build it again")
    return manifest


def check_card(folder: Path, manifest: Manifest) -> None:
    """Raise a HubError if the card's front matter cannot be read, or does not name every data file."""
    try:
        match = FRONT_MATTER.match((folder / CARD).read_text(encoding="utf-8"))
        data = parse_yaml(match[2] if match else "")
        paths = {
            path
            for configuration in data["configs"]
            for listed in configuration["data_files"]
            for path in listed["path"]
        }
    except (OSError, ValueError, KeyError, TypeError) as err:
        raise HubError(f"{folder / CARD} has no front matter that can be read ({err}); build the folder again") from err
    if odd := sorted(paths ^ set(manifest.files)):
        raise HubError(f"{folder / CARD} and {MANIFEST} disagree about {', '.join(odd[:3])}; build the folder again")
    check_canary(folder, manifest)


def check_loading(folder: Path, manifest: Manifest) -> None:
    """Load every configuration as a user would, in a separate cache; a HubError if its rows are not as many as the manifest says."""
    expected = counts_of(manifest)
    with tempfile.TemporaryDirectory() as cache:
        for name in progress(sorted(expected), "load"):
            counts = load_counts(str(folder.resolve()), name, Path(cache) / name)
            if counts != expected[name]:
                raise HubError(f"{folder}: load_dataset of {name} gives {counts}, not {expected[name]}")


def contents(folder: Path, manifest: Manifest, licenses: Licenses) -> Contents:
    """Look at the ids and licences of every row; no text is read."""
    papers: set[str] = set()
    counted: Counter[str] = Counter()
    unlicensed: list[str] = []
    for configuration in progress(manifest.configurations, "licences"):
        schema = schema_of(configuration)
        for _, row in rows_of(folder, configuration, schema.facts):
            paper_licenses = schema.papers(row)
            papers.update(bare_id(name) for name, _ in paper_licenses)
            if configuration.form == "ids":
                continue
            counted[row["license"]] += 1
            if not all(allows(license_, licenses) for _, license_ in paper_licenses):
                unlicensed.append(f"{configuration.name} {row['id']}")
    return Contents(frozenset(papers), dict(sorted(counted.items())), tuple(unlicensed[:3]))


def check_contents(
    folder: Path, folder_contents: Contents, licenses: Licenses, taken_down: frozenset[str], repo: str
) -> None:
    """Raise a HubError if a text lacks the licence, or was taken down from the repository."""
    if folder_contents.unlicensed:
        raise HubError(
            f"{folder}: {', '.join(folder_contents.unlicensed)} contain texts that {licenses} does not allow"
        )
    if again := sorted(folder_contents.papers & taken_down):
        raise HubError(
            f"{folder} shows {', '.join(again[:3])}, which {repo} has taken down; put its takedowns.jsonl next to "
            "round.toml and build the round again"
        )


def verify(repo: Repo, revision: str) -> Iterator[str]:
    """Download a revision into a fresh cache and compare it; yields lines to show.

    Raises:
        DifferenceError: it differs; the message lists how.
        HubError: there is no such revision, or the Hub does not answer.
    """
    refs = repo.existing_refs()
    if revision not in refs.tags | refs.branches:
        raise HubError(f"{repo.id} has no revision {revision}; there are {', '.join(sorted(refs.tags)) or 'no tags'}")
    with tempfile.TemporaryDirectory() as cache:
        folder = repo.snapshot(revision, Path(cache) / "snapshot")
        problems = list(differences(repo, revision, folder, Path(cache)))
        manifest = None if problems else read_manifest(folder)
        others = sorted(set(unlisted_files(folder, manifest)) - {ATTRIBUTES}) if manifest else []
    if problems:
        listed = "".join(f"\n  {problem}" for problem in problems)
        raise DifferenceError(
            f"{repo.id} at {revision} is not what its manifest says ({len(problems)} differences):{listed}"
        )
    yield f"verified: {repo.id} at {revision}: every hash, every configuration loaded and streamed, all counts"
    if others:
        yield f"{len(others)} files there are not of the round: {', '.join(others[:5])}"


def differences(repo: Repo, revision: str, folder: Path, cache: Path) -> Iterator[str]:
    """Yield one sentence for each difference of a revision, as it was downloaded."""
    try:
        manifest = read_manifest(folder)
        if revision != MAIN and manifest.published_as != revision:
            yield f"the manifest is of revision {manifest.published_as}"
        yield from file_differences(folder, manifest)
        check_card(folder, manifest)
    except (BuildError, EvalError) as err:
        yield str(err).replace(str(folder), "the folder")
        return
    for name, expected in progress(sorted(counts_of(manifest).items()), "verify"):
        try:
            found = {
                way: load_counts(repo.id, name, cache / name, revision, streaming=way == "streamed")
                for way in ("loaded", "streamed")
            }
        except DifferenceError as err:
            yield str(err)
            continue
        for way, counts in found.items():
            if counts != expected:
                yield f"{name} {way} has {counts} rows, but the manifest says {expected}"
