"""`huggingface_hub`: the internals that evaluating and publishing both use."""

from huggingface_hub import constants
from huggingface_hub.errors import HfHubHTTPError

# The root of its HTTP library's errors, which is httpx or httpx2, by release. A public way would be a name for it.
HTTPError: type[Exception] = HfHubHTTPError.__bases__[0]


def uses_xet() -> bool:
    """Tell whether the client uploads large files to Xet storage; it looks at this before every upload."""
    return not constants.HF_HUB_DISABLE_XET


def use_lfs() -> None:
    """Upload large files by LFS from now on. A public way would be an argument of `create_commit`."""
    constants.HF_HUB_DISABLE_XET = True
