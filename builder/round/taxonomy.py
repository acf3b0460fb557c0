"""arXiv's categories, their groups, and the OAI-PMH sets that stand for them.

Source: https://arxiv.org/category_taxonomy (2026-11); sets as ListSets of https://oaipmh.arxiv.org/oai names them.
"""

from lm_eval_tasks.base.text import suggestion

_WITH_SUBJECTS = {
    "astro-ph": "CO EP GA HE IM SR",
    "cond-mat": "dis-nn mes-hall mtrl-sci other quant-gas soft stat-mech str-el supr-con",
    "cs": "AI AR CC CE CG CL CR CV CY DB DC DL DM DS ET FL GL GR GT HC IR IT LG LO MA MM MS NA NE NI OH OS PF PL RO SC "
    "SD SE SI SY",
    "econ": "EM GN TH",
    "eess": "AS IV SP SY",
    "math": "AC AG AP AT CA CO CT CV DG DS FA GM GN GR GT HO IT KT LO MG MP NA NT OA OC PR QA RA RT SG SP ST",
    "nlin": "AO CD CG PS SI",
    "physics": "acc-ph ao-ph app-ph atm-clus atom-ph bio-ph chem-ph class-ph comp-ph data-an ed-ph flu-dyn gen-ph geo-ph "
    "hist-ph ins-det med-ph optics plasm-ph pop-ph soc-ph space-ph",
    "q-bio": "BM CB GN MN NC OT PE QM SC TO",
    "q-fin": "CP EC GN MF PM PR RM ST TR",
    "stat": "AP CO ME ML OT TH",
}
_WHOLE = ("gr-qc", "hep-ex", "hep-lat", "hep-ph", "hep-th", "math-ph", "nucl-ex", "nucl-th", "quant-ph")
_PHYSICS = frozenset({"astro-ph", "cond-mat", "nlin", "physics", *_WHOLE})

CATEGORIES = frozenset(
    {*_WHOLE, *(f"{archive}.{subject}" for archive, subjects in _WITH_SUBJECTS.items() for subject in subjects.split())}
)
ARCHIVES = frozenset(_WITH_SUBJECTS) | frozenset(_WHOLE)


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
    group = "physics" if archive in _PHYSICS else archive
    if not subject:
        return f"{group}:{archive}" if group != archive or archive == "physics" else group
    return f"{group}:{archive}:{subject}"
