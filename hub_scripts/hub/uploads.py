"""Files to upload: compared with those of a repository by the hashes that the Hub lists, and searched for secrets."""

import hashlib
import io
import re
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path, PurePosixPath

from hub_scripts.errors import HubError
from lm_eval_tasks.base.redaction import secrets_in

Content = Path | bytes
NOTHING_UPLOADED = "nothing was uploaded; add --yes to publish"
# How a repository stores its files: not part of what we publish.
ATTRIBUTES = ".gitattributes"


def digest(content: Content) -> dict[str, str]:
    """Return a content's hashes in both forms of `Repo.files`, by their kind."""
    with content.open("rb") if isinstance(content, Path) else io.BytesIO(content) as file:
        git = hashlib.sha1(b"blob %d\0" % file.seek(0, io.SEEK_END), usedforsecurity=False)
        file.seek(0)
        hashlib.file_digest(file, lambda: git)
        file.seek(0)
        return {"sha256": hashlib.file_digest(file, "sha256").hexdigest(), "git": git.hexdigest()}


def gone(files: Iterable[str], kept: Iterable[str]) -> list[str]:
    """Return the paths that are not kept; how a repository stores its files is its own business."""
    return sorted(set(files) - set(kept) - {ATTRIBUTES})


def unchanged_paths(files: Mapping[str, str], add: Mapping[str, Content]) -> set[str]:
    """Return the paths whose content is there already, in files as `Repo.files` lists them."""
    there = {path: files[path].partition(":")[::2] for path in add if path in files}
    return {path for path, (algorithm, value) in there.items() if digest(add[path])[algorithm] == value}


_TEXT = frozenset({".json", ".jsonl", ".js", ".html", ".md", ".yml", ".yaml", ".csv", ".txt", ".toml", ".css", ".svg"})
# Papers' texts and models' answers: what they say was public before, and papers about security quote such forms.
_PAPERS = "data/samples/"
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")


def refuse_secrets(files: Mapping[str, Content]) -> None:
    """Raise a HubError if a text file of an upload contains a secret; the message says which file and what it is, not the secret."""
    for path, content in files.items():
        if PurePosixPath(path).suffix not in _TEXT or path.startswith(_PAPERS):
            continue
        text = (content.read_bytes() if isinstance(content, Path) else content).decode(errors="replace")
        # JSON may hide letters by escapes.
        plain = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text) if "\\u00" in text else ""
        if secret := next(chain(secrets_in(text), secrets_in(plain)), None):
            raise HubError(
                f"{path} contains {secret}, and nothing was uploaded: remove it, or make the file again without it"
            )
