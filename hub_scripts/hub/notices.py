"""What a repository tells besides a revision's data: the lists that it carries along, of errata and of papers that were taken down; and a
plot of results. With `push --replaces` comes an entry, of a revision that takes the place of another one, whose tag stays.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from builder.round.takedowns import ERRATA, TAKEDOWNS, Erratum, Takedown, parse_errata, parse_takedowns
from hub_scripts.errors import HubError
from hub_scripts.hub.repo import Repo
from lm_eval_tasks.base.contract import MANIFEST
from lm_eval_tasks.base.files import sha256_of, sha256_of_bytes
from lm_eval_tasks.base.manifest import Manifest
from lm_eval_tasks.base.text import is_valid

# A revision: year, month, and which replacement of that month it is.
_NAME = re.compile(r"(\d{4})\.(\d{2})(?:\.post(\d+))?")


@dataclass(frozen=True, slots=True)
class Notices:
    """The lists at one revision, and an SVG picture that is new there."""

    errata: Sequence[Erratum] = ()
    takedowns: Sequence[Takedown] = ()
    plot: bytes = b""

    @property
    def taken_down(self) -> frozenset[str]:
        """The ids of the papers that were taken down."""
        return frozenset(takedown.id for takedown in self.takedowns)

    def adding(self, entry: Erratum, listed: Sequence[Takedown]) -> "Notices":
        """Return the lists with one more erratum, and with the papers that it takes down."""
        fresh = {takedown.id: takedown for takedown in listed if takedown.id not in self.taken_down}
        taken_down = [
            Takedown(id_, given.date or entry.date, given.reason or entry.reason, entry.replacement)
            for id_, given in fresh.items()
        ]
        return replace(self, errata=[*self.errata, entry], takedowns=[*self.takedowns, *taken_down])


def read_notices(repo: Repo, revision: str) -> Notices:
    """Read the lists at a revision."""
    return Notices(
        parse_errata(repo.read(ERRATA, revision)),
        parse_takedowns(repo.read(TAKEDOWNS, revision) or b"", f"{TAKEDOWNS} of {repo.id}"),
    )


def plot_of(file: Path | None) -> bytes:
    """Read a plot of results; a HubError if it is no SVG picture, and nothing without a file."""
    if file is None:
        return b""
    picture = file.read_bytes()
    if b"<svg" not in picture:
        raise HubError(f"{file} is no SVG picture; give one of the folder `plots` of `academiceval report`")
    return picture


def by_own_ids(takedowns: Sequence[Takedown], manifest: Manifest) -> list[Takedown]:
    """Return takedowns by the ids that a dataset's rows have for the papers."""
    return [replace(takedown, id=manifest.other_ids.get(takedown.id, takedown.id)) for takedown in takedowns]


def listed_beside(folder: Path) -> list[Takedown]:
    """Read the `takedowns.jsonl` next to a dataset folder or a link to it, where builds look for it; nothing without one."""
    folders = {folder.absolute().parent.resolve(), folder.resolve().parent}
    lists = sorted(parent / TAKEDOWNS for parent in folders)
    return [entry for path in lists if path.is_file() for entry in parse_takedowns(path.read_bytes(), str(path))]


# --- the replacement of a revision


@dataclass(frozen=True, slots=True)
class Replaced:
    """The revision whose place is taken, and what was wrong with it, for the errata on the card; a HubError without a reason."""

    revision: str
    reason: str

    def __post_init__(self) -> None:
        if not (self.reason.strip() and is_valid(self.reason)):
            raise HubError("--replaces needs --note TEXT: what was wrong, for the errata on the card")

    def mark_of(self, folder: Path) -> str:
        """Return the line by which the commits of the replacement by this folder are known again."""
        return f"Replaces: {sha256_of_bytes('|'.join((self.revision, self.reason, sha256_of(folder / MANIFEST))))}"


def revision_order(name: str) -> tuple[int, int, int]:
    """Return a key by which revisions are sorted, oldest first; other names come before all."""
    match = _NAME.fullmatch(name)
    return (int(match[1]), int(match[2]), int(match[3] or 0)) if match else (0, 0, 0)


def notices_with(
    repo: Repo, tags: dict[str, str], notices: Notices, *, replaced: Replaced, mark: str, listed: Sequence[Takedown]
) -> tuple[Erratum, Notices]:
    """Return the entry of the replacement, and the repository's lists with it and with the papers that are newly taken down.

    A call that was killed is known by its mark or by its entry, and gets the same name again.

    Args:
        tags: the repository's, tag -> commit.
        listed: the takedowns next to the folder.

    Raises:
        HubError: there is no such revision, or it was replaced already.
    """
    if replaced.revision not in tags:
        raise HubError(
            f"{repo.id} has no revision {replaced.revision}; there are {', '.join(sorted(tags)) or 'no tags'}"
        )
    base = replaced.revision.partition(".post")[0]
    fresh = {takedown.id for takedown in listed} - notices.taken_down
    for name, commit in tags.items():
        if name.startswith(f"{base}.post") and repo.find(mark, name) == commit:
            [entry] = [erratum for erratum in read_notices(repo, commit).errata if erratum.replacement == name]
            more = sorted(fresh.difference(entry.papers))
            if more:
                raise HubError(
                    f"{replaced.revision} was already replaced by {name}, which does not leave out {', '.join(more[:3])}: replace {name}"
                )
            return entry, notices if entry in notices.errata else notices.adding(entry, listed)
    successor = next((erratum for erratum in notices.errata if erratum.revision == replaced.revision), None)
    if successor is None:
        taken = {*tags, *(erratum.replacement for erratum in notices.errata)}
        used = [revision_order(name)[2] for name in taken if name.partition(".post")[0] == base]
        name = f"{base}.post{max([0, *used]) + 1}"
        today = datetime.now(UTC).date().isoformat()
        entry = Erratum(replaced.revision, name, today, replaced.reason, tuple(sorted(fresh)))
        return entry, notices.adding(entry, listed)
    if successor.reason != replaced.reason or successor.replacement in tags:
        raise HubError(
            f"{replaced.revision} was already replaced by {successor.replacement}; replace {successor.replacement} if that "
            "is wrong too"
        )
    return successor, notices
