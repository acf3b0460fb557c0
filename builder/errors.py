"""The named errors of the builder: each message is one sentence that names the input and what to do."""

from __future__ import annotations


class BuildError(Exception):
    """Root of all errors that a user can act on; the command line prints it and exits with 1."""


class RoundError(BuildError):
    """round.toml cannot be read, or asks for something that cannot be built."""


class SourceError(BuildError):
    """A source of papers cannot be read or reached."""


class StoreError(BuildError):
    """The workspace's store is unreadable, of another version, or lacks an earlier stage."""


class FolderError(BuildError):
    """A dataset folder is missing, unfinished or not what its manifest says."""


class AuditError(BuildError):
    """A finished dataset has more of something than its round allows."""


class ExtractError(BuildError):
    """One file gives no usable document.

    Attributes:
        reason: a member of the closed set `records.ExtractReason`.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason, self.detail = reason, detail

    def __reduce__(self) -> tuple[type[ExtractError], tuple[str, str]]:
        return type(self), (self.reason, self.detail)
