"""`huggingface_hub`: the internals that evaluating and publishing both use."""

from __future__ import annotations

from huggingface_hub.errors import HfHubHTTPError

# The root of its HTTP library's errors, which is httpx or httpx2, by release. A public way would be a name for it.
HTTPError: type[Exception] = HfHubHTTPError.__bases__[0]
