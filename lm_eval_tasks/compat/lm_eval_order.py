"""`lm_eval`: the order in which its models ask, which they sort by length; here they keep the order that they are given.

Transformers' models keep their own: they pad a batch to its longest prompt. A public way would be an option of the models.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Models behind a server, and vLLM's.
_MODULES = ("lm_eval.models.api_models", "lm_eval.models.vllm_causallms")


@contextmanager
def as_given() -> Iterator[None]:
    """Within this block models do not sort their requests."""
    from lm_eval.models.utils import Collator

    class InOrder(Collator):  # type: ignore[misc]
        def __init__(self, arr: Any, sort_fn: Any = None, *arguments: Any, **keywords: Any) -> None:
            super().__init__(arr, lambda _: 0, *arguments, **keywords)

    modules = [module for name in _MODULES if (module := sys.modules.get(name)) and hasattr(module, "Collator")]
    for module in modules:
        vars(module)["Collator"] = InOrder
    try:
        yield
    finally:
        for module in modules:
            vars(module)["Collator"] = Collator
