"""Which dataset a run reads: a finished folder, whose files are what its manifest lists, or one on the Hub."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from huggingface_hub import hf_hub_download, list_repo_refs
from huggingface_hub.errors import HFValidationError

from lm_eval_tasks.base.contract import MADE_UP, MANIFEST, Split
from lm_eval_tasks.base.errors import DatasetError
from lm_eval_tasks.base.files import is_inside, known_sha256, sha256_of_bytes
from lm_eval_tasks.base.manifest import ListedConfiguration, Manifest
from lm_eval_tasks.base.manifest_file import read_manifest_bytes
from lm_eval_tasks.base.metadata import VARIABLE
from lm_eval_tasks.base.text import suggestion
from lm_eval_tasks.base.unpacked import check_unpacked
from lm_eval_tasks.compat.huggingface_hub import HTTPError
from lm_eval_tasks.families.rounds import parse_manifest


@dataclass(frozen=True, slots=True)
class RoundFolder:
    """A dataset folder with its manifest, read once.

    Attributes:
        revision: the sha256 of the manifest.
    """

    path: Path
    revision: str
    manifest: Manifest

    @classmethod
    def of(cls, path: Path) -> Self:
        """Read a folder's manifest; a DatasetError if there is none that can be read."""
        data = read_manifest_bytes(path)
        return cls(path, sha256_of_bytes(data), parse_manifest(data, str(path / MANIFEST)))

    @property
    def is_made_up(self) -> bool:
        return self.manifest.source == MADE_UP

    @property
    def core(self) -> tuple[str, ...]:
        """The configurations that every model is asked first."""
        return tuple(entry.configuration for entry in self.manifest.core)

    def with_rows(self, split: str) -> frozenset[str]:
        """Name the configurations that have rows of a split, whole or by id; of any with "all"."""
        return frozenset(
            each.of or each.name
            for each in self.manifest.configurations
            for name, contents in each.splits.items()
            if split in (name, "all") and contents.statistics.samples
        )

    def configuration(self, name: str) -> ListedConfiguration:
        """Find a configuration.

        Raises:
            DatasetError: the folder, named as the user typed it, lacks it.
        """
        found = self.manifest.find(name)
        if found is None:
            known = [each.name for each in self.manifest.complete_configurations]
            raise DatasetError(f"the dataset '{self.path}' has no setting {name}; {suggestion(name, known, '{}')}")
        return found

    def checked_files(self, configuration: ListedConfiguration) -> Mapping[Split, list[Path]]:
        """List the files of a configuration by split, after comparing each with its hash.

        Raises:
            DatasetError: one is missing, lies elsewhere, is something else, or unpacks to far more than its size.
        """
        from lm_eval_tasks.base.progress import progress

        for listed in progress(configuration.every_file, f"check {configuration.name}"):
            file = self.path / listed.path
            if not file.is_file() or not is_inside(file, self.path) or known_sha256(file) != listed.sha256:
                raise DatasetError(
                    f"{file} is not the file that {self.path / MANIFEST} lists: get the dataset again, or build it again"
                )
            check_unpacked(file, listed.sha256)
        return {
            split: [self.path / listed.path for listed in contents.files]
            for split, contents in configuration.splits.items()
        }


def check_dataset(name: str, setting: str | None = None) -> None:
    """Raise a DatasetError for a dataset that is neither a finished folder nor named as on the Hub, or a folder without the setting."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        found = RoundFolder.of(folder)
        if setting:
            found.configuration(setting)
    elif "/" not in name:
        raise DatasetError(unreachable(name))


def unreachable(name: str) -> str:
    """Write the sentence about a dataset that cannot be found."""
    return (
        f"the dataset {name!r} is neither a folder here nor reachable on the Hub; give its folder, or ORG/NAME of the Hub, with "
        f'--metadata \'{{"dataset": "ORG/academiceval"}}\' or in {VARIABLE}'
    )


def find_round(dataset: str, revision: str | None) -> RoundFolder | None:
    """Read the manifest of a folder, or of a dataset on the Hub; None if there is none or the Hub does not answer."""
    try:
        folder = Path(dataset).expanduser()
        if not (folder / MANIFEST).is_file():
            folder = Path(hf_hub_download(dataset, MANIFEST, repo_type="dataset", revision=revision)).parent
        return RoundFolder.of(folder)
    except (DatasetError, HFValidationError, OSError, RuntimeError, HTTPError):
        return None


def first_versions_of(dataset: str) -> list[str]:
    """List the published revisions of a dataset on the Hub; none if the Hub does not say."""
    try:
        return sorted(ref.name for ref in list_repo_refs(dataset, repo_type="dataset").tags)
    except (HFValidationError, OSError, HTTPError):
        return []
