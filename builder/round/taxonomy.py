"""arXiv's categories, their groups, and the OAI-PMH sets that stand for them."""

import tomllib
from pathlib import Path

from lm_eval_tasks.base.text import suggestion

# Group -> archive -> its subjects.
_GROUPS: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_SUBJECTS = {archive: subjects.split() for group in _GROUPS.values() for archive, subjects in group.items()}

CATEGORIES = frozenset(
    f"{archive}.{subject}" if subject else archive
    for archive, subjects in _SUBJECTS.items()
    for subject in subjects or [""]
)
ARCHIVES = frozenset(_SUBJECTS)


def check(name: str) -> None:
    """Raise ValueError, naming similar ones, if arXiv has no such category or archive."""
    known = CATEGORIES | ARCHIVES
    if name not in known:
        hint = suggestion(name, sorted(known), "{}", "its categories are at https://arxiv.org/category_taxonomy")
        raise ValueError(f"arXiv has no category {name!r}; {hint} (papers.categories)")


def expand(names: tuple[str, ...]) -> list[str]:
    """Return the categories meant by categories and archives, in order: the search has no wildcard for an archive."""
    return sorted({c for name in names for c in CATEGORIES if c == name or c.partition(".")[0] == name})


def oai_set(name: str) -> str:
    """Return the set of a category or archive: cs -> cs, cs.LG -> cs:cs:LG, hep-ph -> physics:hep-ph."""
    archive, _, subject = name.partition(".")
    group = "physics" if archive in _GROUPS["physics"] else archive
    if not subject:
        return f"{group}:{archive}" if group != archive or archive == "physics" else group
    return f"{group}:{archive}:{subject}"
