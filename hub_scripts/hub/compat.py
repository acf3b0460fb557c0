"""`huggingface_hub`: the internals that we use."""

from __future__ import annotations

from huggingface_hub import EvalResult, constants
from huggingface_hub.repocard_data import eval_results_to_model_index


def uses_xet() -> bool:
    """Whether the client uploads large files to Xet storage; it looks at this before every upload."""
    return not constants.HF_HUB_DISABLE_XET


def use_lfs() -> None:
    """Upload large files by LFS from now on. A public way would be an argument of `create_commit`."""
    constants.HF_HUB_DISABLE_XET = True


def endpoint() -> str:
    """The address of the Hub that is asked."""
    return str(constants.ENDPOINT)


def model_index(model: str, results: list[EvalResult]) -> list[dict[str, object]]:
    """The entries of a model card's `model-index`. The public class `ModelCardData` makes them only as YAML text."""
    entries: list[dict[str, object]] = eval_results_to_model_index(model, results)[0]["results"]
    return entries
