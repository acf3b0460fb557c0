"""What the tasks ask the Hub about a dataset, besides its rows."""

from __future__ import annotations

from pathlib import Path

from huggingface_hub import constants, hf_hub_download, list_repo_refs
from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

from lm_eval_tasks.errors import DatasetError

# The last is the root of the errors of its HTTP library, which is httpx or httpx2, by release.
_ERRORS: tuple[type[Exception], ...] = (HFValidationError, OSError, HfHubHTTPError.__bases__[0])


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
            if constants.is_offline_mode():
                return None
        elif isinstance(err, EntryNotFoundError):
            return None
        raise DatasetError(f"{name} of the dataset {dataset!r} cannot be fetched ({err!s:.200}); try again") from err
