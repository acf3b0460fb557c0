"""What was found wrong with published revisions: `errata.jsonl` beside the data, and its tables on the card."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from hub_scripts.errors import HubError

ERRATA = "errata.jsonl"
_CHANGELOG = "## Changelog"
_CHANGES = ("| Round | What changed |", "| --- | --- |")
_BEFORE = "## How to cite"
# What an earlier call has written: the section, and its lines in the changelog.
_WRITTEN = re.compile(r"^## Errata\n.*?(?=^## |\Z)|^\| \S+ \| replaces [^\n]*\n", re.MULTILINE | re.DOTALL)
_EXAMPLE = re.compile(r'load_dataset\("[^"\n]+", "([^"\n]+)"(?:, revision="[^"\n]*")?\)')


@dataclass(frozen=True, slots=True)
class Erratum:
    """One published revision that should not be used any more.

    Attributes:
        revision: the one that is replaced; its tag stays where it is.
        replacement: the revision to use in its place.
        date: ISO day.
        papers: bare ids of the papers that were taken down, if that was it.
    """

    revision: str
    replacement: str
    date: str
    reason: str
    papers: tuple[str, ...] = ()


def parse_errata(data: bytes | None) -> list[Erratum]:
    """The entries of an `errata.jsonl`, none where there is no file.

    Raises:
        HubError: it is not what we write.
    """
    try:
        lines = [json.loads(line) for line in (data or b"").decode().splitlines() if line.strip()]
        return [Erratum(**{**line, "papers": tuple(line.get("papers", ()))}) for line in lines]
    except (ValueError, TypeError) as err:
        raise HubError(f"the repository's {ERRATA} cannot be read ({err}); repair it first") from err


def errata_lines(errata: Sequence[Erratum]) -> bytes:
    """The file's content."""
    return "".join(json.dumps(asdict(one), sort_keys=True) + "\n" for one in errata).encode()


def with_errata(card: str, errata: Sequence[Erratum]) -> str:
    """A card with a section of errata, and a line of the changelog for each, in place of what it said of them."""
    card = _WRITTEN.sub("", card)
    if not errata:
        return card
    newest = sorted(errata, key=lambda one: (one.date, one.replacement), reverse=True)
    changes = [f"| {one.replacement} | replaces {one.revision}: {_cell(one.reason)} |" for one in newest]
    if _CHANGELOG in card:
        head, _, tail = card.partition("\n".join([_CHANGELOG, "", *_CHANGES]))
        card = "\n".join([f"{head}{_CHANGELOG}", "", *_CHANGES, *changes]) + tail
    else:
        card = _insert(card, [_CHANGELOG, "", *_CHANGES, *changes, ""])
    table = [
        f"| {one.revision} | {one.replacement} | {one.date} | {_cell(one.reason)}{_papers(one)} |" for one in newest
    ]
    heading = ["## Errata", "", "| Do not use | Use | Since | Why |", "| --- | --- | --- | --- |"]
    return _insert(card, [*heading, *table, ""])


def for_repository(card: str, repo: str, revision: str) -> str:
    """A card whose example loads this revision from the Hub."""
    return _EXAMPLE.sub(rf'load_dataset("{repo}", "\1", revision="{revision}")', card, count=1)


def _papers(one: Erratum) -> str:
    return f" (taken down: {', '.join(one.papers)})" if one.papers else ""


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _insert(card: str, section: Sequence[str]) -> str:
    """Put a section before the one on citing, or at the end."""
    head, mark, tail = card.partition(_BEFORE)
    return head + "\n".join(section) + "\n" + mark + tail
