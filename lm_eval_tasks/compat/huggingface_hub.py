"""`huggingface_hub`: the internals that evaluating and publishing both use."""

from __future__ import annotations

from huggingface_hub import constants
from huggingface_hub.errors import HfHubHTTPError

# The root of its HTTP library's errors, which is httpx or httpx2, by release. A public way would be a name for it.
HTTPError: type[Exception] = HfHubHTTPError.__bases__[0]


def is_offline() -> bool:
    """Whether nothing may be asked of the Hub."""
    return bool(constants.is_offline_mode())
