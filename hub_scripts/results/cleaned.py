"""A file of results as it may be published: what a score is and how it was made, without the machine that made it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

# What lm-eval writes about the machine and the folder that it ran in.
_OF_MACHINE = ("pretty_env_info", "git_hash", "upper_git_hash")
# An address, but for that of the Hub; a path, of which the last part is kept.
_ADDRESS = re.compile(r"\bhttps?://(?!huggingface\.co/)[^\s,'\"<>]+", re.IGNORECASE)
_PATH = re.compile(r"(?<![\w:/.~-])(?:~|[A-Za-z]:)?[/\\](?:[^\s,'\"/\\]+[/\\])+([^\s,'\"/\\]*)")


def cleaned(path: Path) -> bytes:
    """The content of a file of results without addresses, paths and a description of the machine."""
    content = json.loads(path.read_text(encoding="utf-8-sig"))
    bare = {name: _clean(part) for name, part in content.items() if name not in _OF_MACHINE}
    return (json.dumps(bare, indent=2, ensure_ascii=False) + "\n").encode()


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return _PATH.sub(r"\1", _ADDRESS.sub("(address)", value))
    if isinstance(value, dict):
        return {name: _clean(part) for name, part in value.items()}
    return [_clean(part) for part in value] if isinstance(value, list) else value
