"""A folder with everything that an evaluation reads, for machines without a network. `academiceval bundle` makes one.

`dataset/` is a round, `hub/` a cache of the Hub's with models and tokenizers, `wheels/` what pip installs, `bundle.json` the hash of
every file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lm_eval_tasks.core.errors import OptionError
from lm_eval_tasks.core.files import is_inside, sha256_of, write_whole
from lm_eval_tasks.core.text import ODD, parse_json

BUNDLE = "bundle.json"
FORMAT = 1
DATASET, HUB, WHEELS = "dataset", "hub", "wheels"


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle on this machine.

    Attributes:
        files: path below the folder -> size in bytes and sha256; for a link, 0 and "-> " with its target.
        holds: what it was made of, for readers.
    """

    folder: Path
    files: dict[str, tuple[int, str]]
    holds: Mapping[str, object]

    @property
    def dataset(self) -> Path:
        """The round."""
        return self.folder / DATASET

    def use(self) -> None:
        """Let everything that this process and its children load from the Hub come from here; before anything is imported that does."""
        os.environ["HF_HUB_CACHE"] = str(self.folder / HUB)
        os.environ["HF_HUB_OFFLINE"] = os.environ["HF_DATASETS_OFFLINE"] = "1"

    def problems(self) -> Iterator[str]:
        """What differs from the hashes, one sentence for each file."""
        found = files_of(self.folder)
        for name, known in self.files.items():
            if name not in found:
                yield f"{name} is missing"
            elif found[name] != known:
                yield f"{name} has changed since the bundle was made"
        yield from (
            f"{name} was not in it when the bundle was made" for name in sorted(found.keys() - self.files.keys())
        )


def files_of(folder: Path) -> dict[str, tuple[int, str]]:
    """Every file below a folder except the list itself and locks; links of the Hub's cache by their targets."""
    every = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if not path.is_dir()}
    return {
        name: (0, f"-> {path.readlink().as_posix()}") if path.is_symlink() else (path.stat().st_size, sha256_of(path))
        for name, path in every.items()
        if name != BUNDLE and path.suffix != ".lock"
    }


def write_bundle(folder: Path, holds: Mapping[str, object]) -> Bundle:
    """Write the list of what a folder contains, which makes it a bundle."""
    files = files_of(folder)
    content = {"format": FORMAT, "holds": dict(holds), "files": files}
    write_whole(folder / BUNDLE, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return Bundle(folder, files, holds)


def open_bundle(folder: Path) -> Bundle:
    """A bundle whose files are all there, in their sizes.

    Raises:
        OptionError: the folder is not a bundle, or not a whole one.
    """
    path = folder / BUNDLE
    try:
        content = parse_json(path.read_bytes())
        files = {str(name): (int(size), str(digest)) for name, (size, digest) in content["files"].items()}
        known = Bundle(folder.resolve(), files, dict(content["holds"]))
        if content["format"] != FORMAT or not files:
            raise OptionError(
                f"{path} has format {content['format']!r:.40} and {len(files)} files; this release reads format {FORMAT}"
            )
    except OSError as err:
        raise OptionError(
            f"{folder} is not a bundle: {path.name} cannot be read; `academiceval bundle` makes one"
        ) from err
    except ODD as err:
        raise OptionError(f"{path} is not the list of a bundle ({err})") from err
    for name, (size, digest) in files.items():
        place = folder / name
        is_link = digest.startswith("-> ")
        if not is_inside(place.parent, folder) or not place.is_file() or not (is_link or place.stat().st_size == size):
            raise OptionError(f"the bundle {folder} is not whole: {name} is missing or has another size; copy it again")
    return known
