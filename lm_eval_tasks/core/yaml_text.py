"""YAML that others have written, which may be damaged or hostile."""

from __future__ import annotations

from typing import Any

import yaml

from lm_eval_tasks.core.text import ODD

# What a YAML parser raises.
BROKEN = (yaml.YAMLError, RecursionError, *ODD)


def parse_yaml(text: str | bytes) -> Any:
    """The content of a text; bytes are UTF-8.

    Raises:
        ValueError: it is not YAML; the message is one line.
    """
    try:
        return yaml.safe_load(text.decode() if isinstance(text, bytes) else text)
    except BROKEN as err:
        raise ValueError(reason(err)) from err


def reason(err: BaseException) -> str:
    """What is wrong, from one of `BROKEN`, in one line."""
    return (str(err) or type(err).__name__).splitlines()[0]
