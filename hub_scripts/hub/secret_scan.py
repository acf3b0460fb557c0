"""The last check of what is uploaded: no file may contain a secret."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from hub_scripts.errors import SecretError
from lm_eval_tasks.base.redaction import secrets_in

if TYPE_CHECKING:
    from hub_scripts.hub.file_hashes import Content

_TEXT = frozenset({".json", ".jsonl", ".js", ".html", ".md", ".yml", ".yaml", ".csv", ".txt", ".toml", ".css", ".svg"})
# Papers' texts and models' answers: what they say was public before, and papers about security quote such forms.
_PAPERS = "data/samples/"
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")


def _unescape(text: str) -> str:
    """JSON whose letters are not hidden by escapes."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text) if "\\u00" in text else ""


def refuse_secrets(files: Mapping[str, Content]) -> None:
    """Search the text files of an upload.

    Raises:
        SecretError: one contains a secret; the message names the file and what it is, not the secret.
    """
    for path, content in files.items():
        if PurePosixPath(path).suffix not in _TEXT or path.startswith(_PAPERS):
            continue
        data = content.read_bytes() if isinstance(content, Path) else content
        text = data.decode(errors="replace")
        if secret := next(chain(secrets_in(text), secrets_in(_unescape(text))), None):
            raise SecretError(
                f"{path} contains {secret}, and nothing was uploaded: remove it, or make the file again without it"
            )
