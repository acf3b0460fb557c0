"""arXiv itself: the export API for searches, OAI-PMH for bulk and licences, the bulk host for files."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from urllib.parse import urlencode

from lxml import etree

from builder.errors import SourceError
from builder.ids import author_key, bare_id, stem_of, with_version
from builder.records import NO_LICENSE, Drop, FileType, Paper
from builder.round import taxonomy
from builder.round.model import Round
from builder.round.source import ArxivTable
from builder.sources.arxiv.export_api import BadRequest, ExportApi, phrase, submission_filter
from builder.sources.http_client import DoubtfulAnswer, HttpClient
from builder.sources.metadata_file import once_within, paper_or_drop
from builder.store import Store
from lm_eval_tasks.base.progress import batches
from lm_eval_tasks.base.text import title_key

IDS_AT_ONCE = 200
# How many results of a title's search are checked; more would only have the title as part of theirs.
_HITS = 50
# Late pages of a long list are slow and fail: the manual advises slices.
_LONGEST_LIST = 10_000
_FIRST_DAY = date(1991, 1, 1)
# A stale index has hidden the newest papers from queries that end today: what comes too late is cut off here.
_PADDING = timedelta(days=366)


class ArxivSource:
    """arXiv, asked through one client; files are kept in the workspace.

    The round's categories bound what is harvested, its last day ends an open window.
    """

    def __init__(self, table: ArxivTable, round_: Round, store: Store) -> None:
        self._round, self._harvest = round_, table.harvest
        self._http = HttpClient(table, store, round_.round)
        self._api, self._oai = ExportApi(self._http, table.api), OaiPmh(self._http, table.oai)
        self._files = table.files.rstrip("/")

    def fingerprint(self) -> str:
        """Return the round: arXiv changes daily; within a round it is asked once."""
        return f"arxiv {self._round.round}"

    def by_author(self, name: str, first: date | None = None, last: date | None = None) -> Iterator[Paper | Drop]:
        key = author_key(name)
        query = phrase("au", name)
        if first or last:
            query += " AND " + submission_filter(first or _FIRST_DAY, (last or self._round.last_day) + _PADDING)
        for item in self._api.search(query, patient=True):
            # The search matches words anywhere in the list of authors.
            if isinstance(item, Drop) or (_is_within(item, first, last) and key in map(author_key, item.authors)):
                yield item

    def by_ids(self, ids: Iterable[str]) -> Iterator[Paper | Drop]:
        """Look up papers in batches; ids that an answer lacks are asked for once more, because arXiv silently leaves some out."""
        missing: list[str] = []
        for batch in batches(sorted(set(ids)), IDS_AT_ONCE):
            items = list(self._by_ids(batch))
            yield from items
            received = {item.id for item in items}
            missing += [name for name in batch if bare_id(name) not in received]
        for batch in batches(missing, IDS_AT_ONCE):
            yield from self._by_ids(batch)

    def _by_ids(self, ids: Sequence[str]) -> Iterator[Paper | Drop]:
        """Yield one batch; if arXiv refuses it because of one id, that id is found by halving."""
        try:
            yield from self._api.by_ids(ids)
        except BadRequest:
            if len(ids) == 1:
                yield Drop(ids[0], "bad_record")
            else:
                middle = len(ids) // 2
                yield from self._by_ids(ids[:middle])
                yield from self._by_ids(ids[middle:])

    def submitted_between(self, first: date | None, last: date | None) -> Iterator[Paper | Drop]:
        """Yield the papers of the round's categories, cross-lists included."""
        first, last = first or _FIRST_DAY, last or self._round.last_day
        items = self._list_papers(first, last) if self._harvest == "oai" else self._search_papers(first, last)
        return once_within(items, first, last)

    def _list_papers(self, first: date, last: date) -> Iterator[Paper | Drop]:
        """List papers by OAI-PMH; the versions of revised papers, which it does not give, are looked up by id."""
        revised: dict[str, Paper] = {}
        for set_ in self._sets():
            for record in self._oai.records(set_, first):
                if record.revised and isinstance(record.item, Paper) and _is_within(record.item, first, last):
                    revised[record.item.id] = record.item
                else:
                    yield record.item
        for item in self.by_ids(revised):
            # What cannot be used goes by its address.
            licensed = revised.pop(bare_id(item.id.rpartition("/abs/")[2]), None)
            yield replace(item, license=licensed.license) if isinstance(item, Paper) and licensed else item
        # Left out twice.
        yield from (Drop(id_, "bad_record") for id_ in revised)

    def _sets(self) -> list[str | None]:
        return [taxonomy.oai_set(name) for name in self._round.papers.categories] or [None]

    def _search_papers(self, first: date, last: date) -> Iterator[Paper | Drop]:
        """List papers by the search, in slices of days that are short enough to page through."""
        query = submission_filter(first, last)
        if self._round.papers.categories:
            categories = " OR ".join(f"cat:{name}" for name in taxonomy.expand(self._round.papers.categories))
            query = f"({categories}) AND {query}"
        if first == last or self._api.total(query) <= _LONGEST_LIST:
            yield from self._api.search(query)
            return
        middle = first + (last - first) // 2
        yield from self._search_papers(first, middle)
        yield from self._search_papers(middle + timedelta(days=1), last)

    def search_titles(self, titles: Sequence[str]) -> Iterator[Paper | Drop]:
        keys = tuple(map(title_key, titles))
        for item in self._api.search(phrase("ti", *titles), most=_HITS * len(titles)):
            if isinstance(item, Paper) and title_key(item.title).startswith(keys):
                yield item

    def licenses(self, papers: Iterable[Paper]) -> Iterator[tuple[str, str]]:
        """Look up licences by single records if that takes fewer requests than the lists since the oldest paper."""
        pending = {paper.id: paper.published for paper in papers}
        if not pending:
            return
        oldest = min(pending.values())
        # A day of an archive is about one page of a list.
        if len(pending) <= (self._round.last_day - oldest).days * len(self._sets()):
            records = (record for id_ in list(pending) if (record := self._oai.record(id_)) is not None)
        else:
            records = (record for set_ in self._sets() for record in self._oai.records(set_, oldest))
        for record in records:
            if isinstance(record.item, Paper) and record.item.id in pending:
                del pending[record.item.id]
                yield record.item.id, record.item.license
        # Asked for without success: not to be asked for again.
        yield from ((id_, NO_LICENSE) for id_ in sorted(pending))

    def fetch(self, file_type: FileType, paper_id: str, version: int) -> Path | None:
        path = self._round.workspace / "files" / file_type / f"{with_version(stem_of(paper_id), version)}.{file_type}"
        check = _check_pdf if file_type == "pdf" else _check_html
        return self._http.download(f"{self._files}/{file_type}/{with_version(paper_id, version)}", path, check)


def _is_within(paper: Paper, first: date | None, last: date | None) -> bool:
    return (first or date.min) <= paper.published <= (last or date.max)


def _check_pdf(body: bytes) -> None:
    if b"%PDF" not in body[:1024]:
        raise DoubtfulAnswer(f"{len(body)} bytes that are not a PDF")
    if b"%%EOF" not in body[-2048:]:
        raise DoubtfulAnswer(f"a PDF that ends after {len(body)} bytes", believe=True)


def _check_html(body: bytes) -> None:
    if b"ltx_" not in body:
        raise DoubtfulAnswer(f"{len(body)} bytes that are not a paper made by LaTeXML")
    if b"</html" not in body[-2048:].lower():
        raise DoubtfulAnswer(f"an HTML page that ends after {len(body)} bytes", believe=True)


# --- OAI-PMH: records in bulk, with licences and structured names (https://info.arxiv.org/help/oa/index.html)
#
# Selection is by the day of a record's last change: whatever was submitted since a day is among what changed since it.

_OAI, _ARXIV = "{http://www.openarchives.org/OAI/2.0/}", "{http://arxiv.org/OAI/arXiv/}"
_AUTHOR = f"{_ARXIV}authors/{_ARXIV}author"
_FIELDS = ("id", "title", "abstract", "categories", "updated", "doi", "comments")
# All of arXiv is about 3,000 pages.
_MOST_PAGES = 20_000
_LATER = "try again tomorrow"
_KNOWN_ERRORS = frozenset({"noRecordsMatch", "badResumptionToken", "idDoesNotExist"})


@dataclass(frozen=True, slots=True)
class OaiRecord:
    """One record.

    Attributes:
        item: version 1 if the record was never revised; this format does not give later version numbers.
        revised: whether there is a version later than 1.
        changed: the day of the record's last change.
    """

    item: Paper | Drop
    revised: bool
    changed: str


class OaiPmh:
    """ListRecords and GetRecord in the arXiv format, at an address."""

    def __init__(self, http: HttpClient, url: str) -> None:
        self._http, self._url = http, url

    def records(self, set_: str | None, changed_from: date) -> Iterator[OaiRecord]:
        """Yield every record of a set that changed since a day; a token that expired under way is worked round."""
        start = latest = changed_from.isoformat()
        # The addresses of this list's pages.
        asked: set[str] = set()
        token: str | None = None
        for _ in range(_MOST_PAGES):
            of_list = {"metadataPrefix": "arXiv", "from": start, **({"set": set_} if set_ else {})}
            url = self._address({"verb": "ListRecords", **({"resumptionToken": token} if token else of_list)})
            if url in asked:
                raise self._useless(asked, f"goes in circles: a token of its list from {start} was repeated")
            asked.add(url)
            root = self._get(url)
            if (error := root.find(f"{_OAI}error")) is not None:
                if error.get("code") != "badResumptionToken":
                    return
                if latest == start:
                    raise self._useless(asked, f"gives up its own list from {start}")
                start, token, asked = latest, None, set()
                continue
            for record in map(_record, root.iterfind(f"{_OAI}ListRecords/{_OAI}record")):
                latest = max(latest, record.changed)
                yield record
            token = root.findtext(f"{_OAI}ListRecords/{_OAI}resumptionToken")
            if not token:
                return
        raise self._useless(asked, f"does not end its list from {start}")

    def _useless(self, asked: Iterable[str], what: str) -> SourceError:
        """Return the error of a list whose pages lead nowhere; the next run asks for them again."""
        for url in asked:
            self._http.forget(url)
        return SourceError(f"arXiv's OAI-PMH service {what}; {_LATER}")

    def record(self, paper_id: str) -> OaiRecord | None:
        query = {"verb": "GetRecord", "identifier": f"oai:arXiv.org:{paper_id}", "metadataPrefix": "arXiv"}
        element = self._get(self._address(query)).find(f"{_OAI}GetRecord/{_OAI}record")
        return _record(element) if element is not None else None

    def _address(self, query: dict[str, str]) -> str:
        return f"{self._url}?{urlencode(query)}"

    def _get(self, url: str) -> etree._Element:
        answer = self._http.get(url, _check_oai, patient=True)
        if answer.status != 200:
            raise SourceError(f"arXiv's OAI-PMH service answers with status {answer.status} ({url[:200]})")
        root = _parse(answer.body)
        if (error := root.find(f"{_OAI}error")) is not None and error.get("code") not in _KNOWN_ERRORS:
            raise SourceError(f"arXiv's OAI-PMH service refuses a request: {error.text} ({url[:200]})")
        return root


def _parse(body: bytes) -> etree._Element:
    return etree.fromstring(body, etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True))


def _check_oai(body: bytes) -> None:
    try:
        root = _parse(body)
    except etree.XMLSyntaxError as err:
        raise DoubtfulAnswer("an OAI-PMH answer that is cut off, or not one at all") from err
    if root.tag != f"{_OAI}OAI-PMH":
        raise DoubtfulAnswer("an answer that is not OAI-PMH")
    if (error := root.find(f"{_OAI}error")) is not None and error.get("code") == "noRecordsMatch":
        raise DoubtfulAnswer("an empty list", believe=True)


def _record(element: etree._Element) -> OaiRecord:
    if (header := element.find(f"{_OAI}header")) is None:
        return OaiRecord(Drop("a record without header", "bad_record"), False, "")
    changed = header.findtext(f"{_OAI}datestamp") or ""
    name = (header.findtext(f"{_OAI}identifier") or "").rpartition(":")[2]
    body = element.find(f"{_OAI}metadata/{_ARXIV}arXiv")
    if (is_deleted := header.get("status") == "deleted") or body is None:
        return OaiRecord(Drop(name, "withdrawn" if is_deleted else "bad_record"), False, changed)
    record = {field: _text(body, field) for field in _FIELDS} | {
        "published": _text(body, "created"),
        "authors": [_text(author, "forenames", "keyname", "suffix") for author in body.iterfind(_AUTHOR)],
        "license": _text(body, "license") or NO_LICENSE,
    }
    return OaiRecord(paper_or_drop(record, name), body.find(f"{_ARXIV}updated") is not None, changed)


def _text(element: etree._Element, *names: str) -> str:
    return " ".join(" ".join(element.findtext(f"{_ARXIV}{field}") or "" for field in names).split())
