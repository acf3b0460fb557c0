"""The round of a run, as its repository on the Hub has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from builder.dataset.manifest import MANIFEST, Configuration, Manifest, parse_manifest, read_manifest
from builder.round.takedowns import ERRATA, parse_errata
from hub_scripts.errors import HubError
from hub_scripts.hub.benchmark import EVAL, task_ids
from hub_scripts.hub.repo import MAIN, Repo
from lm_eval_tasks.base.files import sha256_of
from lm_eval_tasks.samples.results import UNKNOWN, Results


@dataclass(frozen=True, slots=True)
class PublishedRound:
    """A revision of a dataset.

    Attributes:
        id: of the dataset on the Hub.
        commit: 40 digits.
        name: of the revision, "2026.11" or "2026.11.post1".
        tasks: ids of the tasks in its `eval.yaml`.
        sizes: configuration -> how many test samples it has, those that are listed by id included.
    """

    id: str
    commit: str
    name: str
    tasks: frozenset[str]
    sizes: Mapping[str, int]


def published_round(results: Results, dataset: str | None) -> PublishedRound | None:
    """Where the dataset of a run is published; None if that is not known, as after a plain lm_eval on the newest revision.

    Args:
        dataset: the repository in which the folder that was run is published.

    Raises:
        HubError: the round is not published there, is replaced by another revision, or is not the folder that was run.
    """
    id_ = results.hub_id or dataset
    if not id_ or (results.hub_id and results.round == UNKNOWN and not results.revision):
        return None
    repo = Repo(id_)
    folder = None if results.hub_id else _folder(results, id_)
    name = folder.published_as if folder else results.round
    refs = repo.existing_refs()
    commit = results.revision or refs.tags.get(name)
    if not commit:
        raise HubError(f"{id_} has no revision {name}, the round of these results; push that round first")
    for erratum in parse_errata(repo.read(ERRATA, MAIN)):
        if refs.tags.get(erratum.revision) == commit:
            raise HubError(
                f"{id_} has replaced {erratum.revision} by {erratum.replacement}: evaluate that, or leave out --card"
            )
    manifest = parse_manifest(repo.read(MANIFEST, commit) or b"", f"the {MANIFEST} of {id_}")
    if folder and (
        not _original_configurations(folder) or _original_configurations(folder) != _original_configurations(manifest)
    ):
        raise HubError(f"the folder {results.dataset} is not what {id_} has as {name}; name the repository that has it")
    tasks = task_ids(repo.read(EVAL, commit) or b"", f"{EVAL} of {id_}")
    return PublishedRound(id_, commit, manifest.published_as, tasks, _sizes(manifest))


def _folder(results: Results, id_: str) -> Manifest:
    """The manifest of the folder that was run, if the folder is here as it was then."""
    folder = Path(results.dataset).expanduser()
    if results.dataset and (folder / MANIFEST).is_file() and sha256_of(folder / MANIFEST) == results.contents:
        manifest = read_manifest(folder)
        if manifest.round == results.round:
            return manifest
    raise HubError(
        f"the folder {results.dataset[:200]!r} is not here as it was when it was run, so it cannot be compared with {id_}; leave out "
        f"--dataset, or evaluate {id_} itself"
    )


def _original_configurations(manifest: Manifest) -> Sequence[Configuration]:
    return manifest.publishable.original if manifest.publishable else manifest.configurations


def _sizes(manifest: Manifest) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for configuration in manifest.configurations:
        name = configuration.of if configuration.form == "ids" else configuration.name
        sizes[name] = sizes.get(name, 0) + configuration.statistics("test").samples
    return sizes
