"""The lists that a repository carries along from revision to revision: errata, and papers that were taken down."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from builder.round.takedowns import ERRATA, TAKEDOWNS, Erratum, Takedown, parse_errata, parse_takedowns
from hub_scripts.hub.repo import Repo
from lm_eval_tasks.base.manifest import Manifest


@dataclass(frozen=True, slots=True)
class Notices:
    """The lists at one revision."""

    errata: Sequence[Erratum] = ()
    takedowns: Sequence[Takedown] = ()

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
        return Notices([*self.errata, entry], [*self.takedowns, *taken_down])


def read_notices(repo: Repo, revision: str) -> Notices:
    """Read the lists at a revision."""
    return Notices(
        parse_errata(repo.read(ERRATA, revision)),
        parse_takedowns(repo.read(TAKEDOWNS, revision) or b"", f"{TAKEDOWNS} of {repo.id}"),
    )


def by_own_ids(takedowns: Sequence[Takedown], manifest: Manifest) -> list[Takedown]:
    """Return takedowns by the ids that a dataset's rows have for the papers."""
    return [replace(takedown, id=manifest.other_ids.get(takedown.id, takedown.id)) for takedown in takedowns]


def listed_beside(folder: Path) -> list[Takedown]:
    """Read the `takedowns.jsonl` next to a dataset folder or a link to it, where builds look for it; nothing without one."""
    folders = {folder.absolute().parent.resolve(), folder.resolve().parent}
    lists = sorted(parent / TAKEDOWNS for parent in folders)
    return [entry for path in lists if path.is_file() for entry in parse_takedowns(path.read_bytes(), str(path))]
