"""Addresses, and paths on somebody's machine, which are nobody else's business: taken out of what leaves it, keys included."""

import re
from collections.abc import Mapping
from typing import Any

# An address, but for that of the Hub; a path, of which the last part is kept, alone or within a text.
_ADDRESS = re.compile(
    r"\b(?:(?!https?://huggingface\.co/)[a-z][a-z0-9+.]*://[^\s,'\"<>]+|\d+(?:\.\d+){3}(?::\d+)?\b)", re.IGNORECASE
)
_PATH = re.compile(
    r"^(?:~|\.+|\$\w+|[A-Za-z]:)?[/\\](?:[^\n,]*[/\\])?([^\n,/\\]*)$"
    r"|(?<![\w:/.~$-])[^\s,'\"/\\=]*[/\\](?:[^\s,'\"/\\]+[/\\])+([^\s,'\"/\\]*)"
)


def without_places(value: Any) -> Any:
    """Return a value, at any depth, with the last part of each path, and no address."""
    if isinstance(value, str):
        return _PATH.sub(r"\1\2", _ADDRESS.sub("(address)", value))
    if isinstance(value, Mapping):
        return _cleaned(value)
    return [without_places(item) for item in value] if isinstance(value, list | tuple) else value


def _cleaned(table: Mapping[Any, Any]) -> dict[Any, Any]:
    cleaned: dict[Any, Any] = {}
    for name, item in table.items():
        key, content = without_places(name), without_places(item)
        # Counts of what is now called the same are counted together.
        is_counted = type(content) is int and type(cleaned.get(key)) is int
        cleaned[key] = cleaned[key] + content if is_counted else content
    return cleaned
