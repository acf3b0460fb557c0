"""Europe PMC's REST service: searches page by page, and the full texts of open-access articles.

https://europepmc.org/RestfulWebService. Traps: the end of a list is a cursor that is repeated, not one that is absent; pages
come incomplete under load, so that what came is compared with the number that was announced.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from builder.errors import ExtractError, SourceError
from builder.ids import PaperId, stem_of
from builder.sources.http_client import DoubtfulAnswer, HttpClient
from builder.sources.jats.front import ids_of
from builder.sources.jats.markup import parse_article
from lm_eval_tasks.base.text import ODD, parse_json

_LOGGER = logging.getLogger(__name__)
# The most that a page may contain.
PAGE = 1000


class RestApi:
    """Searches, and full texts, which are kept in a folder."""

    def __init__(self, http: HttpClient, url: str, files: Path) -> None:
        self._http, self._url, self._files = http, url.rstrip("/"), files

    def search(self, query: str, most: int | None = None) -> Iterator[dict[str, Any]]:
        """All results of a query, or `most` of them; a SourceError if the service refuses, or its list does not end."""
        cursor, seen = "*", 0
        known: set[object] = set()
        while True:
            page = self._page(query, cursor, min(PAGE, most or PAGE), seen)
            results = page["resultList"]["result"]
            ids = {(str(result.get("source")), str(result.get("id"))) for result in results}
            if results and known.issuperset(ids):
                raise SourceError(
                    f"Europe PMC's list goes in circles ({query[:200]}); run the same command again later"
                )
            known |= ids
            yield from results[: None if most is None else most - seen]
            seen += len(results)
            after = page.get("nextCursorMark")
            if not results or not after or after == cursor or seen >= page["hitCount"] or (most and seen >= most):
                if seen < min(page["hitCount"], most or page["hitCount"]):
                    _LOGGER.warning(
                        "Europe PMC announced %d results and gave %d: %s", page["hitCount"], seen, query[:200]
                    )
                return
            cursor = after

    def _page(self, query: str, cursor: str, size: int, seen: int) -> dict[str, Any]:
        parameters = {"query": query, "resultType": "core", "format": "json", "pageSize": size, "cursorMark": cursor}
        answer = self._http.get(f"{self._url}/search?{urlencode(parameters)}", partial(_check_page, size, seen))
        if answer.status != 200:
            raise SourceError(f"Europe PMC refuses a search (status {answer.status}): {query[:200]}")
        page: dict[str, Any] = parse_json(answer.body)
        return page

    def full_text(self, paper_id: str, known_as: str) -> Path | None:
        """The file of an article, fetched once; None if Europe PMC has no open full text of it.

        Args:
            paper_id: what the file is named by.
            known_as: its id in PubMed Central, or as a preprint.
        """
        parsed = PaperId.parse(known_as)
        if parsed is None or parsed.kind not in ("pmcid", "ppr"):
            return None
        place = self._files / f"{stem_of(paper_id)}.xml"
        check = partial(_check_article, {paper_id, parsed.bare})
        return self._http.download(f"{self._url}/{parsed.bare}/fullTextXML", place, check)


def _check_page(size: int, seen: int, body: bytes) -> None:
    """Check a page of results, which has `size` of them if it is full, and before which `seen` came."""
    try:
        page = parse_json(body)
        hits, results = page["hitCount"], page["resultList"]["result"]
        missing = min(size, hits - seen) - len(results)
        after = page.get("nextCursorMark")
        if not all(isinstance(result, dict) for result in results) or not isinstance(after, str | None):
            raise ValueError
    except ODD as err:
        raise DoubtfulAnswer("an answer that is not a page of results") from err
    if missing > 0:
        raise DoubtfulAnswer(f"a page that lacks {missing} of {hits} results", believe=True)


def _check_article(ids: set[str], body: bytes) -> None:
    """Check that a body is the article with one of these ids."""
    try:
        metadata = parse_article(body, "the answer").find("front/article-meta")
    except ExtractError as err:
        raise DoubtfulAnswer(f"{len(body)} bytes that are not an article in JATS") from err
    if metadata is None or not ids & set(ids_of(metadata)):
        raise DoubtfulAnswer("another article than was asked for")
