"""The pages of the documentation, and the commands that they show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Languages of blocks that contain no commands.
_DATA = ("toml", "yaml", "bibtex", "json", "text")


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        page: relative to the repository.
        language: as named after the fence, or empty.
    """

    page: str
    language: str
    text: str

    @property
    def commands(self) -> list[str]:
        """Its commands, continued lines joined, without comments; none if it contains something else."""
        if self.language in (*_DATA, "python"):
            return []
        lines = (re.sub(r"(^|\s+)#.*", "", line).strip() for line in self.text.replace("\\\n", " ").splitlines())
        return [line for line in lines if line]


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page."""
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        yield Block(page.relative_to(ROOT).as_posix(), match[1], match[2])
