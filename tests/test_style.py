"""Plain English: turns of phrase that a native reader stumbles over stay out of docs, messages and docstrings."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "SECURITY.md",
        ROOT / "CHANGELOG.md",
        *(ROOT / "docs").rglob("*.md"),
    ]
)
ROOMS = ("builder", "lm_eval_tasks", "hub_scripts", "benchmarks", "tests")
CODE = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py") if path != Path(__file__))
OTHERS = sorted(
    path
    for room in (*ROOMS, "docs")
    for ending in ("toml", "yaml", "html", "js", "sh", "css")
    for path in (ROOT / room).rglob(f"*.{ending}")
)
FILES = ("compose.yaml", "pyproject.toml", "Makefile", "Dockerfile", "constraints.txt")
# What not to write -> what to write.
TICS = {
    r"of one's own": "of your own",
    r"\bgo(?:es)? on where\b": "resumes where",
    r"\bnot one (?:paper|sample|question|of \{)": "no ...",
    r"(?<!there )\bis no (?:file|folder|list|row|repository|result|finished|publishable|baseline|check|logged)\b": "is not a ...",
    r"\bso many\b": "this many, or the number",
    r"\btold\b": "given, said to",
    r"\b(?:is|are) said\b": "the message says",
    r"\bbeside\b": "next to, or besides",
    r"\bwhere there (?:is|are)\b": "if there is",
    r"\bbut for\b": "except",
    r"\banew\b": "again",
    r"\bcame about\b": "was produced",
    r"\bfor people\b": "to print",
    r"\blooked at\b": "checked, read",
    r"\bin vain\b": "without an answer",
    r"\bstands in where\b": "is the fallback if",
    r"prefers nothing": "cancels out",
    r"use it only if you may": "use only with permission",
}
MOST_CHARACTERS = 120


def prose_of(path: Path) -> str:
    """A page, or of a module its comments and texts."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return text
    kinds = (tokenize.COMMENT, tokenize.STRING)
    return "\n".join(one.string for one in tokenize.generate_tokens(io.StringIO(text).readline) if one.type in kinds)


@pytest.mark.parametrize(
    "path", [*PAGES, *CODE, *OTHERS, *(ROOT / name for name in FILES)], ids=lambda path: str(path.relative_to(ROOT))
)
def test_the_tics_stay_out(path: Path) -> None:
    if path.name == "prose.py":
        pytest.skip("made-up texts")
    text = prose_of(path)
    found = [f"{match[0]!r}: write {instead!r}" for tic, instead in TICS.items() for match in re.finditer(tic, text)]
    assert not found, f"{path}: {'; '.join(found)}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_lines_of_pages_are_short_enough_to_read(path: Path) -> None:
    inside = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        inside ^= line.startswith("```")
        # Tables, and links or code that cannot be broken, may be longer.
        if not inside and not line.startswith("|") and " " in line.strip() and "](" not in line and "`" not in line:
            assert len(line) <= MOST_CHARACTERS, f"{path}:{number} has {len(line)} characters"
