"""OAI-PMH: records in bulk, with licences and structured names (https://info.arxiv.org/help/oa/index.html).

Selection is by the day of a record's last change: whatever was submitted since a day is among what changed since it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from urllib.parse import urlencode

from lxml import etree

from builder.errors import SourceError
from builder.records import NO_LICENSE, Drop, Paper
from builder.sources.http_client import DoubtfulAnswer, HttpClient
from builder.sources.metadata_file import paper_or_drop

_OAI = "{http://www.openarchives.org/OAI/2.0/}"
_ARXIV = "{http://arxiv.org/OAI/arXiv/}"
_AUTHOR = f"{_ARXIV}authors/{_ARXIV}author"
_PARTS = ("id", "title", "abstract", "categories", "updated", "doi", "comments")
# All of arXiv is about 3,000 pages.
_MOST_PAGES = 20_000
_LATER = "what was fetched is kept, try again tomorrow"
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
        """Every record of a set that changed since a day; a token that expired under way is worked round."""
        start = latest = changed_from.isoformat()
        seen: set[str] = set()
        token: str | None = None
        for _ in range(_MOST_PAGES):
            of_list = {"metadataPrefix": "arXiv", "from": start, **({"set": set_} if set_ else {})}
            root = self._get({"verb": "ListRecords", **({"resumptionToken": token} if token else of_list)})
            error = root.find(f"{_OAI}error")
            if error is not None:
                if error.get("code") != "badResumptionToken":
                    return
                if latest == start:
                    raise SourceError(f"arXiv's OAI-PMH service gives up its own list from {start}; {_LATER}")
                start, token, seen = latest, None, set()
                continue
            for record in map(_record, root.iterfind(f"{_OAI}ListRecords/{_OAI}record")):
                latest = max(latest, record.changed)
                yield record
            token = root.findtext(f"{_OAI}ListRecords/{_OAI}resumptionToken")
            if not token:
                return
            if token in seen:
                raise SourceError(
                    f"arXiv's OAI-PMH service goes in circles: a token of its list from {start} was repeated; {_LATER}"
                )
            seen.add(token)
        raise SourceError(f"arXiv's OAI-PMH service does not end its list from {start}; {_LATER}")

    def record(self, paper_id: str) -> OaiRecord | None:
        """One record; None if there is none."""
        root = self._get({"verb": "GetRecord", "identifier": f"oai:arXiv.org:{paper_id}", "metadataPrefix": "arXiv"})
        element = root.find(f"{_OAI}GetRecord/{_OAI}record")
        return _record(element) if element is not None else None

    def _get(self, query: dict[str, str]) -> etree._Element:
        url = f"{self._url}?{urlencode(query)}"
        answer = self._http.get(url, _check, patient=True)
        if answer.status != 200:
            raise SourceError(f"arXiv's OAI-PMH service answers with status {answer.status} ({url[:200]})")
        root = _parse(answer.body)
        error = root.find(f"{_OAI}error")
        if error is not None and error.get("code") not in _KNOWN_ERRORS:
            raise SourceError(f"arXiv's OAI-PMH service refuses a request: {error.text} ({url[:200]})")
        return root


def _parse(body: bytes) -> etree._Element:
    return etree.fromstring(body, etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True))


def _check(body: bytes) -> None:
    try:
        root = _parse(body)
    except etree.XMLSyntaxError as err:
        raise DoubtfulAnswer("an OAI-PMH answer that is cut off, or not one at all") from err
    if root.tag != f"{_OAI}OAI-PMH":
        raise DoubtfulAnswer("an answer that is not OAI-PMH")
    error = root.find(f"{_OAI}error")
    if error is not None and error.get("code") == "noRecordsMatch":
        raise DoubtfulAnswer("an empty list", believe=True)


def _record(element: etree._Element) -> OaiRecord:
    header = element.find(f"{_OAI}header")
    if header is None:
        return OaiRecord(Drop("a record without header", "bad_record"), False, "")
    changed = header.findtext(f"{_OAI}datestamp") or ""
    name = (header.findtext(f"{_OAI}identifier") or "").rpartition(":")[2]
    body = element.find(f"{_OAI}metadata/{_ARXIV}arXiv")
    if header.get("status") == "deleted":
        return OaiRecord(Drop(name, "withdrawn"), False, changed)
    if body is None:
        return OaiRecord(Drop(name, "bad_record"), False, changed)
    record = {part: _text(body, part) for part in _PARTS} | {
        "published": _text(body, "created"),
        "authors": [_text(author, "forenames", "keyname", "suffix") for author in body.iterfind(_AUTHOR)],
        "license": _text(body, "license") or NO_LICENSE,
    }
    return OaiRecord(paper_or_drop(record, name), body.find(f"{_ARXIV}updated") is not None, changed)


def _text(element: etree._Element, *parts: str) -> str:
    return " ".join(" ".join(element.findtext(f"{_ARXIV}{part}") or "" for part in parts).split())
