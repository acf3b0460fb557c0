"""YAML that others have written, which may be damaged or hostile."""

from __future__ import annotations

from typing import Any

import yaml

from lm_eval_tasks.core.text import ODD

# What a YAML parser raises.
BROKEN = (yaml.YAMLError, RecursionError, *ODD)


class _Loader(yaml.SafeLoader):
    """Refuses aliases: a few of them, one inside the other, stand for more than any memory holds."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("it has aliases (*name), which are not read; write the values out")
        return super().compose_node(parent, index)


def parse_yaml(text: str | bytes) -> Any:
    """The content of a text; bytes are UTF-8.

    Raises:
        ValueError: it is not YAML, or has aliases; the message is one line.
    """
    try:
        return yaml.load(text.decode() if isinstance(text, bytes) else text, _Loader)  # noqa: S506  a safe one
    except BROKEN as err:
        raise ValueError(reason(err)) from err


def reason(err: BaseException) -> str:
    """What is wrong, from one of `BROKEN`, in one line."""
    return (str(err) or type(err).__name__).splitlines()[0]
