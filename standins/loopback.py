"""A loopback arXiv: any Source served over HTTP as the export API, OAI-PMH, PDF and HTML, with faults on demand.

Feeds have the shape of recorded answers of the new service (2026). The search matches words of the author list as arXiv
does, accents included, so that a client that trusts its hits gets namesakes and misses the other spelling.
"""

from __future__ import annotations

import json
import lzma
import re
import sys
import threading
import time
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape, quoteattr

from builder.ids import PaperId, bare_id
from builder.records import Paper
from builder.round import taxonomy
from builder.sources import Source
from standins.serving import JsonHandler, Quiet, serving

OAI_PAGE = 1000
MOST_REVISED = 20_000
Reply = tuple[int, dict[str, str], bytes]


@dataclass
class Fault:
    """What goes wrong with requests whose address contains a text, a number of times, after a number that go well.

    Attributes:
        reply: status, headers and body to give instead; or None for a connection that breaks off.
        cut: of the true answer, only this many bytes, though the header announces all.
        drip: seconds between the bytes of an answer without end, headers first.
    """

    match: str
    reply: Reply | None = None
    times: int = 1
    skip: int = 0
    cut: int | None = None
    drip: float = 0.0


@dataclass
class World:
    """The records of a source, ready to be searched.

    Attributes:
        comments: paper id -> comment, where arXiv says that a paper was withdrawn.
        hidden: ids that the API leaves out of an id_list without a word, once each.
    """

    source: Source
    comments: dict[str, str] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)

    @cached_property
    def papers(self) -> list[Paper]:
        items = self.source.submitted_between(None, None)
        return sorted((item for item in items if isinstance(item, Paper)), key=lambda p: (p.published, p.id))

    @cached_property
    def by_id(self) -> dict[str, Paper]:
        return {paper.id: paper for paper in self.papers}

    def version(self, name: str) -> Paper:
        """Return the version of a paper that its id names, as far as the source has it; the last one where it names none."""
        parsed = PaperId.parse(name)
        assert parsed is not None
        last = self.by_id[parsed.bare]
        return self.first.get(last.id, last) if parsed.version == 1 else last

    @cached_property
    def first(self) -> dict[str, Paper]:
        """Id -> version 1 of revised papers, as far as the source has them; of a large world nobody asks."""
        revised = [f"{paper.id}v1" for paper in self.papers if paper.version > 1]
        items = self.source.by_ids(revised) if len(self.papers) <= MOST_REVISED else ()
        return {item.id: item for item in items if isinstance(item, Paper) and item.version == 1}

    @cached_property
    def days(self) -> list[date]:
        return [paper.published for paper in self.papers]

    @cached_property
    def author_words(self) -> dict[str, array[int]]:
        return self._words(lambda paper: " ".join(paper.authors))

    @cached_property
    def title_words(self) -> dict[str, array[int]]:
        return self._words(lambda paper: paper.title)

    def _words(self, of: Callable[[Paper], str]) -> dict[str, array[int]]:
        index: dict[str, array[int]] = {}
        for i, paper in enumerate(self.papers):
            for word in set(words(of(paper))):
                index.setdefault(word, array("i")).append(i)
        return index

    def search(self, query: str) -> list[Paper]:
        """Return all papers that a query in the grammar of the user manual finds, oldest first."""
        rows: Iterable[int] = range(len(self.papers))
        categories: set[str] = set()
        for clause in query.split(" AND "):
            terms = [term.partition(":")[::2] for term in _alternatives(clause)]
            if terms[0][0] == "submittedDate":
                days = (date(int(d[:4]), int(d[4:6]), int(d[6:8])) for d in terms[0][1].strip("[]").split(" TO "))
                span = range(bisect_left(self.days, next(days)), bisect_right(self.days, next(days)))
                rows = span if isinstance(rows, range) else [i for i in rows if i in span]
            elif terms[0][0] == "cat":
                categories = {value for _, value in terms}
            else:
                rows = sorted({i for prefix, value in terms for i in self._find(prefix, value.strip('"'))})
        return [self.papers[i] for i in rows if not categories or not categories.isdisjoint(self.papers[i].categories)]

    def _find(self, prefix: str, value: str) -> Iterable[int]:
        wanted = words(value.replace("_", " "))
        index = self.author_words if prefix == "au" else self.title_words
        rows = set.intersection(*(set(index.get(word, ())) for word in wanted)) if wanted else set()
        texts = (lambda p: p.authors) if prefix == "au" else (lambda p: (p.title,))
        return (i for i in rows if any(_has_run(words(text), wanted) for text in texts(self.papers[i])))


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _has_run(text: list[str], run: list[str]) -> bool:
    return any(text[i : i + len(run)] == run for i in range(len(text) - len(run) + 1))


def _alternatives(clause: str) -> list[str]:
    return clause.strip().removeprefix("(").removesuffix(")").split(" OR ")


# --- answers


def atom(world: World, query: dict[str, str]) -> Reply:
    start, size = int(query.get("start", 0)), int(query.get("max_results", 10))
    ids = [part for part in query.get("id_list", "").split(",") if part]
    for name in ids:
        if PaperId.parse(name) is None:
            return 400, ATOM, error_feed(name)
    if ids:
        bare = [parsed.bare for name in ids if (parsed := PaperId.parse(name))]
        papers = [world.version(name) for name in ids if bare_id(name) in world.by_id.keys() - world.hidden]
        world.hidden -= set(bare)
    else:
        papers = world.search(query["search_query"])
        if query.get("sortOrder") == "descending":
            papers.reverse()
    return 200, ATOM, feed(papers[start : start + size], len(papers), start, size, world.comments)


ATOM = {"Content-Type": "application/atom+xml; charset=UTF-8"}
XML = {"Content-Type": "text/xml; charset=UTF-8"}
_HEAD = (
    "<?xml version='1.0' encoding='UTF-8'?>\n"
    '<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:arxiv="http://arxiv.org/schemas/atom" '
    'xmlns="http://www.w3.org/2005/Atom">\n'
)


def feed(papers: Iterable[Paper], total: int, start: int, size: int, comments: dict[str, str]) -> bytes:
    counts = (
        f"  <opensearch:itemsPerPage>{size}</opensearch:itemsPerPage>\n"
        f"  <opensearch:totalResults>{total}</opensearch:totalResults>\n"
        f"  <opensearch:startIndex>{start}</opensearch:startIndex>\n"
    )
    entries = "".join(_entry(paper, comments.get(paper.id)) for paper in papers)
    return f"{_HEAD}  <id>https://arxiv.org/api/x</id>\n  <title>arXiv Query</title>\n{counts}{entries}</feed>".encode()


def _entry(paper: Paper, comment: str | None) -> str:
    url = f"http://arxiv.org/abs/{paper.versioned_id}"
    return (
        f"  <entry>\n    <id>{url}</id>\n    <title>{escape(paper.title)}</title>\n"
        f"    <updated>{paper.updated}T09:30:00Z</updated>\n"
        f'    <link href="https://arxiv.org/abs/{paper.versioned_id}" rel="alternate" type="text/html"/>\n'
        f'    <link href="https://arxiv.org/pdf/{paper.versioned_id}" rel="related" type="application/pdf" title="pdf"/>\n'
        f"    <summary>{escape(paper.abstract)}</summary>\n"
        + "".join(f"    <category term={quoteattr(c)}/>\n" for c in paper.categories)
        + f"    <published>{paper.published}T09:30:00Z</published>\n"
        + (f"    <arxiv:comment>{escape(comment)}</arxiv:comment>\n" if comment else "")
        + f"    <arxiv:primary_category term={quoteattr(paper.primary_category)}/>\n"
        + "".join(f"    <author>\n      <name>{escape(name)}</name>\n    </author>\n" for name in paper.authors)
        + "  </entry>\n"
    )


def error_feed(name: str) -> bytes:
    entry = (
        f"  <entry>\n    <id>https://arxiv.org/api/errors#incorrect_id_format_for_{name}</id>\n    <title>Error</title>\n"
        f"    <updated>2026-04-12T22:59:06Z</updated>\n    <summary>incorrect id format for {name}</summary>\n"
        "    <author>\n      <name>arXiv api core</name>\n    </author>\n  </entry>\n"
    )
    return f"{_HEAD}  <opensearch:totalResults>1</opensearch:totalResults>\n{entry}</feed>".encode()


def oai(world: World, query: dict[str, str]) -> Reply:
    if query["verb"] == "GetRecord":
        paper = world.by_id.get(query["identifier"].rpartition(":")[2])
        body = f"<GetRecord>{_record(world, paper)}</GetRecord>" if paper else '<error code="idDoesNotExist">no</error>'
        return 200, XML, _oai(body)
    token = query.get("resumptionToken")
    set_, since, offset = token.split("|") if token else (query.get("set", ""), query.get("from", ""), "0")
    found = [p for p in world.papers if p.updated.isoformat() >= since and (not set_ or _in_set(p, set_))]
    found.sort(key=lambda p: (p.updated, p.id))
    page = found[int(offset) : int(offset) + OAI_PAGE]
    if not page:
        return 200, XML, _oai('<error code="noRecordsMatch">nothing</error>')
    end = int(offset) + len(page)
    more = f"{set_}|{since}|{end}" if end < len(found) else ""
    records = "".join(_record(world, paper) for paper in page)
    return 200, XML, _oai(f"<ListRecords>{records}<resumptionToken>{more}</resumptionToken></ListRecords>")


def _in_set(paper: Paper, set_: str) -> bool:
    names = {name for c in paper.categories for name in (c, c.partition(".")[0])}
    return any(taxonomy.oai_set(name) == set_ for name in names)


def _oai(body: str) -> bytes:
    return (
        '<?xml version="1.0" encoding="UTF-8"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">'
        f"<responseDate>2026-11-01T00:00:00Z</responseDate>{body}</OAI-PMH>"
    ).encode()


def _record(world: World, paper: Paper) -> str:
    names = "".join(
        f"<author><keyname>{escape(last)}</keyname><forenames>{escape(first)}</forenames></author>"
        for first, _, last in (name.rpartition(" ") for name in paper.authors)
    )
    revised = f"<updated>{paper.updated}</updated>" if paper.version > 1 else ""
    comment = world.comments.get(paper.id, "")
    license_ = "" if paper.license == "unknown" else f"<license>{escape(paper.license)}</license>"
    return (
        f"<record><header><identifier>oai:arXiv.org:{paper.id}</identifier><datestamp>{paper.updated}</datestamp></header>"
        f'<metadata><arXiv xmlns="http://arxiv.org/OAI/arXiv/"><id>{paper.id}</id><created>{paper.published}</created>'
        f"{revised}<authors>{names}</authors><title>{escape(paper.title)}</title>"
        f"<categories>{' '.join(paper.categories)}</categories><comments>{escape(comment)}</comments>{license_}"
        f"<abstract>{escape(paper.abstract)}</abstract></arXiv></metadata></record>"
    )


def download(world: World, path: str) -> Reply:
    _, kind, name = path.split("/", 2)
    parsed = PaperId.parse(name)
    file = world.source.fetch("pdf" if kind == "pdf" else "html", parsed.bare, parsed.version or 1) if parsed else None
    if file is None:
        return 404, {"Content-Type": "text/html"}, b"<html>Not found</html>"
    body = lzma.decompress(file.read_bytes()) if file.suffix == ".xz" else file.read_bytes()
    return 200, {"Content-Type": "application/pdf" if kind == "pdf" else "text/html"}, body


class Loopback(Quiet):
    """The server; `faults` may be added to at any time, `asked` counts requests by path, `log` keeps their addresses."""

    def __init__(self, world: World) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.world = world
        # A source's index belongs to the thread that opened it.
        world.first  # noqa: B018
        self.faults: list[Fault] = []
        self.log: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.open = 0
        self.most_open = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def asked(self) -> Counter[str]:
        return Counter(urlsplit(address).path.split("/")[1] for address in self.log)

    def answer(self, path: str, query: dict[str, str]) -> Reply:
        """Return what the service says."""
        if path == "/api/query":
            return atom(self.world, query)
        if path == "/oai":
            return oai(self.world, query)
        return download(self.world, path)

    def tables(self) -> dict[str, object]:
        """Return what `[source]` of a round.toml must say to ask here, without delay."""
        return {
            "kind": "arxiv",
            "contact": "test@example.org",
            "delay": 0.0,
            "timeout": 5.0,
            "api": f"{self.url}/api/query",
            "oai": f"{self.url}/oai",
            "files": self.url,
        }

    def fault(self, address: str) -> Fault | None:
        for fault in self.faults:
            if fault.match in address and fault.times > 0:
                if fault.skip:
                    fault.skip -= 1
                    continue
                fault.times -= 1
                return fault
        return None


class _Handler(JsonHandler):
    server: Loopback

    def do_GET(self) -> None:
        server, address = self.server, unquote(self.path.replace("+", " "))
        server.log.append(address)
        server.headers.append(dict(self.headers))
        server.open += 1
        server.most_open = max(server.most_open, server.open)
        try:
            body = self._prepare(server.fault(address))
        finally:
            # Before the client can know of its answer and ask again.
            server.open -= 1
        if body is not None:
            self.end_headers()
            self.wfile.write(body)

    def _drip(self, seconds: float) -> None:
        self.close_connection = True
        with suppress(OSError):
            for byte in b"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\n\r\n" + b" " * 10_000:
                self.wfile.write(bytes([byte]))
                time.sleep(seconds)

    def _prepare(self, fault: Fault | None) -> bytes | None:
        """Return the body that follows the headers; None where nothing is left to send."""
        if fault is not None and fault.drip:
            self._drip(fault.drip)
            return None
        if fault is not None and fault.cut is None:
            if fault.reply is None:
                self.close_connection = True
                self.connection.close()
                return None
            status, headers, body = fault.reply
        else:
            status, headers, body = self._true_answer()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        if fault is not None and fault.cut is not None:
            body = body[: fault.cut]
            self.close_connection = True
        return body

    def _true_answer(self) -> Reply:
        parts = urlsplit(self.path)
        return self.server.answer(
            unquote(parts.path), {name: values[0] for name, values in parse_qs(parts.query).items()}
        )


@contextmanager
def serve(world: World, kind: type[Loopback] = Loopback) -> Iterator[Loopback]:
    server = kind(world)
    with serving(server):
        yield server


def main() -> None:
    """Serve a mirror folder until killed: for processes that measure themselves. Prints its address as JSON."""
    from builder.sources.mirror import MirrorSource

    folder, metadata = Path(sys.argv[1]), sys.argv[2]
    world = World(MirrorSource(folder, metadata))
    world.author_words  # noqa: B018  built before the first request
    with serve(world) as server:
        print(json.dumps(server.tables()), flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
