"""What an exception of the Hub's client means: worth another try, or one sentence for the user.

The client retries downloads and the upload of large files by itself, but not what changes a repository
(https://huggingface.co/docs/huggingface_hub/package_reference/hf_api).
"""

import logging
import time
from collections.abc import Callable, Iterator
from itertools import count
from json import JSONDecodeError
from typing import TypeVar

from huggingface_hub import HfApi
from huggingface_hub.errors import (
    HfHubHTTPError,
    LocalTokenNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
)

from hub_scripts.errors import AccessError, HubError, UnreachableError
from lm_eval_tasks.base.progress import retry_after, within
from lm_eval_tasks.compat.huggingface_hub import HTTPError

# What the client and its transports raise if the Hub, or our side, is at fault.
FAULTS = (HTTPError, OSError, RuntimeError, ValueError, AttributeError, TypeError, LookupError)
# Of these, those that an answer raises which is not the Hub's.
_NOT_THE_HUBS = (JSONDecodeError, AttributeError, TypeError, LookupError)
# Seconds before each further try; the Hub counts requests in windows of five minutes.
WAITS = (1.0, 3.0, 10.0, 30.0, 60.0, 120.0)
# Seconds that one request may take: one that moves files, such as the upload of a round, and any other.
DEADLINE, DEADLINE_OF_QUESTIONS = 3600.0, 30.0
_T = TypeVar("_T")
_LOGGER = logging.getLogger(__name__)
_LOG_IN = "log in with `hf auth login` or set HF_TOKEN to a token with write permission"


class FaultError(Exception):
    """A request that failed, understood; its cause is the client's exception.

    Attributes:
        error: what to show the user.
        again: whether the same request may succeed later.
        wait: seconds that the Hub asks to wait, at least.
        status: of the answer, 0 if none came.
        waits: seconds before each further try.
    """

    def __init__(
        self, error: HubError, again: bool = False, wait: float = 0.0, status: int = 0, waits: tuple[float, ...] = WAITS
    ) -> None:
        super().__init__(str(error))
        self.error, self.again, self.wait, self.status, self.waits = error, again, wait, status, waits


def ask_with_retries(
    call: Callable[[], _T],
    repo: str,
    *,
    caught: type[Exception] | tuple[type[Exception], ...],
    done: Callable[[FaultError], _T | None] = lambda fault: None,
    moves_files: bool = True,
    patient: bool = True,
) -> _T:
    """Ask, and ask again if that may help.

    Args:
        caught: what a failed request raises.
        done: what to return if the request turns out to have been carried out; None if it was not.
        moves_files: whether it may take an hour.
        patient: whether to ask again at all.

    Raises:
        FaultError: it failed for good.
    """
    for attempt in count():
        try:
            return within(DEADLINE if moves_files else DEADLINE_OF_QUESTIONS, call)
        except caught as err:
            fault = understand(err, repo)
            outcome = done(fault)
            if outcome is not None:
                return outcome
            fault.again &= patient
            if not fault.again or attempt >= len(fault.waits):
                raise fault from err
        seconds = max(fault.waits[attempt], fault.wait)
        _LOGGER.warning("%s (asked again in %.0f s)", fault.error, seconds)
        time.sleep(seconds)
    raise AssertionError("the last attempt returns or raises")


def endpoint() -> str:
    """Return the address of the Hub that is asked."""
    return HfApi().endpoint


def understand(err: BaseException, repo: str) -> FaultError:
    """Say what went wrong with a request about a repository."""
    if isinstance(err, OfflineModeIsEnabled):
        return FaultError(UnreachableError(f"{repo}: the Hub was not asked, because HF_HUB_OFFLINE is set"))
    if isinstance(err, LocalTokenNotFoundError):
        return FaultError(AccessError(f"{repo}: there is no token; {_LOG_IN}"))
    for cause in _chain(err):
        if isinstance(cause, HfHubHTTPError):
            return _fault_of_answer(cause, repo)
    # The error numbers of name resolution, and no others, are negative.
    if any(isinstance(cause, OSError) and (cause.errno or 0) < 0 for cause in _chain(err)):
        return FaultError(
            UnreachableError(f"{repo}: the Hub, {endpoint()}, cannot be found ({_first_line(err)}); check the network"),
            again=True,
            # Without a network the resolver fails at once and keeps failing.
            waits=WAITS[:3],
        )
    if any(isinstance(cause, HTTPError | ConnectionError | TimeoutError) for cause in _chain(err)):
        return FaultError(
            UnreachableError(f"{repo}: the Hub does not answer ({_first_line(err)}); try again later"), again=True
        )
    if isinstance(err, _NOT_THE_HUBS):
        return FaultError(
            HubError(f"{repo}: {endpoint()} answered, but not as the Hub does ({_first_line(err)}); check HF_ENDPOINT")
        )
    return FaultError(HubError(f"{repo}: {_first_line(err)}"))


def lacks_xet(err: BaseException) -> bool:
    """Tell whether an upload failed because the Hub that was asked has no Xet storage, as self-hosted ones do not."""
    return any("xet-write-token" in str(cause) and "404" in str(cause) for cause in _chain(err))


def _fault_of_answer(err: HfHubHTTPError, repo: str) -> FaultError:
    status = err.response.status_code
    message = (err.server_message or _first_line(err)).rstrip(".")
    if status in (408, 429) or status >= 500:
        return FaultError(
            UnreachableError(f"{repo}: the Hub answered {status} ({message}); try again later"),
            True,
            retry_after(err.response.headers.get("Retry-After")),
            status,
        )
    if status in (409, 412):
        return FaultError(
            HubError(f"{repo}: {message}; check the repository, then try again"), again=status == 409, status=status
        )
    if status == 403:
        return FaultError(AccessError(f"{repo}: the token may not do this ({message}); {_LOG_IN}"), status=status)
    if isinstance(err, RepositoryNotFoundError) or status == 404:
        return FaultError(HubError(f"{repo} does not exist, or the token cannot see it ({message})"), status=404)
    if status == 401:
        return FaultError(AccessError(f"{repo}: the Hub did not accept the token; {_LOG_IN}"), status=status)
    return FaultError(HubError(f"{repo}: the Hub refused with {status} ({message})"), status=status)


def _chain(err: BaseException | None) -> Iterator[BaseException]:
    while err is not None:
        yield err
        err = err.__cause__ or err.__context__


def _first_line(err: BaseException) -> str:
    return next((line.strip() for line in str(err).splitlines() if line.strip()), type(err).__name__)
