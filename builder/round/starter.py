"""`academiceval init`: a round.toml to start from, commented, for each kind of source."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Literal, get_args

from builder.errors import RoundError
from lm_eval_tasks.base.files import toml_beside, write_whole

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
    pieces = toml_beside(__file__, "starter.toml")
    settings = "own" if source == "pdfs" else "usual"
    if is_open_access(source):
        settings = "open_access"
    is_few = count is not None and count < _MANY
    if is_few:
        settings = "few"
    beside = ""
    if source == "arxiv":
        beside = pieces["of_categories"] + pieces["seeded" if told["seed"] else "unseeded"]
    if source == "mirror":
        beside = pieces["all_groups" if is_few else "of_categories"]
    content = (
        pieces["head"] + pieces["settings"][settings] + pieces["sources"][source] + beside + pieces["tail"]
    ).format(
        all_groups=pieces["all_groups"],
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
