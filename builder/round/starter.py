"""`academiceval init`: a round.toml to start from, commented, for each kind of source."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Literal, get_args

from builder.errors import RoundError
from lm_eval_tasks.base.files import write_whole

Start = Literal["arxiv", "europepmc", "jats", "mirror", "pdfs", "sample"]
STARTS: tuple[Start, ...] = get_args(Start)
# Papers from which on enough are left where all must have demonstrations; rows of a test split that show something.
_MANY, _LEAST_ROWS = 300, 12
# What each must be told.
NEEDED: dict[Start, tuple[str, ...]] = {
    "arxiv": ("contact",),
    "europepmc": ("contact", "field"),
    "jats": ("path",),
    "mirror": ("path",),
    "pdfs": ("path",),
}

_HEAD = """# A round of AcademicEval. The page "A round and its file" of the documentation explains it, and docs/keys.md lists every key.
round = "{round}"             # the revision, year and month; it covers papers up to the end of the month before
seed = 2026                   # decides which demonstrations are drawn
workspace = "work"            # state between runs: a stopped run resumes from it
output = "academiceval"       # the dataset folder
"""
_OF_CATEGORIES = """
[papers]
categories = ["cs.CL"]        # primary categories, or archives such as "cs"
published_from = {from_}
"""
_ALL_GROUPS = """
[graph]
component = "all"             # papers of many groups: keep them all
"""
_SOURCES: dict[Start, str] = {
    "arxiv": """
[source]
kind = "arxiv"
contact = "{contact}"         # arXiv wants to know who asks: your email or web address
""",
    "europepmc": """
[source]
kind = "europepmc"            # open-access articles of the life sciences, with full texts that may be published
contact = "{contact}"         # Europe PMC wants to know who asks: your email or web address
field = "{field}"             # words in title, abstract, key words or the journal's name
papers = 200                  # from all months alike; leave it out for all
# preprints = true            # bioRxiv, medRxiv and others in place of articles

[papers]
published_from = {from_}
"""
    + _ALL_GROUPS,
    "jats": """
[source]
kind = "jats"
path = "{path}"               # a folder, an archive, or an address such as s3://BUCKET/*.xml
"""
    + _ALL_GROUPS,
    "mirror": """
[source]
kind = "mirror"
path = "{path}"               # a folder with arXiv metadata (Kaggle's snapshot, or JSON lines) and pdf/ in it
""",
    "pdfs": """
[source]
kind = "pdfs"
path = "{path}"               # a folder of PDFs
table = "{table}"             # what they say of themselves; correct it, above all titles, authors and days
"""
    + _ALL_GROUPS
    + """
[samples]
min_citations = 1             # few cited works are among the papers themselves
""",
    "sample": """
[source]
kind = "sample"               # a made-up arXiv, to try the commands
authors = 60
papers = 120
""",
}
# Of arXiv: with an author to start from, and without.
_SEEDED = """
[crawl]
seeds = ["{seed}"]            # an author to start from; co-authors follow
authors = 200                 # a first small round; 1000 is usual
"""
_UNSEEDED = """
# [crawl]
# seeds = ["Ada Lovelace"]    # authors to start from, whose co-authors follow; left out: all papers of the categories
"""
# What open-access articles have: hardly any has a section of related work; co-authors are few among 200 papers.
_OPEN_ACCESS = """settings = ["Title-10K", "Title-30K", "Abs-9K", "Abs-28K", "Intro-8K", "Intro-28K"]
licenses = "redistributable"  # CC BY, CC BY-SA and CC0, so that the round can be published whole
"""
# Papers of one's own: whether there are co-authors' papers enough is not known before they are read.
_OWN = """settings = ["Title-10K", "Abs-9K", "Intro-8K"]  # docs/evaluate.md has all
"""
# A few papers: hardly any has two others that could demonstrate, and each counts.
_FEW = """settings = ["Title-10K", "Abs-9K", "Intro-8K"]  # without demonstrations; docs/evaluate.md has all
licenses = "all"              # for a round that stays here; "redistributable" for one that is published
"""
_USUAL = """# settings = ["Title-10K", "Abs-9K"]    # left out: all sixteen
"""
_TAIL = """
[split]
validation = 0.1              # shares of the papers, the newest in test; or days: validation_from, test_from
test = {test}
"""


def _test_share(source: Start, count: int | None) -> float:
    """Choose the share of the papers that are asked about: of twenty papers ten, of many a fifth."""
    usual = 0.5 if source == "pdfs" else 0.2
    return usual if not count else min(0.6, max(usual, round(_LEAST_ROWS / count, 2)))


def write_start(file: Path, source: Start, today: date, told: Mapping[str, str], count: int | None = None) -> None:
    """Write a round.toml.

    Args:
        count: of the papers' files, None where it is not known: a few papers get other settings and shares.
        told: what the user says of the source: `path`, `contact`, `seed`, `field`; "" for what is not said.

    Raises:
        RoundError: the file exists already, or something that this kind of source needs is not given.
    """
    from builder.round.source import PDF_TABLE, is_open_access

    if source not in STARTS:
        raise RoundError(f"the kind {source!r:.40} must be one of {', '.join(STARTS)}")
    missing = [f"--{name}" for name in NEEDED.get(source, ()) if not told[name]]
    if missing:
        raise RoundError(f"a round from {source} needs {' and '.join(missing)}")
    for value in told.values():
        if not value.isprintable():
            raise RoundError(f"{value!r:.80} has characters that cannot be printed")
    texts = {name: value.replace("\\", "\\\\").replace('"', '\\"') for name, value in told.items()}
    asked = _OWN if source == "pdfs" else _USUAL
    if is_open_access(source):
        asked = _OPEN_ACCESS
    is_few = count is not None and count < _MANY
    if is_few:
        asked = _FEW
    beside = ""
    if source == "arxiv":
        beside = _OF_CATEGORIES + (_SEEDED if told["seed"] else _UNSEEDED)
    if source == "mirror":
        beside = _ALL_GROUPS if is_few else _OF_CATEGORIES
    content = (_HEAD + asked + _SOURCES[source] + beside + _TAIL).format(
        round=f"{today:%Y.%m}",
        from_=today.replace(year=today.year - 1, day=1).isoformat(),
        table=PDF_TABLE,
        test=_test_share(source, count),
        **texts,
    )
    if file.exists() and file.read_text(encoding="utf-8", errors="replace") != content:
        raise RoundError(f"{file} exists already; name another file, such as `academiceval init other.toml`")
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, content)
