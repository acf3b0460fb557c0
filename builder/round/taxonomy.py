"""arXiv's categories, their groups, and the OAI-PMH sets that stand for them."""

from lm_eval_tasks.base.files import toml_beside
from lm_eval_tasks.base.text import suggestion

# Archive -> its subjects: of those that are in the group physics, and of those that are groups themselves.
_ARCHIVES: dict[str, dict[str, str]] = toml_beside(__file__, "taxonomy.toml")
_SUBJECTS = {archive: subjects.split() for group in _ARCHIVES.values() for archive, subjects in group.items()}

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
    group = "physics" if archive in _ARCHIVES["physics"] else archive
    if not subject:
        return f"{group}:{archive}" if group != archive or archive == "physics" else group
    return f"{group}:{archive}:{subject}"
