"""What the tasks ask the Hub about a dataset, besides its rows."""

from __future__ import annotations

from pathlib import Path

from huggingface_hub import hf_hub_download, list_repo_refs
from huggingface_hub.errors import HfHubHTTPError, HFValidationError


def revisions_of(dataset: str) -> list[str]:
    """The published revisions of a dataset on the Hub; none if the Hub does not say."""
    try:
        return sorted(ref.name for ref in list_repo_refs(dataset, repo_type="dataset").tags)
    except (HfHubHTTPError, HFValidationError, OSError):
        return []


def file_of(dataset: str, name: str, revision: str | None) -> Path | None:
    """A file next to the data of a dataset on the Hub; None if it has none, or cannot be reached."""
    try:
        return Path(hf_hub_download(dataset, name, repo_type="dataset", revision=revision))
    except (HfHubHTTPError, HFValidationError, OSError):
        return None
