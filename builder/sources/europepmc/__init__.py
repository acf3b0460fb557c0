"""Europe PMC as a source: open-access articles, or preprints, of the days and licences of a round."""

import calendar
import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date, timedelta
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from lxml import html

from builder.errors import ExtractError, SourceError
from builder.ids import PaperId, author_key, bare_ids, stem_of
from builder.records import GROUP, NO_LICENSE, UNKNOWN_LICENSE, Drop, FileType, Paper
from builder.retractions import is_taken_back
from builder.round.model import Round
from builder.round.source import EuropePmcTable
from builder.sources.http_client import DoubtfulAnswer, HttpClient
from builder.sources.jats.front import author_ids_of, category_of, ids_of, orcid
from builder.sources.jats.licenses import license_of
from builder.sources.jats.markup import one_line, parse_article, read_article
from builder.sources.metadata_file import checked_paper, once_within
from builder.store import Store
from lm_eval_tasks.base.contract import Licenses
from lm_eval_tasks.base.progress import batches
from lm_eval_tasks.base.text import ODD, day, parse_json, title_key, valid, without_controls

_HEADING = re.compile(r"<h4>\s*(.*?)\s*:?\s*</h4>\s*", re.DOTALL)
# What is no tag: "age<median", "a<b".
_TAGS = (
    r"[abiup]|br|em|h\d|strong|su[bp]|small|sc|span|div|font|tt|underline|strike|[ou]l|li|list|list-item|italic|bold|title|sec|xref|math"
    r"|inline-formula|disp-formula|alternatives|tex-math|[a-z]+:[a-z]+|m(?:i|n|o|row|su[bp]|subsup|frac|sqrt|text|style|over|under|space)"
)
_LESS = re.compile(rf"<(?!/?(?:{_TAGS})(?:\s+[\w:-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*\s*/?>)", re.IGNORECASE)
# Kinds of publication that report no study of their own.
_NO_RESEARCH = frozenset(
    "editorial,comment,letter,news,correction,retraction of publication,retraction notice,expression of concern,biography,"
    "interview,book review,published erratum,retracted publication".split(",")
)


def paper_of(result: dict[str, Any], field: str) -> Paper | Drop:
    """Return one result as a paper of the field that was searched for, else of its journal's; without a licence: its file decides that."""
    preprint = result.get("id") if result.get("source") == "PPR" else ""
    names = (result.get("doi"), result.get("pmcid"), preprint, f"PMID{result.get('pmid') or ''}")
    # The one that it goes by first.
    ids = bare_ids(str(name or "") for name in names)
    name = ids[0] if ids else str(result.get("id"))[:100]
    try:
        kinds = {str(kind).casefold() for kind in (result.get("pubTypeList") or {}).get("pubType") or ()}
        if kinds & _NO_RESEARCH:
            return Drop(name, "not_research")
        byline = list(_byline(result))
        journal = str(((result.get("journalInfo") or {}).get("journal") or {}).get("title") or "")
        published = day(result["firstPublicationDate"])
        paper = Paper(
            id=ids[0],
            version=1,
            title=plain(result["title"]).removesuffix("."),
            abstract=plain(_HEADING.sub(r"\1: ", result.get("abstractText") or "")),
            authors=tuple(author for author, _ in byline),
            categories=tuple(filter(None, [category_of(field) or category_of(journal)])),
            published=published,
            updated=published,
            license=UNKNOWN_LICENSE,
            doi=next((id_ for id_ in ids if id_.startswith("10.")), ""),
            author_ids=author_ids_of(byline),
            other_ids=tuple(ids[1:]),
        )
        return Drop(name, "withdrawn") if is_taken_back(paper.title, paper.abstract) else checked_paper(paper)
    except ODD:
        return Drop(name, "bad_record")


def _byline(result: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for author in (result.get("authorList") or {}).get("author") or ():
        if group := author.get("collectiveName"):
            yield plain(group), GROUP
        else:
            name = " ".join(word for word in (author.get("firstName"), author.get("lastName")) if word)
            known = author.get("authorId") or {}
            yield (
                plain(name or author["fullName"]),
                orcid(str(known.get("value") or "")) if known.get("type") == "ORCID" else "",
            )


def plain(text: str) -> str:
    """Return a text without its marks, on one line, exponents as in a JATS file."""
    known = _LESS.sub("&lt;", valid(without_controls(text)))
    return one_line(html.fragment_fromstring(known, create_parent="p"))


# As many as fit into an address.
_IDS_AT_ONCE = 40
_FIRST_DAY = date(1900, 1, 1)
# What means something in a query; a phrase does without it.
_SYNTAX = re.compile(r'["\\()\[\]:]')
# Licence of a round -> those of the search. The file's own licence decides: this only spares requests.
_LICENSES: dict[Licenses, tuple[str, ...]] = {
    "all": (),
    "redistributable": ("cc by", "cc0", "cc by-sa"),
    "noncommercial": ("cc by", "cc0", "cc by-sa", "cc by-nc", "cc by-nc-sa"),
}
_FIELD_OF: dict[str, str] = {"doi": "DOI", "pmcid": "PMCID", "ppr": "EXT_ID", "pmid": "EXT_ID"}


class EuropePmcSource:
    """Europe PMC, asked through one client; full texts are kept in the workspace."""

    def __init__(self, table: EuropePmcTable, round_: Round, store: Store) -> None:
        self._table, self._round, self._store = table, round_, store
        self._http, self._url = HttpClient(table, store, round_.round), table.api.rstrip("/")

    def fingerprint(self) -> str:
        """Return the round: Europe PMC changes daily; within a round it is asked once."""
        return f"europepmc {self._round.round} {self._query()} {self._table.papers}"

    def _query(self) -> str:
        """Return what all searches for papers of the round have in common."""
        table = self._table
        clauses = [
            "SRC:PPR AND HAS_FT:y" if table.preprints else "OPEN_ACCESS:y AND IN_EPMC:y AND HAS_FT:y AND LANG:eng"
        ]
        licenses = [f'LICENSE:"{name}"' for name in _LICENSES[self._round.licenses]]
        if licenses:
            clauses.append(f"({' OR '.join(licenses)})")
        if table.field:
            field = _phrase(table.field)
            clauses.append(f"(TITLE:{field} OR ABSTRACT:{field} OR KW:{field} OR JOURNAL:{field})")
        if table.query:
            clauses.append(f"({table.query})")
        return " AND ".join(clauses)

    def by_author(self, name: str, first: date | None = None, last: date | None = None) -> Iterator[Paper | Drop]:
        key = author_key(name)
        days = _between(first or _FIRST_DAY, last or self._round.last_day)
        forms = " OR ".join(f"AUTH:{_phrase(form)}" for form in _indexed_forms(name))
        for item in self._search(f"{self._query()} AND ({forms}) AND {days}"):
            if isinstance(item, Drop) or key in map(author_key, item.authors):
                yield item

    def by_ids(self, ids: Iterable[str]) -> Iterator[Paper | Drop]:
        parsed = [id_ for name in sorted(set(ids)) if (id_ := PaperId.parse(name)) and id_.kind in _FIELD_OF]
        for batch in batches(parsed, _IDS_AT_ONCE):
            terms = (f"{_FIELD_OF[id_.kind]}:{_phrase(id_.bare.removeprefix('PMID'))}" for id_ in batch)
            wanted = {id_.bare for id_ in batch}
            for item in self._search(" OR ".join(terms)):
                # A number may also be the id of something else.
                if isinstance(item, Paper) and wanted & {item.id, *item.other_ids}:
                    yield item

    def submitted_between(self, first: date | None, last: date | None) -> Iterator[Paper | Drop]:
        """Yield the papers of the round's field and licences; if a number is asked for, of each month an equal part of what all months of
        the round's window have.
        """
        first, last = first or _FIRST_DAY, last or self._round.last_day
        papers = self._table.papers
        if not papers:
            return once_within(self._search(f"{self._query()} AND {_between(first, last)}"), first, last)
        months = list(_months(min(first, self._round.papers.published_from or first), last))
        found: list[Iterator[Paper | Drop]] = []
        for number, (since, until) in enumerate(months):
            most = (number + 1) * papers // len(months) - number * papers // len(months)
            if since < first <= until:
                # An update asks for the end of a month again.
                most -= sum(1 for _ in self._store.published_between(since, until))
            if most > 0 and until >= first:
                found.append(self._search(f"{self._query()} AND {_between(max(since, first), until)}", most))
        return once_within(chain.from_iterable(found), first, last)

    def search_titles(self, titles: Sequence[str]) -> Iterator[Paper | Drop]:
        keys = tuple(map(title_key, titles))
        query = " OR ".join(f"TITLE:{_phrase(title)}" for title in titles)
        for item in self._search(f"({query})", 50 * len(titles)):
            if isinstance(item, Paper) and title_key(item.title).startswith(keys):
                yield item

    def _search(self, query: str, most: int | None = None) -> Iterator[Paper | Drop]:
        return (paper_of(result, self._table.field) for result in search(self._http, self._url, query, most))

    def licenses(self, papers: Iterable[Paper]) -> Iterator[tuple[str, str]]:
        """Return the licences as the papers' own files state them; the files are kept, and read again for their texts."""
        for paper in papers:
            # Without a file, which the service may have refused for now, nothing is known; that it has none is kept, and not asked again.
            if path := self.fetch("jats", paper.id, paper.version):
                metadata = None
                with suppress(ExtractError):
                    metadata = read_article(path).find("front/article-meta")
                yield paper.id, NO_LICENSE if metadata is None else license_of(metadata)

    def fetch(self, file_type: FileType, paper_id: str, version: int) -> Path | None:
        file = self._round.workspace / "files" / "jats" / f"{stem_of(paper_id)}.xml"
        for name in (paper_id, *(name for paper in self._store.papers([paper_id]) for name in paper.other_ids)):
            known_as = PaperId.parse(name)
            # Full texts go by their ids in PubMed Central, or as preprints.
            if known_as is not None and known_as.kind in ("pmcid", "ppr"):
                check = partial(_check_article, {paper_id, known_as.bare})
                if path := self._http.download(f"{self._url}/{known_as.bare}/fullTextXML", file, check):
                    return path
        return None


def _phrase(text: str) -> str:
    return '"' + " ".join(_SYNTAX.sub(" ", text).split()) + '"'


def _indexed_forms(name: str) -> list[str]:
    """Return what the search may have for a name: surname and initials; nothing tells how many words a surname has."""
    words = name.split() or [""]
    forms = (
        " ".join([*words[i:], "".join(word[0] for word in words[:i])])
        for i in range(min(1, len(words) - 1), len(words))
    )
    return [form.strip() for form in forms]


def _between(first: date, last: date) -> str:
    return f"FIRST_PDATE:[{first} TO {last}]"


def _months(first: date, last: date) -> Iterator[tuple[date, date]]:
    """Yield the months of a window, the first and last cut to it."""
    while first <= last:
        end = first.replace(day=calendar.monthrange(first.year, first.month)[1])
        yield first, min(end, last)
        first = end + timedelta(days=1)


# --- the REST service (https://europepmc.org/RestfulWebService)
#
# Traps: the end of a list is a cursor that is repeated, not one that is absent; pages come incomplete under load, so that what came
# is compared with the number that was announced.

_LOGGER = logging.getLogger(__name__)
# The most that a page may contain.
PAGE = 1000


def search(http: HttpClient, url: str, query: str, most: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield all results of a query, or `most` of them; a SourceError if the service refuses, or its list does not end."""
    cursor, seen, size = "*", 0, min(PAGE, most or PAGE)
    known: set[object] = set()
    while True:
        parameters = {"query": query, "resultType": "core", "format": "json", "pageSize": size, "cursorMark": cursor}
        address = f"{url}/search?{urlencode(parameters)}"
        answer = http.get(address, partial(_check_page, size, seen))
        if answer.status != 200:
            raise SourceError(f"Europe PMC refuses a search (status {answer.status}): {query[:200]}")
        page = parse_json(answer.body)
        results = page["resultList"]["result"]
        ids = {(str(result.get("source")), str(result.get("id"))) for result in results}
        if results and known.issuperset(ids):
            # An answer that is kept would be the same for ever.
            http.forget(address)
            raise SourceError(f"Europe PMC's list goes in circles ({query[:200]}); run the same command again later")
        known |= ids
        yield from results[: None if most is None else most - seen]
        seen += len(results)
        after = page.get("nextCursorMark")
        if not results or not after or after == cursor or seen >= page["hitCount"] or (most and seen >= most):
            if seen < min(page["hitCount"], most or page["hitCount"]):
                _LOGGER.warning("Europe PMC announced %d results and gave %d: %s", page["hitCount"], seen, query[:200])
            return
        cursor = after


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
    try:
        metadata = parse_article(body, "the answer").find("front/article-meta")
    except ExtractError as err:
        raise DoubtfulAnswer(f"{len(body)} bytes that are not an article in JATS") from err
    if metadata is None or not ids & set(ids_of(metadata)):
        raise DoubtfulAnswer("another article than was asked for")
