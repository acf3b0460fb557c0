"""What is checked before a dataset folder goes to the Hub; nothing here needs the network."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from builder.dataset.card import CARD, check_canary
from builder.dataset.folder import file_differences, unlisted_files
from builder.dataset.manifest import MANIFEST, Manifest, read_manifest
from builder.dataset.rows import kind_of, may_publish, read_columns
from builder.ids import bare_id
from hub_scripts.errors import CheckError
from hub_scripts.hub.loading import Count, counts_of, load_counts
from hub_scripts.hub.uploads import ATTRIBUTES
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.base.yaml_text import FRONT_MATTER, parse_yaml

if TYPE_CHECKING:
    from builder.round.licenses import Licenses

# What a repository contains besides a dataset folder's files.
OF_THE_REPOSITORY = frozenset({ATTRIBUTES})


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
    """The manifest of a folder that contains what it says and nothing else.

    Raises:
        CheckError: a file is missing, changed or not listed.
    """
    manifest = read_manifest(folder)
    wrong = list(file_differences(folder, manifest))
    wrong += [f"{path} is not listed" for path in unlisted_files(folder, manifest) if path not in OF_THE_REPOSITORY]
    if wrong:
        raise CheckError(f"{folder} is not what its {MANIFEST} says: {'; '.join(wrong[:5])}; build it again")
    return manifest


def check_card(folder: Path, manifest: Manifest) -> None:
    """Check that the card's configurations name every data file.

    Raises:
        CheckError: the front matter cannot be read, or disagrees with the manifest.
    """
    try:
        match = FRONT_MATTER.match((folder / CARD).read_text(encoding="utf-8"))
        data = parse_yaml(match[2] if match else "")
        paths = {
            path for configuration in data["configs"] for part in configuration["data_files"] for path in part["path"]
        }
    except (OSError, ValueError, KeyError, TypeError) as err:
        raise CheckError(
            f"{folder / CARD} has no front matter that can be read ({err}); build the folder again"
        ) from err
    if odd := sorted((paths - set(manifest.gone_files)) ^ set(manifest.files)):
        raise CheckError(f"{folder / CARD} and {MANIFEST} disagree about {', '.join(odd[:3])}; build the folder again")
    check_canary(folder, manifest)


def check_loading(folder: Path, manifest: Manifest) -> dict[str, Count]:
    """Load every configuration as a user would, in a separate cache; configuration -> split -> rows.

    Raises:
        CheckError: one cannot be loaded, or has a different number of rows from what the manifest says.
    """
    expected = counts_of(manifest)
    with tempfile.TemporaryDirectory() as cache:
        for name in progress(sorted(expected), "load"):
            counts = load_counts(str(folder.resolve()), name, Path(cache) / name)
            if counts != expected[name]:
                raise CheckError(f"{folder}: load_dataset of {name} gives {counts}, not {expected[name]}")
    return expected


def contents(folder: Path, manifest: Manifest, licenses: Licenses) -> Contents:
    """Look at the ids and licences of every row; no text is read."""
    papers: set[str] = set()
    counted: Counter[str] = Counter()
    unlicensed: list[str] = []
    for configuration in progress(manifest.configurations, "licences"):
        kind = kind_of(configuration)
        for row in read_columns(folder, configuration, kind.facts):
            paper_licenses = kind.papers(row)
            papers.update(bare_id(name) for name, _ in paper_licenses)
            if configuration.form == "ids":
                continue
            counted[row["license"]] += 1
            if not may_publish(paper_licenses, licenses):
                unlicensed.append(f"{configuration.name} {row['id']}")
    return Contents(frozenset(papers), dict(sorted(counted.items())), tuple(unlicensed[:3]))


def check_contents(
    folder: Path, folder_contents: Contents, licenses: Licenses, taken_down: frozenset[str], repo: str
) -> None:
    """Raise a CheckError if a text lacks the licence, or was taken down from the repository."""
    if folder_contents.unlicensed:
        raise CheckError(
            f"{folder}: {', '.join(folder_contents.unlicensed)} contain texts that {licenses} does not allow"
        )
    if again := sorted(folder_contents.papers & taken_down):
        raise CheckError(
            f"{folder} shows {', '.join(again[:3])}, which {repo} has taken down; put its takedowns.jsonl next to "
            "round.toml and build the round again"
        )
