"""The HTTP client of live sources: polite, patient, and never twice for the same thing.

Rate: what the source's table says; arXiv's is in https://info.arxiv.org/help/api/tou.html (one request every three seconds, one
connection, over all machines).

Traps of arXiv: the service answers 429 without Retry-After, 503 with `Retry-After: 0`, 200 with an error text in the body, and
403 where continuing would count as an attack (https://info.arxiv.org/help/robots.html).
"""

import asyncio
import gzip
import io
import random
import time
import zlib
from collections import Counter
from collections.abc import Callable
from importlib.metadata import version
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import httpx2

from builder.errors import SourceError
from builder.round.source import LiveTable
from builder.store import Store
from builder.store.tables import StoredAnswer
from lm_eval_tasks.base.files import write_whole
from lm_eval_tasks.base.progress import LONGEST_WAIT, announce_wait, retry_after

TRANSIENT_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})
# Answers that asking again does not change; the caller makes sense of them.
FINAL_STATUS = frozenset({200, 400, 404, 410})
TRIES = 7
# For files that are not what they should be: how often one is asked for, and how many in a row are the server's doing.
_FILE_TRIES, _MOST_ODD_FILES = 3, 5
# A minute, at arXiv's three seconds between requests.
_LATER = 20
# Seconds to wait for a connection, and for the next byte.
_CONNECT, _SILENCE = 10.0, 60.0
# A machine that is offline should say so soon.
UNREACHABLE_TRIES = 3
_OFFLINE = ", or try a made-up round, which needs no network (`academiceval init --source sample`)"
OVERLOAD = b"Rate exceeded"
_ANY_ROUND = ""
_MOST_REDIRECTS = 3
_MOST_BYTES = 200_000_000


class DoubtfulAnswer(Exception):
    """An answer that looks wrong: it is asked for again.

    Attributes:
        believe: whether the answer is accepted when the same doubt comes twice in a row; for this run only: a later
            one asks again.
    """

    def __init__(self, message: str, *, believe: bool = False) -> None:
        super().__init__(message)
        self.believe = believe


class _TransientFailure(Exception):
    def __init__(self, message: str, *, wait: float = 0.0, tries: int = TRIES) -> None:
        super().__init__(message)
        self.wait, self.tries = wait, tries


class _Doubted(SourceError):
    """An answer that kept looking wrong."""


class HttpClient:
    """GET requests, one at a time. Only one process uses a workspace at a time, so all share one connection.

    The store keeps the answers of the round and the time of the last request.
    """

    def __init__(self, source: LiveTable, store: Store, round_: str) -> None:
        self._source, self._answers, self._round, self._odd_files = source, store.answers, round_, 0
        self._certificates = httpx2.create_ssl_context()
        # Answers that were believed despite a doubt: for this run.
        self._believed: dict[str, StoredAnswer] = {}

    def get(self, url: str, check: Callable[[bytes], None] | None = None, *, patient: bool = False) -> StoredAnswer:
        """Return the round's answer to a URL, asked for if it is not there yet.

        Args:
            check: raises `DoubtfulAnswer` if the body of a status 200 cannot be right.
            patient: whether a doubt is believed only when it comes once more a minute later: for questions whose answers decide
                how a round continues.

        Raises:
            SourceError: the server cannot be reached, refuses, or keeps failing.
        """
        answer = self._believed.get(url) or self._answers.get(url, self._round)
        if answer is None:
            answer, doubted = self._ask(url, check, TRIES, patient=patient)
            if doubted:
                self._believed[url] = answer
            else:
                self._answers.put(url, self._round, answer)
        return answer

    def forget(self, url: str) -> None:
        """Ask again, when it is needed, for what was answered and led nowhere."""
        self._believed.pop(url, None)
        self._answers.forget(url, self._round)

    def download(self, url: str, path: Path, check: Callable[[bytes], None]) -> Path | None:
        """Fetch a file once, whatever the round; the file appears once it is complete.

        What is not the kind of file that it should be is never kept. A file that only looks incomplete is used, under another
        name, and asked for again by the next run.

        Returns:
            The file; None if the server has none, or gave something else in its place.

        Raises:
            SourceError: as `get`; or several files in a row were something else, so that it is the server's doing.
        """
        if path.is_file():
            return path
        if self._answers.get(url, _ANY_ROUND) is not None:
            return None
        try:
            answer, doubted = self._ask(url, check, _FILE_TRIES)
        except _Doubted:
            self._odd_files += 1
            if self._odd_files >= _MOST_ODD_FILES:
                raise
            return None
        self._odd_files = 0
        doubtful = path.with_stem(f"{path.stem}.doubtful")
        if answer.status != 200 and doubtful.is_file():
            return doubtful
        if answer.status != 200:
            self._answers.put(url, _ANY_ROUND, StoredAnswer(answer.status, b""))
            return None
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(doubtful if doubted else path, answer.body)
        if doubted:
            return doubtful
        doubtful.unlink(missing_ok=True)
        return path

    def _ask(
        self, url: str, check: Callable[[bytes], None] | None, tries: int, *, patient: bool = False
    ) -> tuple[StoredAnswer, bool]:
        """Ask until an answer can be believed; returns the answer, and whether a doubt remains."""
        # The same doubt, time after time.
        doubts: list[str] = []
        # Failures are counted for each kind on its own: whether there is an answer that may be none, and how often it may fail.
        failed: Counter[tuple[bool, int]] = Counter()
        for attempt in count():
            try:
                answer = self._follow(url)
                if answer.status == 200 and check is not None:
                    check(answer.body)
                return answer, False
            except _TransientFailure as err:
                failure = err
                doubts.clear()
            except DoubtfulAnswer as doubt:
                doubts = [*(said for said in doubts if said == str(doubt)), str(doubt)]
                if doubt.believe and len(doubts) > 1 + patient:
                    return answer, True
                wait = _LATER * self._source.delay if patient and len(doubts) == 2 else 0.0
                failure = _TransientFailure(str(doubt), wait=wait, tries=tries)
            kind = bool(doubts), failure.tries
            failed[kind] += 1
            if failed[kind] >= failure.tries:
                raise (_Doubted if doubts else SourceError)(
                    f"{_host(url)} failed {failure.tries} times, last: {failure} ({url[:200]}); what was "
                    f"fetched is kept; run the same command again later{_OFFLINE * (not doubts and failure.tries == UNREACHABLE_TRIES)}"
                ) from failure
            # It doubles each time, with jitter, is at least what the server asked for, and ends.
            wait = min(max(self._source.delay * 2**attempt * random.uniform(1, 1.5), failure.wait), LONGEST_WAIT)
            announce_wait(wait, f"{_host(url)} is asked again after {failure}")
            time.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _follow(self, url: str) -> StoredAnswer:
        """Return one request, and the redirects within its host."""
        for _ in range(_MOST_REDIRECTS + 1):
            response, body = self._request(url)
            if response.next_request is None:
                return _judged(url, response, body)
            target = str(response.next_request.url)
            if urlsplit(target).netloc != urlsplit(url).netloc:
                raise SourceError(f"{url[:200]} redirects to another host ({target[:200]}), which is refused")
            url = target
        raise SourceError(f"{url[:200]} redirects more than {_MOST_REDIRECTS} times")

    def _request(self, url: str) -> tuple[httpx2.Response, bytes]:
        host, began = _host(url), time.monotonic()
        # Since the last request of any process; a clock that was set back must not make us wait for the old time to come again.
        time.sleep(max(0.0, self._source.delay - max(0.0, time.time() - self._answers.last_request())))
        self._answers.count_request(host, time.time())
        try:
            return asyncio.run(self._receive(url))
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as err:
            raise _TransientFailure("it cannot be reached (is this machine online?)", tries=UNREACHABLE_TRIES) from err
        except (TimeoutError, httpx2.TimeoutException) as err:
            raise _TransientFailure(f"no whole answer in {round(time.monotonic() - began, 1):g} s") from err
        except (httpx2.NetworkError, httpx2.RemoteProtocolError, httpx2.DecodingError) as err:
            raise _TransientFailure("the connection broke off") from err
        except (httpx2.HTTPError, httpx2.InvalidURL) as err:
            raise SourceError(f"cannot ask {url[:200]}: {err}") from err
        finally:
            self._answers.add_seconds(host, time.monotonic() - began)

    async def _receive(self, url: str) -> tuple[httpx2.Response, bytes]:
        """One answer from first byte to last, in the time of one answer: the client's own limits are for each read."""
        seconds, body = self._source.timeout, bytearray()
        waits = httpx2.Timeout(min(_SILENCE, seconds), connect=min(_CONNECT, seconds))
        headers = {
            "User-Agent": f"academiceval/{version('academiceval')} ({self._source.contact})",
            "Accept-Encoding": "gzip",
        }
        async with (
            asyncio.timeout(seconds),
            httpx2.AsyncClient(headers=headers, timeout=waits, verify=self._certificates) as client,
            client.stream("GET", url) as response,
        ):
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > _MOST_BYTES:
                    break
        # What else a server says is told by its status alone.
        plain = _unpacked(bytes(body), response.headers.get("Content-Encoding", "") if response.is_success else "")
        if len(plain) > _MOST_BYTES:
            raise SourceError(f"{url[:200]} sends more than {_MOST_BYTES} bytes, which is refused")
        return response, plain


def _judged(url: str, response: httpx2.Response, body: bytes) -> StoredAnswer:
    status = response.status_code
    if status == 403:
        raise SourceError(
            f"{_host(url)} denies access (403); stop, and write to its help desk before asking again: "
            "continuing counts as an attack"
        )
    if status in TRANSIENT_STATUS:
        raise _TransientFailure(f"status {status}", wait=retry_after(response.headers.get("Retry-After")))
    if status not in FINAL_STATUS:
        raise SourceError(f"{url[:200]} answers with status {status}")
    if body.lstrip().startswith(OVERLOAD):
        raise _TransientFailure(f"status {status} with the text {body[:40].decode(errors='replace')!r}")
    return StoredAnswer(status, body)


def _host(url: str) -> str:
    """Return the host and port, without the user and password that an address may contain."""
    return urlsplit(url).netloc.rpartition("@")[2]


def _unpacked(body: bytes, encoding: str) -> bytes:
    """Return a body as it was before the server packed it, as far as it is not too large.

    httpx2 reads the first member of a gzip file alone, and takes one that was cut off for whole.
    """
    codings = {coding.strip().lower() for coding in encoding.split(",")} - {"", "identity"}
    if not codings or len(body) > _MOST_BYTES:
        return body
    if not codings <= {"gzip", "x-gzip"}:
        raise _TransientFailure(f"an answer packed as {encoding[:40]!r}, which was not asked for")
    try:
        with gzip.open(io.BytesIO(body)) as file:
            return file.read(_MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as err:
        raise _TransientFailure("an answer that was cut off") from err
