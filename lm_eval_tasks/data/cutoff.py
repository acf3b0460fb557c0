"""Up to which month a model was trained, and a warning if that is later than the papers that it is tested on."""

import logging
import re
from calendar import monthrange
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from lm_eval_tasks.base.files import toml_beside
from lm_eval_tasks.base.text import MONTHS

_LOGGER = logging.getLogger(__name__)
_NAMES = "|".join((*MONTHS, "sept", *(month[:3] for month in MONTHS)))
# "knowledge cutoff: December 2023", "cut-off of 2024-06", "Data cutoff | Jun, 2025"
_CUTOFF = re.compile(
    rf"cut-?\s?off[^\n]{{0,60}}?(?:(?P<name>{_NAMES})\b\.?,?\s+(?P<year>20\d\d)|(?P<iso>20\d\d-(?:0[1-9]|1[0-2])(?!\d)))",
    re.IGNORECASE,
)


def of_card(text: str) -> str | None:
    """Return the month that a model card names as its cut-off, "YYYY-MM"; None if it names none, or several."""
    months = {_month(match) for match in _CUTOFF.finditer(text)}
    return months.pop() if len(months) == 1 else None


def _month(match: re.Match[str]) -> str:
    if match["iso"]:
        return match["iso"]
    number = next(i for i, month in enumerate(MONTHS, 1) if month.startswith(match["name"].casefold()))
    return f"{match['year']}-{number:02d}"


@cache
def families() -> dict[str, str]:
    """Return pattern -> month, in the order in which they are looked up."""
    read = toml_beside(__file__, "cutoffs.toml")
    return {name: month for name, (month, *_) in read["families"].items()}


def of_name(name: str) -> str | None:
    """Return the cut-off of a model by its name; None if its maker has said nothing that we know of."""
    plain = folded_name(name)
    return next((known for pattern, known in families().items() if _is_of(pattern, plain)), None)


def _is_of(pattern: str, plain: str) -> bool:
    """Tell whether a folded name is of a family, and not of a later one whose version goes on: "gpt-5.2" is no "gpt-5"."""
    folded = folded_name(pattern)
    goes_on = r"(?![1-9]\d?-)" if folded[-2].isdigit() else ""
    return re.search(re.escape(folded) + goes_on, plain) is not None


def folded_name(name: str) -> str:
    """Return a name with its parts between hyphens, so that "gpt-4" is not found in "gpt-4o"."""
    return f"-{re.sub(r'[^a-z0-9]+', '-', name.casefold()).strip('-')}-"


def of_model(arguments: Mapping[str, object], served: Sequence[str] = ()) -> str | None:
    """Return the cut-off of a model: as the registry has it by its name, or by the one name that a server answered with; else as its card
    says if the card is on this machine.
    """
    model = arguments.get("pretrained") or arguments.get("model")
    for name in (model, *(served if len(served) == 1 else ())):
        if isinstance(name, str) and (known := of_name(name)):
            return known
    if not isinstance(model, str) or not model:
        return None
    path: object = Path(model) / "README.md"
    if not Path(model).is_dir():
        from huggingface_hub import try_to_load_from_cache

        try:
            path = try_to_load_from_cache(model, "README.md", revision=str(arguments.get("revision") or "main"))
        except ValueError:  # not a Hub id: a name at an API server
            return None
    is_here = isinstance(path, str | Path) and Path(path).is_file()
    return of_card(Path(str(path)).read_text(encoding="utf-8", errors="replace")) if is_here else None


def warn(setting: str, cutoff: str | None, days: Sequence[str]) -> None:
    """Warn how many of the papers, published on these days (ISO), the model may have seen."""
    seen = sum(day[:7] <= cutoff for day in days) if cutoff else 0
    if cutoff and seen:
        _LOGGER.warning(
            "%s: %d of %d papers were published up to the model's cut-off %s, so it may have seen them; "
            "published_after=%s leaves them out",
            setting,
            seen,
            len(days),
            cutoff,
            f"{cutoff}-{monthrange(*map(int, cutoff.split('-')))[1]}",
        )
