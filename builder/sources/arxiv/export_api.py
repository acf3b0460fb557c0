"""The export API: queries as its new service (November 2025) reads them, and its feeds as papers.

https://info.arxiv.org/help/api/user-manual.html; the `arxiv` package turns pages and parses them.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from itertools import islice
from types import SimpleNamespace

import arxiv
from lxml import etree

from builder.errors import SourceError
from builder.ids import bare_id
from builder.records import Drop, Paper
from builder.sources.http_client import DoubtfulAnswer, HttpClient
from builder.sources.metadata_file import paper_or_drop
from lm_eval_tasks.base.text import day, without_marks

PAGE = 2000  # the most that a page may contain
_ATOM, _TOTAL = "{http://www.w3.org/2005/Atom}", "{http://a9.com/-/spec/opensearch/1.1/}totalResults"
_START, _COUNT = re.compile(r"\bstart=(\d+)"), re.compile(r"\d{1,9}")
# Characters that mean something in a query; a phrase does without them.
_SYNTAX = re.compile(r'["\\():\[\]]')


class BadRequest(SourceError):
    """The service understood a request and refuses it (status 400)."""


class ExportApi:
    """Searches and look-ups by id, at an address."""

    def __init__(self, http: HttpClient, url: str) -> None:
        self._http, self._url = http, url

    def search(self, query: str, *, patient: bool = False, most: int | None = None) -> Iterator[Paper | Drop]:
        """Yield all that a query finds, or `most` of it, in one request; oldest first. `patient` as of `HttpClient.get`."""
        return islice(self._results(_oldest_first(query), min(PAGE, most or PAGE), patient=patient), most)

    def total(self, query: str) -> int:
        """Return how many papers a query finds; the page that says so is used again by `search`."""
        pages = _Pages(self._http)
        next(client(self._url, PAGE, pages).results(_oldest_first(query)), None)
        return pages.total

    def by_ids(self, ids: Sequence[str]) -> Iterator[Paper | Drop]:
        """Yield the papers of some ids in one request; the service leaves out those it does not know."""
        yield from self._results(arxiv.Search(id_list=list(ids), max_results=None), len(ids))

    def _results(self, search: arxiv.Search, page: int, *, patient: bool = False) -> Iterator[Paper | Drop]:
        pages = _Pages(self._http, patient=patient)
        try:
            for result in client(self._url, page, pages).results(search):
                yield to_paper(result)
        except (arxiv.ArxivError, ValueError, TypeError, AttributeError) as err:
            raise SourceError(f"arXiv's feed cannot be read ({type(err).__name__}: {err})") from err
        for entry in pages.unusable:
            yield Drop(entry, "bad_record")


def client(address: str, page_size: int, session: object) -> arxiv.Client:
    """Return a client that asks through a session of ours, once for each page.

    A public way would be arguments of `arxiv.Client` for the service's address and for a session.
    """
    arxiv_client = arxiv.Client(page_size=page_size, delay_seconds=0, num_retries=0)
    arxiv_client.query_url_format = f"{address}?{{}}"
    arxiv_client._session = session
    return arxiv_client


def _oldest_first(query: str) -> arxiv.Search:
    return arxiv.Search(
        query, max_results=None, sort_by=arxiv.SortCriterion.SubmittedDate, sort_order=arxiv.SortOrder.Ascending
    )


class _Pages:
    """Replaces the session of the `arxiv` package: pages come through our client, checked."""

    def __init__(self, http: HttpClient, *, patient: bool = False) -> None:
        self._http, self._patient, self.total = http, patient, 0
        self._seen: set[bytes] = set()
        self.unusable: list[str] = []

    def get(self, url: str, headers: object = None) -> SimpleNamespace:
        # The package counts the entries that it was given; those that were taken out count for the service.
        url = _START.sub(lambda start: f"start={int(start[1]) + len(self.unusable)}", url)
        answer = self._http.get(url, check_feed, patient=self._patient)
        if answer.status == 400:
            raise BadRequest(f"arXiv refuses a request: {_summary(answer.body)} ({url[:200]})")
        if answer.status != 200:
            raise SourceError(f"arXiv has no export API at {url[:200]} (status {answer.status})")
        root = etree.fromstring(answer.body, _parser())
        entries = hashlib.sha256(b"".join(map(etree.tostring, root.iterfind(f"{_ATOM}entry")))).digest()
        if entries in self._seen:
            # An answer that is kept would be the same for ever.
            self._http.forget(url)
            raise SourceError(
                f"arXiv's search goes in circles: a page of results was repeated ({url[:200]}); try again later"
            )
        self._seen.add(entries)
        self.total = _total(root) or 0
        self.unusable += _drop_unusable(root)
        for element in root.iterfind(_TOTAL):
            element.text = str(max(0, self.total - len(self.unusable)))
        return SimpleNamespace(status_code=200, content=etree.tostring(root))


def _parser() -> etree.XMLParser:
    return etree.XMLParser(resolve_entities=False, no_network=True)


def check_feed(body: bytes) -> None:
    """Raise `DoubtfulAnswer` for a body that is not a whole feed, and for a page without the entries that it should have.

    An empty first page is believed when it comes twice; a page that announces papers and contains none never is.
    """
    try:
        root = etree.fromstring(body, _parser())
    except etree.XMLSyntaxError as err:
        raise DoubtfulAnswer("a feed that is cut off, or not a feed at all") from err
    if root.tag != f"{_ATOM}feed":
        raise DoubtfulAnswer("an answer that is not a feed")
    if (total := _total(root)) is None:
        raise DoubtfulAnswer("a feed without the number of results")
    if root.find(f"{_ATOM}entry") is None:
        raise DoubtfulAnswer("an empty page", believe=total == 0)


def _total(root: etree._Element) -> int | None:
    text = (root.findtext(_TOTAL) or "").strip()
    return int(text) if _COUNT.fullmatch(text) else None


def _drop_unusable(root: etree._Element) -> Iterator[str]:
    """Remove the entries that are not valid, and say which: the package would skip them, or fail on them."""
    for entry in root.findall(f"{_ATOM}entry"):
        name = entry.findtext(f"{_ATOM}id")
        if not name or not all(_is_moment(entry.findtext(f"{_ATOM}{of}")) for of in ("published", "updated")):
            root.remove(entry)
            yield (name or "an entry without id")[:100]


def _is_moment(text: str | None) -> bool:
    try:
        return bool(day((text or "").strip()[:10]) and datetime.fromisoformat((text or "").strip()))
    except ValueError:
        return False


def _summary(body: bytes) -> str:
    try:
        entry = etree.fromstring(body, _parser()).find(f"{_ATOM}entry")
        return (entry.findtext(f"{_ATOM}summary") if entry is not None else None) or "it does not say why"
    except etree.XMLSyntaxError:
        return "it does not say why"


def to_paper(result: arxiv.Result) -> Paper | Drop:
    """Return one entry as a paper."""
    name = result.get_short_id()
    record = {
        "id": name,
        "title": result.title,
        "abstract": result.summary,
        "authors": [author.name for author in result.authors],
        "categories": [name for name in dict.fromkeys([result.primary_category, *result.categories]) if name],
        "published": result.published.date().isoformat(),
        "updated": result.updated.date().isoformat(),
        "doi": result.doi,
        "comments": result.comment,
    }
    return paper_or_drop(record, bare_id(name))


# --- queries


def phrase(prefix: str, *texts: str) -> str:
    """Ask for any of some phrases in a field, with and without accents: which form the service matches has changed before."""
    plain = [" ".join(_SYNTAX.sub(" ", text).split()) for text in texts]
    forms = dict.fromkeys(form for words in plain for form in (words, without_marks(words)))
    query = " OR ".join(f'{prefix}:"{form}"' for form in forms)
    return f"({query})" if len(forms) > 1 else query


def submission_filter(first: date, last: date) -> str:
    """Return the days of version 1, both included, GMT, to the minute: the only date filter that is documented."""
    return f"submittedDate:[{first:%Y%m%d}0000 TO {last:%Y%m%d}2359]"
