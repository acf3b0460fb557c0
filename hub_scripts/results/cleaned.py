"""What of a result file may be shown to others: nothing is told of the machine that made it."""

import json
import re
from pathlib import Path
from typing import Any

# What lm-eval writes about the machine and the folder that it ran in.
_OF_MACHINE = ("pretty_env_info", "git_hash", "upper_git_hash")
# An address, but for that of the Hub; a path, of which the last part is kept, alone or within a text.
_ADDRESS = re.compile(
    r"\b(?:(?!https?://huggingface\.co/)[a-z][a-z0-9+.]*://[^\s,'\"<>]+|\d+(?:\.\d+){3}(?::\d+)?\b)", re.IGNORECASE
)
_PATH = re.compile(
    r"^(?:~|\.+|\$\w+|[A-Za-z]:)?[/\\](?:[^\n,]*[/\\])?([^\n,/\\]*)$"
    r"|(?<![\w:/.~$-])[^\s,'\"/\\=]*[/\\](?:[^\s,'\"/\\]+[/\\])+([^\s,'\"/\\]*)"
)


def cleaned(path: Path) -> bytes:
    """Return the content of a file of results without addresses, paths and a description of the machine."""
    bare = {
        name: _clean(item)
        for name, item in json.loads(path.read_text(encoding="utf-8-sig")).items()
        if name not in _OF_MACHINE
    }
    return (json.dumps(bare, indent=2, ensure_ascii=False) + "\n").encode()


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return _PATH.sub(r"\1\2", _ADDRESS.sub("(address)", value))
    if isinstance(value, dict):
        return {name: _clean(item) for name, item in value.items()}
    return [_clean(item) for item in value] if isinstance(value, list) else value
