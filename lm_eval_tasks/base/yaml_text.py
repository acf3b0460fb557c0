"""YAML that others have written, which may be damaged or hostile."""

import re
from collections import Counter
from typing import Any

import yaml

from lm_eval_tasks.base.text import ODD

# The front matter of a card: what opens it, the YAML with its last line end, what closes it.
FRONT_MATTER = re.compile(r"(\s*---\n)(.*?)(?<=\n)(---(?:\n|$))", re.DOTALL)


class _Loader(yaml.SafeLoader):
    """Refuses aliases, a few of which, one inside the other, stand for more than any memory holds; and keys that come twice."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("it has aliases (*name), which are not read; write the values out")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        names = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode) and key.value != "<<"]
        for name, count in Counter(names).items():
            if count > 1:
                raise yaml.YAMLError(f"the key {name!r:.60} comes twice")
        return super().construct_mapping(node, deep)


def parse_yaml(text: str | bytes) -> Any:
    """Return the content of a text; bytes are UTF-8. A ValueError if it is not YAML, has aliases, or a key twice; the message is one
    line.
    """
    try:
        return yaml.load(text.decode() if isinstance(text, bytes) else text, _Loader)  # noqa: S506  a safe one
    except (yaml.YAMLError, RecursionError, *ODD) as err:
        mark = getattr(err, "problem_mark", None)
        said = getattr(err, "problem", None) or (str(err) or type(err).__name__).splitlines()[0]
        raise ValueError(str(said) if mark is None else f"line {mark.line + 1}: {said}") from err
