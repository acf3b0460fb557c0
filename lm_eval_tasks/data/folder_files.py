"""A dataset folder's files, compared with its manifest before any of them is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lm_eval_tasks.base.errors import DatasetError
from lm_eval_tasks.base.files import is_inside, known_sha256, sha256_of_bytes
from lm_eval_tasks.base.row_format import MANIFEST

if TYPE_CHECKING:
    from lm_eval_tasks.base.listing import Listing, Splits


def checked_splits(listing: Listing, config: str) -> Splits:
    """The files of a configuration, which are what the manifest says.

    Raises:
        DatasetError: one is missing, lies elsewhere, is something else, or unpacks to far more than its size.
    """
    from lm_eval_tasks.base.progress import progress
    from lm_eval_tasks.base.unpacked import check_unpacked

    splits, folder = listing.configurations[config], listing.folder
    files = [(file, digest) for listed in splits.values() for file, digest in listed.items()]
    for file, digest in progress(files, f"check {config}"):
        if not file.is_file() or not is_inside(file, folder) or known_sha256(file) != digest:
            raise DatasetError(
                f"{file} is not the file that {folder / MANIFEST} lists: get the dataset again, or build it again"
            )
        check_unpacked(file, digest)
    return splits


def cache_name(splits: Splits) -> str:
    """A name for the copies that `datasets` keeps, which knows files by name and time alone: other contents, another name."""
    digests = " ".join(digest for listed in splits.values() for digest in listed.values())
    return f"academiceval-{sha256_of_bytes(digests)[:16]}"
