"""The HTTP client: polite, patient, and never twice for the same thing.

Rate: https://info.arxiv.org/help/api/tou.html (one request every three seconds, one connection, over all machines).
Traps: the service answers 429 without Retry-After, 503 with `Retry-After: 0`, 200 with an error text in the body, and
403 where going on would count as an attack (https://info.arxiv.org/help/robots.html).
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import requests
from filelock import FileLock

from builder.errors import SourceError
from builder.store import Answer, Store
from lm_eval_tasks.files import write_whole
from lm_eval_tasks.version import VERSION

if TYPE_CHECKING:
    from builder.round.source import ArxivTable

TRANSIENT_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})
TRANSIENT_ERRORS = (
    requests.Timeout, requests.ConnectionError, requests.exceptions.ChunkedEncodingError,
    requests.exceptions.ContentDecodingError,
)  # fmt: skip
# Answers that asking again does not change; the caller makes sense of them.
FINAL_STATUS = frozenset({200, 400, 404, 410})
TRIES = 7
# A machine that is offline should say so soon.
UNREACHABLE_TRIES = 3
LONGEST_WAIT = 300.0
OVERLOAD = b"Rate exceeded"
_ANY_ROUND = ""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS = 3
_MOST_BYTES = 200_000_000


class DoubtfulAnswer(Exception):
    """An answer that looks wrong: it is asked for again.

    Attributes:
        believe: whether the answer is taken for true when the same doubt comes twice running.
    """

    def __init__(self, message: str, *, believe: bool = False) -> None:
        super().__init__(message)
        self.believe = believe


class _TransientFailure(Exception):
    """A request that failed in a way that may pass."""

    def __init__(self, message: str, *, wait: float = 0.0, tries: int = TRIES) -> None:
        super().__init__(message)
        self.wait = wait
        self.tries = tries


class HttpClient:
    """GET requests, one at a time over all processes of a workspace.

    Args:
        store: keeps the answers of the round and the time of the last request.
        workspace: holds the lock; a file, because the system frees it however its holder ends.
    """

    def __init__(self, source: ArxivTable, store: Store, workspace: Path, round_: str) -> None:
        self._source, self._answers, self._round = source, store.answers, round_
        self._lock = FileLock(workspace / "network.lock")
        self._session = requests.Session()
        self._session.headers["User-Agent"] = f"academiceval/{VERSION} ({source.contact})"

    def get(self, url: str, check: Callable[[bytes], None] | None = None) -> Answer:
        """The round's answer to a URL, asked for where it is not there yet.

        Args:
            check: raises `DoubtfulAnswer` where the body of a status 200 cannot be right.

        Raises:
            SourceError: the server cannot be reached, refuses, or goes on failing.
        """
        answer = self._answers.get(url, self._round)
        if answer is None:
            answer = self._ask(url, check)
            self._answers.put(url, self._round, answer)
        return answer

    def download(self, url: str, place: Path, check: Callable[[bytes], None]) -> Path | None:
        """Fetch a file once, in whatever round; None where the server has none. The file appears when it is whole."""
        if place.is_file():
            return place
        if self._answers.get(url, _ANY_ROUND) is not None:
            return None
        answer = self._ask(url, check)
        if answer.status != 200:
            self._answers.put(url, _ANY_ROUND, Answer(answer.status, b""))
            return None
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, answer.body)
        return place

    def _ask(self, url: str, check: Callable[[bytes], None] | None) -> Answer:
        """Ask until an answer can be believed."""
        doubted = ""
        tried = 0
        while True:
            tried += 1
            try:
                answer = self._follow(url)
                if answer.status == 200 and check is not None:
                    try:
                        check(answer.body)
                    except DoubtfulAnswer as doubt:
                        if not doubt.believe or doubted != str(doubt):
                            doubted = str(doubt)
                            raise _TransientFailure(doubted) from doubt
                return answer
            except _TransientFailure as trouble:
                if tried >= trouble.tries:
                    raise SourceError(
                        f"{urlsplit(url).netloc} failed {tried} times, last: {trouble} ({url[:200]}); what was "
                        "fetched is kept, give the same command again later"
                    ) from trouble
                time.sleep(self._back_off(tried, trouble.wait))

    def _back_off(self, tried: int, asked: float) -> float:
        """Seconds to wait: doubled each time, with jitter, at least what the server asked for, never endless."""
        wait = self._source.delay * 2.0 ** (tried - 1)
        return min(max(wait * random.uniform(1, 1.5), asked), LONGEST_WAIT)

    def _follow(self, url: str) -> Answer:
        """One request, and the redirects within its host."""
        for _ in range(_MOST_REDIRECTS + 1):
            response, body = self._request(url)
            if response.status_code not in _REDIRECTS:
                return self._judge(url, response, body)
            target = urljoin(url, response.headers.get("Location", ""))
            if urlsplit(target).netloc != urlsplit(url).netloc:
                raise SourceError(f"{url[:200]} redirects to another host ({target[:200]}), which is refused")
            url = target
        raise SourceError(f"{url[:200]} redirects more than {_MOST_REDIRECTS} times")

    def _judge(self, url: str, response: requests.Response, body: bytes) -> Answer:
        status = response.status_code
        if status == 403:
            raise SourceError(
                f"{urlsplit(url).netloc} denies access (403); stop, and write to its help desk before asking again: "
                "going on counts as an attack"
            )
        if status in TRANSIENT_STATUS:
            raise _TransientFailure(f"status {status}", wait=_retry_after(response))
        if status not in FINAL_STATUS:
            raise SourceError(f"{url[:200]} answers with status {status}")
        if body.lstrip().startswith(OVERLOAD):
            raise _TransientFailure(f"status {status} with the text {body[:40].decode(errors='replace')!r}")
        return Answer(status, body)

    def _request(self, url: str) -> tuple[requests.Response, bytes]:
        host = urlsplit(url).netloc
        with self._lock:
            began = self._wait_for_turn(host)
            try:
                with self._session.get(
                    url, timeout=(min(10.0, self._source.timeout), self._source.timeout), allow_redirects=False,
                    stream=True,
                ) as response:  # fmt: skip
                    return response, _read(response)
            except requests.ConnectionError as err:
                raise _TransientFailure(_plain(err), tries=TRIES if _was_reached(err) else UNREACHABLE_TRIES) from err
            except TRANSIENT_ERRORS as err:
                raise _TransientFailure(_plain(err)) from err
            except requests.RequestException as err:
                raise SourceError(f"cannot ask {url[:200]}: {_plain(err)}") from err
            finally:
                self._answers.add_seconds(host, time.monotonic() - began)

    def _wait_for_turn(self, host: str) -> float:
        """Wait until the delay since the last request of any process is over; returns when the waiting began."""
        began = time.monotonic()
        # A clock that was set back must not make us wait for the old time to come again.
        since = max(0.0, time.time() - self._answers.last_request())
        time.sleep(max(0.0, self._source.delay - since))
        self._answers.count_request(host, time.time())
        return began


def _read(response: requests.Response) -> bytes:
    chunks, size = [], 0
    for chunk in response.iter_content(1 << 16):
        chunks.append(chunk)
        size += len(chunk)
        if size > _MOST_BYTES:
            raise SourceError(f"{response.url[:200]} sends more than {_MOST_BYTES} bytes, which is refused")
    return b"".join(chunks)


def _retry_after(response: requests.Response) -> float:
    """Seconds that the server asks to wait, as a number or a date; 0 where it says nothing that helps."""
    text = response.headers.get("Retry-After", "")
    with suppress(ValueError):
        return max(0.0, float(text))
    with suppress(ValueError, TypeError):
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    return 0.0


def _was_reached(err: requests.ConnectionError) -> bool:
    """Whether there was a connection that broke, rather than none (no such name, no route, refused)."""
    return "NewConnectionError" not in repr(err) and "NameResolutionError" not in repr(err)


def _plain(err: Exception) -> str:
    """An error of the transport as a few words."""
    if isinstance(err, requests.ConnectionError) and not _was_reached(err):
        return "it cannot be reached (is this machine online?)"
    return "no answer in time" if isinstance(err, requests.Timeout) else "the connection broke off"
