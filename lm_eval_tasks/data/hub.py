"""What the tasks ask the Hub about a dataset, besides its rows."""

from __future__ import annotations

from pathlib import Path

from huggingface_hub import hf_hub_download, list_repo_refs
from huggingface_hub.errors import EntryNotFoundError, HFValidationError, LocalEntryNotFoundError

from lm_eval_tasks.compat.huggingface_hub import HTTPError, is_offline
from lm_eval_tasks.core.errors import DatasetError

_ERRORS = (HFValidationError, OSError, HTTPError)


def revisions_of(dataset: str) -> list[str]:
    """The published revisions of a dataset on the Hub; none if the Hub does not say."""
    try:
        return sorted(ref.name for ref in list_repo_refs(dataset, repo_type="dataset").tags)
    except _ERRORS:
        return []


def file_of(dataset: str, name: str, revision: str | None) -> Path | None:
    """A file next to the data of a dataset on the Hub; None if it has none, or offline if the cache has none.

    Raises:
        DatasetError: it cannot be fetched.
    """
    try:
        return Path(hf_hub_download(dataset, name, repo_type="dataset", revision=revision))
    except _ERRORS as err:
        if isinstance(err, LocalEntryNotFoundError):
            if is_offline():
                return None
        elif isinstance(err, EntryNotFoundError):
            return None
        raise DatasetError(f"{name} of the dataset {dataset!r} cannot be fetched ({err!s:.200}); try again") from err
