"""`push --replaces`: the entry of a revision that takes the place of another one, whose tag stays."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from builder.round.takedowns import Erratum, Takedown
from hub_scripts.errors import HubError
from hub_scripts.hub.notices import Notices, read_notices
from hub_scripts.hub.repo import MAIN, Change, Refs, Repo
from hub_scripts.hub.staging import files_beside
from lm_eval_tasks.base.contract import MANIFEST
from lm_eval_tasks.base.files import sha256_of, sha256_of_bytes
from lm_eval_tasks.base.manifest import Manifest
from lm_eval_tasks.base.text import is_valid

_NAME = re.compile(r"(\d{4})\.(\d{2})(?:\.post(\d+))?")


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


def order(name: str) -> tuple[int, int, int]:
    """Return a key by which revisions are sorted, oldest first; other names come before all."""
    match = _NAME.fullmatch(name)
    return (int(match[1]), int(match[2]), int(match[3] or 0)) if match else (0, 0, 0)


def replacement(name: str, taken: Iterable[str]) -> str:
    """Name what replaces a revision: `.post1`, or the first free number."""
    base = name.partition(".post")[0]
    used = [order(other)[2] for other in taken if other.partition(".post")[0] == base]
    return f"{base}.post{max([0, *used]) + 1}"


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
    for name, commit in tags.items():
        if name.startswith(f"{base}.post") and repo.find(mark, name) == commit:
            there = read_notices(repo, commit)
            [entry] = [erratum for erratum in there.errata if erratum.replacement == name]
            return entry, there if entry in notices.errata else notices.adding(entry, listed)
    successor = next((erratum for erratum in notices.errata if erratum.revision == replaced.revision), None)
    if successor is None:
        name = replacement(replaced.revision, {*tags, *(erratum.replacement for erratum in notices.errata)})
        fresh = tuple(sorted({takedown.id for takedown in listed} - notices.taken_down))
        today = datetime.now(UTC).date().isoformat()
        entry = Erratum(replaced.revision, name, today, replaced.reason, fresh)
        return entry, notices.adding(entry, listed)
    if successor.reason != replaced.reason or successor.replacement in tags:
        raise HubError(
            f"{replaced.revision} was already replaced by {successor.replacement}; replace {successor.replacement} if that "
            "is wrong too"
        )
    return successor, notices


def tell_main(repo: Repo, refs: Refs, last: Manifest, notices: Notices, *, entry: Erratum, mark: str) -> None:
    """Note on main, which keeps its name and data, that an older revision was replaced."""
    if repo.find(mark, MAIN) is None:
        change = Change(f"Errata of {entry.revision}", mark, files_beside(last, repo.id, notices))
        repo.commit(change, MAIN, refs.branches[MAIN])
