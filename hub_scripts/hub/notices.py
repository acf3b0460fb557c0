"""What a repository tells besides a revision's data: the lists that it carries along, of errata and of papers that were taken down; and a
plot of results.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from builder.round.takedowns import ERRATA, TAKEDOWNS, Erratum, Takedown, parse_errata, parse_takedowns
from hub_scripts.errors import HubError
from hub_scripts.hub.repo import Repo
from lm_eval_tasks.base.manifest import Manifest


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
