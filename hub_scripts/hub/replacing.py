"""`academiceval push --replaces`: the entry of a revision that takes the place of another one, whose tag stays."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from builder.dataset.manifest import Manifest
from builder.round.takedowns import TAKEDOWNS, Erratum, Takedown, parse_takedowns
from hub_scripts.errors import CheckError, HubError
from hub_scripts.hub.repo import MAIN, Change, Refs, Repo
from hub_scripts.hub.staging import Notices, Staged, files_beside, read_notices
from lm_eval_tasks.base.files import sha256_of, sha256_of_bytes
from lm_eval_tasks.base.row_format import MANIFEST
from lm_eval_tasks.base.text import is_valid

_NAME = re.compile(r"(\d{4})\.(\d{2})(?:\.post(\d+))?")


def order(name: str) -> tuple[int, int, int]:
    """A key by which revisions are sorted, oldest first; other names come before all."""
    match = _NAME.fullmatch(name)
    return (int(match[1]), int(match[2]), int(match[3] or 0)) if match else (0, 0, 0)


def replacement(name: str, taken: Iterable[str]) -> str:
    """The name of what replaces a revision: `.post1`, or the first free number."""
    base = name.partition(".post")[0]
    used = [order(other)[2] for other in taken if other.partition(".post")[0] == base]
    return f"{base}.post{max([0, *used]) + 1}"


@dataclass(frozen=True, slots=True)
class Replaced:
    """A revision that is to be replaced, and why; a CheckError if there is no note, or one that is no text."""

    revision: str
    note: str

    def __post_init__(self) -> None:
        if not self.note.strip() or not is_valid(self.note):
            raise CheckError("--replaces needs --note TEXT: what was wrong, for the errata on the card")

    def mark(self, folder: Path) -> str:
        """A line by which the commits of the replacement by a folder are known again."""
        return f"Replaces: {sha256_of_bytes('|'.join((self.revision, self.note, sha256_of(folder / MANIFEST))))}"


def listed_beside(folder: Path) -> list[Takedown]:
    """The papers in the `takedowns.jsonl` next to a dataset folder or a link to it, where builds look for it; none without one."""
    places = sorted({parent.resolve() / TAKEDOWNS for parent in (folder.absolute().parent, folder.resolve().parent)})
    return [entry for place in places if place.is_file() for entry in parse_takedowns(place.read_bytes(), str(place))]


def notices_with(
    repo: Repo, refs: Refs | None, notices: Notices, replaced: Replaced, mark: str, listed: Sequence[Takedown]
) -> tuple[Erratum, Notices]:
    """The entry of the replacement, and the repository's lists with it and with newly taken down papers.

    A call that was killed is known by its mark or by its entry, and gets the same name again.

    Raises:
        HubError: no such revision, or one that was replaced already.
    """
    tags = refs.tags if refs else {}
    if replaced.revision not in tags:
        raise HubError(
            f"{repo.id} has no revision {replaced.revision}; there are {', '.join(sorted(tags)) or 'no tags'}"
        )
    fresh = tuple(sorted({takedown.id for takedown in listed} - notices.taken_down))
    for name, commit in tags.items():
        if name.startswith(f"{replaced.revision.partition('.post')[0]}.post") and repo.find(mark, name) == commit:
            there = read_notices(repo, commit)
            [entry] = [erratum for erratum in there.errata if erratum.replacement == name]
            return entry, there if entry in notices.errata else _added(notices, entry, listed)
    successor = next((erratum for erratum in notices.errata if erratum.revision == replaced.revision), None)
    if successor and (successor.reason != replaced.note or successor.replacement in tags):
        raise HubError(
            f"{replaced.revision} was already replaced by {successor.replacement}; replace {successor.replacement} if that is wrong too"
        )
    if successor:
        return successor, notices
    name = replacement(replaced.revision, {*tags, *(erratum.replacement for erratum in notices.errata)})
    entry = Erratum(replaced.revision, name, datetime.now(UTC).date().isoformat(), replaced.note, fresh)
    return entry, _added(notices, entry, listed)


def _added(notices: Notices, entry: Erratum, listed: Sequence[Takedown]) -> Notices:
    fresh = {takedown.id: takedown for takedown in listed if takedown.id not in notices.taken_down}
    taken_down = [
        Takedown(id_, given.date or entry.date, given.reason or entry.reason, entry.replacement)
        for id_, given in fresh.items()
    ]
    return Notices([*notices.errata, entry], [*notices.takedowns, *taken_down])


def tell_main(repo: Repo, head: str, last: Manifest, notices: Notices, entry: Erratum, mark: str) -> None:
    """Note on main, which keeps its name and data, that an older revision was replaced."""
    if repo.find(mark, MAIN) is None:
        staged = Staged(last.published_as, head, mark, files_beside(last, repo.id, notices), replaces_all=False)
        repo.commit(Change(f"Errata of {entry.revision}", mark, staged.files), MAIN, head)
