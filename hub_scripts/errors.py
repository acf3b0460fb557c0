"""The named errors of publishing: each message is one sentence that names the input and what to do."""

from builder.errors import BuildError


class HubError(BuildError):
    """Root of what may go wrong with the Hub: somebody else changed it, a folder is not fit for it, a file contains a secret."""


class AccessError(HubError):
    """The token is missing, was not accepted, or may not do what was asked."""


class UnreachableError(HubError):
    """The Hub did not answer, or answered with a fault, as often as was asked."""


class DifferenceError(HubError):
    """What the Hub serves is not what its manifest says."""


class ReportError(HubError):
    """The results cannot be read, or there are none."""
