"""YAML that others have written, which may be damaged or hostile."""

from __future__ import annotations

from typing import Any

import yaml

from lm_eval_tasks.core.text import ODD

# What a YAML parser raises.
BROKEN = (yaml.YAMLError, RecursionError, *ODD)


class _Loader(yaml.SafeLoader):
    """Refuses aliases, a few of which, one inside the other, stand for more than any memory holds; and keys that come twice."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("it has aliases (*name), which are not read; write the values out")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        names = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode) and key.value != "<<"]
        if twice := [name for name in names if names.count(name) > 1]:
            raise yaml.YAMLError(f"the key {twice[0]!r:.60} comes twice")
        return super().construct_mapping(node, deep)


def parse_yaml(text: str | bytes) -> Any:
    """The content of a text; bytes are UTF-8.

    Raises:
        ValueError: it is not YAML, has aliases, or a key twice; the message is one line.
    """
    try:
        return yaml.load(text.decode() if isinstance(text, bytes) else text, _Loader)  # noqa: S506  a safe one
    except BROKEN as err:
        raise ValueError(reason(err)) from err


def reason(err: BaseException) -> str:
    """What is wrong, from one of `BROKEN`, in one line."""
    mark = getattr(err, "problem_mark", None)
    text = getattr(err, "problem", None) or (str(err) or type(err).__name__).splitlines()[0]
    return f"line {mark.line + 1}: {text}" if mark is not None else str(text)
