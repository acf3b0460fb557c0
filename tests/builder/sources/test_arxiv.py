"""The arXiv source against the loopback arXiv: what it finds, and every trap of the real service."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from builder.errors import RoundError, SourceError
from builder.records import NO_LICENSE, Drop, Paper
from builder.round.model import Round, load_round
from builder.sources import http_client
from builder.sources import open_source as open_arxiv
from builder.sources.arxiv import ArxivSource
from builder.sources.arxiv.export_api import check_feed, phrase
from builder.sources.http_client import DoubtfulAnswer
from builder.store import Store
from lm_eval_tasks.base.progress import LONGEST_WAIT, retry_after
from standins import loopback
from standins.loopback import ATOM, Fault, Loopback, World, serve
from standins.places import DATA
from tests.helpers.papers import mirror, paper

ADA = "Ada Lovelace"
PAPERS = [
    paper(1, ADA, "Bo Ek", day=0),
    replace(paper(2, ADA, day=40, category="stat.ML"), version=3, license="unknown"),
    paper(3, "Lovelace Ada", "Ada B. Lovelace", day=41),
    paper(4, "Jörg Müller", day=42, title="A slice theorem for Fréchet spaces"),
    paper(5, "Jorg Muller", day=43, category="hep-ph"),
    replace(paper(6, "Bo Ek", day=44), updated=date(2026, 3, 1), version=2),
]
RATE = (429, {"Content-Type": "text/plain"}, b"Rate exceeded.")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Loopback]:
    with serve(World(mirror(tmp_path / "mirror", PAPERS))) as running:
        yield running


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the door wanted to wait, without the waiting."""
    slept: list[float] = []
    monkeypatch.setattr(http_client.time, "sleep", slept.append)
    return slept


def make_round(tmp_path: Path, server: Loopback, categories: tuple[str, ...] = (), **source: object) -> Round:
    return Round.model_validate(
        {
            "round": "2026.04",
            "workspace": tmp_path / "work",
            "source": server.tables() | source,
            "papers": {"categories": categories},
        }
    )


def opened(tmp_path: Path, server: Loopback, categories: tuple[str, ...] = (), **source: object) -> ArxivSource:
    round_ = make_round(tmp_path, server, categories, **source)
    return open_arxiv(round_, Store.open(tmp_path / "work" / "store.sqlite3"))


@pytest.fixture
def arxiv(tmp_path: Path, server: Loopback, waits: list[float]) -> ArxivSource:
    return opened(tmp_path, server)


def ids(items: Iterator[Paper | Drop]) -> list[str]:
    return [item.id for item in items]


# --- what it finds


def test_an_entry_becomes_the_paper_that_it_was(arxiv: ArxivSource) -> None:
    assert list(arxiv.by_ids(["2601.00001"])) == [replace(PAPERS[0], license="unknown")]


def test_both_spellings_of_an_accented_name_are_asked_for_at_once(arxiv: ArxivSource, server: Loopback) -> None:
    assert phrase("au", 'Jörg "M" Müller') == '(au:"Jörg M Müller" OR au:"Jorg M Muller")'
    assert ids(arxiv.by_author("Jörg Müller")) == ["2601.00004", "2601.00005"]
    assert len(server.log) == 1


def test_a_window_is_asked_for_with_room_and_cut_here(arxiv: ArxivSource, server: Loopback) -> None:
    assert ids(arxiv.by_author(ADA, date(2026, 2, 10), date(2026, 2, 10))) == ["2601.00002"]
    assert "submittedDate:[202602100000 TO 202702112359]" in server.log[0]


def test_titles_are_found_with_and_without_accents(arxiv: ArxivSource) -> None:
    assert ids(arxiv.search_titles(["A Slice Theorem for Fréchet Spaces"])) == ["2601.00004"]
    assert ids(arxiv.search_titles(["Slice theorem for"])) == []


def test_several_titles_are_one_request(arxiv: ArxivSource, server: Loopback) -> None:
    wanted = [PAPERS[0].title, "A slice theorem for", "A title that nobody wrote (and: never will)"]
    assert ids(arxiv.search_titles(wanted)) == [PAPERS[0].id, "2601.00004"]
    assert len(server.log) == 1
    assert "max_results=150" in server.log[0]


@pytest.mark.parametrize("harvest", ["oai", "search"])
@pytest.mark.parametrize("categories", [(), ("cs.CL",), ("cs", "hep-ph")])
def test_both_harvests_bring_the_same_papers(
    tmp_path: Path, server: Loopback, waits: list[float], harvest: str, categories: tuple[str, ...]
) -> None:
    server.world.comments["2601.00003"] = "Withdrawn by the authors"
    source = opened(tmp_path, server, categories, harvest=harvest)
    items = list(source.submitted_between(date(2026, 2, 1), date(2026, 2, 14)))
    wanted = {"cs.CL", "hep-ph"} if len(categories) == 2 else set(categories)
    kept = [p for p in PAPERS[1:] if p.id != "2601.00003" and (not wanted or p.primary_category in wanted)]
    found = sorted((item for item in items if isinstance(item, Paper)), key=lambda p: p.id)
    assert [(p.id, p.version, p.published) for p in found] == [(p.id, p.version, p.published) for p in kept]
    assert Drop("2601.00003", "withdrawn") in items


def test_a_long_list_is_fetched_in_slices(
    tmp_path: Path, server: Loopback, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builder.sources.arxiv._LONGEST_LIST", 2)
    source = opened(tmp_path, server, harvest="search")
    assert sorted(ids(source.submitted_between(date(2026, 1, 1), date(2026, 2, 28)))) == [p.id for p in PAPERS]
    assert len(set(server.log)) > 3


def test_licences_come_one_by_one_or_from_lists(tmp_path: Path, arxiv: ArxivSource, server: Loopback) -> None:
    known = PAPERS[0].license
    assert dict(arxiv.licenses([PAPERS[0], PAPERS[1]])) == {"2601.00001": known, "2601.00002": NO_LICENSE}
    assert all("GetRecord" in address for address in server.log)
    late = [replace(p, published=date(2026, 3, 31)) for p in PAPERS]
    server.log.clear()
    assert set(dict(arxiv.licenses(late)).values()) == {NO_LICENSE}
    assert "ListRecords" in server.log[0]


def test_many_ids_are_asked_for_in_few_requests(arxiv: ArxivSource, server: Loopback) -> None:
    asked = [p.id for p in PAPERS] + [f"2512.{i:05d}" for i in range(1, 301)]
    assert ids(arxiv.by_ids(asked)) == [p.id for p in PAPERS]
    assert len(server.log) <= 6  # two batches; what is missing once more, and empty answers twice


def test_an_oai_list_whose_token_has_expired_goes_on_from_its_last_day(
    arxiv: ArxivSource, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loopback, "OAI_PAGE", 2)
    expired = loopback._oai('<error code="badResumptionToken">expired</error>')
    server.faults = [Fault("resumptionToken", (200, {}, expired), skip=1)]
    assert set(ids(arxiv.submitted_between(date(2026, 1, 1), None))) == {p.id for p in PAPERS}


# --- the door


def test_every_request_says_who_asks(arxiv: ArxivSource, server: Loopback) -> None:
    list(arxiv.by_ids(["2601.00001"]))
    agent = server.headers[0]["User-Agent"]
    assert agent.startswith("academiceval/")
    assert "test@example.org" in agent


def test_what_was_answered_is_not_asked_again_in_the_round(
    tmp_path: Path, arxiv: ArxivSource, server: Loopback
) -> None:
    first = list(arxiv.by_author(ADA))
    store = Store.open(tmp_path / "work" / "store.sqlite3")
    again = open_arxiv(make_round(tmp_path, server), store)
    assert list(again.by_author(ADA)) == first
    assert len(server.log) == 1
    store.answers.forget_other_rounds("2026.05")
    list(again.by_author(ADA))
    assert len(server.log) == 2


def test_requests_keep_their_distance_over_all_processes(tmp_path: Path, server: Loopback, waits: list[float]) -> None:
    for number in (1, 2):
        list(opened(tmp_path, server, delay=5.0).by_ids([f"2601.0000{number}"]))
    # What a busy machine took since the first request is waited less.
    assert max(waits) <= 5.0
    assert len(server.log) == 2
    assert server.most_open == 1


@pytest.mark.parametrize(
    ("fault", "at_least"),
    [
        (Fault("api", RATE, times=2), 0.0),
        (Fault("api", (200, {}, b"Rate exceeded."), times=2), 0.0),
        (Fault("api", (503, {"Retry-After": "0"}, b"first byte timeout")), 0.0),
        (Fault("api", (503, {"Retry-After": "7"}, b"")), 7.0),
        (Fault("api", (429, {"Retry-After": "Wed, 21 Oct 2099 07:28:00 GMT"}, b"")), http_client.LONGEST_WAIT),
        (Fault("api", (500, {}, b"")), 0.0),
        (Fault("api", None), 0.0),
        (Fault("api", cut=300), 0.0),
        (Fault("api", (200, ATOM, b"<html>Busy</html>")), 0.0),
        (Fault("api", (200, ATOM, b"<feed")), 0.0),
        (Fault("api", (200, ATOM, loopback.feed([], 0, 0, 100, {}))), 0.0),
        (Fault("api", (200, ATOM, loopback.feed([], 9, 0, 100, {})), times=3), 0.0),
    ],
)
def test_what_passes_is_waited_for(
    arxiv: ArxivSource, server: Loopback, waits: list[float], fault: Fault, at_least: float
) -> None:
    server.faults = [fault]
    times = fault.times
    assert ids(arxiv.by_author(ADA)) == ["2601.00001", "2601.00002"]
    assert len(server.log) == times + 1
    assert max(waits) >= at_least
    assert max(waits) <= http_client.LONGEST_WAIT


def test_waits_grow_and_end(tmp_path: Path, server: Loopback, waits: list[float]) -> None:
    server.faults = [Fault("api", RATE, times=100)]
    with pytest.raises(SourceError, match="failed 7 times, last: status 429"):
        list(opened(tmp_path, server, delay=1.0).by_author(ADA))
    backed_off = [wait for wait in waits if wait >= 1.0]
    assert len(backed_off) == http_client.TRIES - 1
    assert all(2**i <= wait <= 1.5 * 2**i for i, wait in enumerate(backed_off))


def test_an_empty_list_of_an_author_is_believed_when_it_comes_again_a_minute_later(
    tmp_path: Path, server: Loopback, waits: list[float]
) -> None:
    arxiv = opened(tmp_path, server, delay=3.0)
    assert ids(arxiv.by_author("Zed Nobody")) == []
    assert len(server.log) == 3
    assert max(waits) >= 60
    assert ids(arxiv.search_titles(["A title that nobody wrote"])) == []
    assert len(server.log) == 5


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7),
        ("-1", 0),
        ("inf", LONGEST_WAIT),
        ("nan", 0),
        ("\u00b2", 0),
        (None, 0),
        ("Mon, 01 Jan 2299 00:00:00 GMT", LONGEST_WAIT),
        ("Mon, 01 Jan 99999999999 00:00:00 GMT", 0),
    ],
)
def test_servers_do_not_make_us_wait_for_ever(header: str | None, seconds: float) -> None:
    assert retry_after(header) == seconds


def test_a_later_page_that_was_given_before_or_is_empty_is_never_believed(
    arxiv: ArxivSource, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builder.sources.arxiv.export_api.PAGE", 1)
    server.faults = [Fault("start=1", (200, ATOM, loopback.feed(PAPERS[:1], 999_999_999, 0, 1, {})))]
    with pytest.raises(SourceError, match="goes in circles"):
        list(arxiv.by_author(ADA))
    server.faults = [Fault("start=1", (200, ATOM, loopback.feed([], 2, 1, 1, {})), times=2)]
    assert ids(arxiv.by_author(ADA)) == ["2601.00001", "2601.00002"]


def test_an_id_that_is_left_out_in_silence_is_asked_for_again(arxiv: ArxivSource, server: Loopback) -> None:
    server.world.hidden = {"2601.00002"}
    assert sorted(ids(arxiv.by_ids(["2601.00001", "2601.00002"]))) == ["2601.00001", "2601.00002"]


def test_one_id_that_arxiv_refuses_does_not_spoil_the_batch(arxiv: ArxivSource) -> None:
    found = list(arxiv.by_ids(["2601.00001", "abc", "2601.00006"]))
    assert Drop("abc", "bad_record") in found
    assert {"2601.00001", "2601.00006"} <= {item.id for item in found}


def test_a_refused_query_says_why(arxiv: ArxivSource, server: Loopback) -> None:
    server.faults = [Fault("api", (400, ATOM, loopback.error_feed("abc")))]
    with pytest.raises(SourceError, match="incorrect id format for abc"):
        list(arxiv.by_author(ADA))


@pytest.mark.parametrize("packed", [{}, {"Content-Encoding": "br"}])
def test_denied_access_stops_at_once_however_it_is_packed(
    arxiv: ArxivSource, server: Loopback, packed: dict[str, str]
) -> None:
    server.faults = [Fault("api", (403, packed, b"<html>Access Denied</html>"), times=9)]
    with pytest.raises(SourceError, match="denies access"):
        list(arxiv.by_author(ADA))
    assert len(server.log) == 1


def test_an_entry_without_dates_is_counted(arxiv: ArxivSource, server: Loopback) -> None:
    whole = loopback.feed(PAPERS[:2], 2, 0, 100, {})
    broken = whole.replace(b"<published>2026-01-01T09:30:00Z</published>", b"")
    server.faults = [Fault("api", (200, ATOM, broken))]
    assert Drop("http://arxiv.org/abs/2601.00001v1", "bad_record") in list(arxiv.by_author(ADA))


# --- files


@pytest.fixture
def with_files(server: Loopback, tmp_path: Path) -> bytes:
    body = b"%PDF-1.7\n" + b"x" * 5000 + b"\n%%EOF\n"
    (tmp_path / "mirror" / "pdf").mkdir()
    (tmp_path / "mirror" / "pdf" / "2601.00001v1.pdf").write_bytes(body)
    return body


def test_files_are_fetched_once_and_for_good(arxiv: ArxivSource, server: Loopback, with_files: bytes) -> None:
    for _ in range(2):
        path = arxiv.fetch("pdf", "2601.00001", 1)
        assert path is not None
        assert path.read_bytes() == with_files
        assert arxiv.fetch("html", "2601.00001", 1) is None
    assert server.asked == {"pdf": 1, "html": 1}


@pytest.mark.parametrize(
    "fault",
    [
        Fault("pdf", cut=2000),
        Fault("pdf", (200, {}, b"%PDF-1.7\nhalf")),
    ],
)
def test_a_file_that_breaks_off_is_fetched_again(
    arxiv: ArxivSource, server: Loopback, with_files: bytes, fault: Fault
) -> None:
    server.faults = [fault]
    path = arxiv.fetch("pdf", "2601.00001", 1)
    assert path is not None
    assert path.read_bytes() == with_files
    assert len(server.log) == 2


def test_a_file_that_is_odd_twice_is_taken_as_it_is_by_this_run(
    arxiv: ArxivSource, server: Loopback, with_files: bytes
) -> None:
    server.faults = [Fault("pdf", (200, {}, b"%PDF-1.7\nno end"), times=2)]
    path = arxiv.fetch("pdf", "2601.00001", 1)
    assert path is not None
    assert path.read_bytes() == b"%PDF-1.7\nno end"
    whole = arxiv.fetch("pdf", "2601.00001", 1)
    assert whole is not None
    assert whole.read_bytes() == with_files
    assert not path.exists()


HTML_PAGE = (200, {"Content-Type": "text/html"}, b"<html><body>Down for maintenance</body></html>")


def test_a_page_in_place_of_a_file_is_never_kept(
    arxiv: ArxivSource, server: Loopback, with_files: bytes, tmp_path: Path
) -> None:
    server.faults = [Fault("pdf", HTML_PAGE, times=3), Fault("html", HTML_PAGE, times=3)]
    assert arxiv.fetch("pdf", "2601.00001", 1) is None
    assert arxiv.fetch("html", "2601.00001", 1) is None
    assert not list((tmp_path / "work").rglob("*2601*"))
    assert arxiv.fetch("pdf", "2601.00001", 1) is not None


def test_pages_in_place_of_all_files_end_the_run(arxiv: ArxivSource, server: Loopback, with_files: bytes) -> None:
    server.faults = [Fault("pdf", HTML_PAGE, times=100)]
    with pytest.raises(SourceError, match=r"last: 46 bytes that are not a PDF.*; run the same command again later$"):
        for _ in range(5):
            assert arxiv.fetch("pdf", "2601.00001", 1) is None
    server.faults = []
    assert arxiv.fetch("pdf", "2601.00001", 1) is not None


def test_an_empty_answer_counts_for_this_run_only(tmp_path: Path, arxiv: ArxivSource, server: Loopback) -> None:
    empty = (200, ATOM, loopback.feed([], 0, 0, 2000, {}))
    server.faults = [Fault("Ada", empty, times=3)]
    assert ids(arxiv.by_author(ADA)) == ids(arxiv.by_author(ADA)) == []
    assert ids(opened(tmp_path, server).by_author(ADA))
    assert len(server.log) == 4


def test_redirects_within_the_host_are_followed_and_others_refused(
    arxiv: ArxivSource, server: Loopback, with_files: bytes
) -> None:
    server.faults = [Fault("pdf/2601.00001v9", (301, {"Location": "/pdf/2601.00001v1"}, b""))]
    assert arxiv.fetch("pdf", "2601.00001", 9) is not None
    server.faults = [Fault("pdf/2601.00002v1", (302, {"Location": "http://localhost:9/pdf/2601.00002v1"}, b""))]
    with pytest.raises(SourceError, match="another host"):
        arxiv.fetch("pdf", "2601.00002", 1)


def test_an_endless_redirect_ends(arxiv: ArxivSource, server: Loopback) -> None:
    server.faults = [Fault("pdf", (302, {"Location": "/pdf/2601.00002v1"}, b""), times=50)]
    with pytest.raises(SourceError, match="redirects more than"):
        arxiv.fetch("pdf", "2601.00002", 1)


# --- offline, and a slow server


def test_a_server_that_does_not_answer_is_given_up(
    tmp_path: Path, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "fault", lambda _: time.sleep(0.6))
    with pytest.raises(SourceError, match=r"failed 7 times, last: no (whole answer in 0.[1-9] s|answer in time)"):
        list(opened(tmp_path, server, timeout=0.1).by_author(ADA))


@pytest.mark.slow
def test_a_server_that_drips_is_given_up_at_the_deadline(tmp_path: Path, server: Loopback) -> None:
    """A byte every tenth of a second never ends a wait for the next byte."""
    server.faults = [Fault("api", drip=0.1)]
    assert ids(opened(tmp_path, server, timeout=0.5).by_author(ADA)) == ["2601.00001", "2601.00002"]
    assert len(server.log) == 2


@pytest.mark.parametrize(
    ("tokens", "said"), [("aa", "goes in circles"), ("abcde", "does not end its list"), ("a-", "gives up its own list")]
)
def test_an_oai_list_without_end_is_noticed_and_asked_for_again(
    arxiv: ArxivSource, server: Loopback, monkeypatch: pytest.MonkeyPatch, tokens: str, said: str
) -> None:
    monkeypatch.setattr("builder.sources.arxiv._MOST_PAGES", 5)
    page = "<ListRecords><record/><resumptionToken>{}</resumptionToken></ListRecords>"
    pages = [page.format(token) if token != "-" else '<error code="badResumptionToken"/>' for token in tokens]
    server.faults = [Fault("oai", (200, loopback.XML, loopback._oai(page))) for page in pages]
    with pytest.raises(SourceError, match=said):
        list(arxiv.submitted_between(date(2026, 1, 1), None))
    assert 2 <= len(server.log) <= 5
    assert len(ids(arxiv.submitted_between(date(2026, 1, 1), None))) == len(PAPERS)


@pytest.mark.parametrize("total", ["-1", "many", "9" * 30, "1e3", "<b/>"])
def test_a_feed_with_an_odd_total_is_no_feed(total: str) -> None:
    body = loopback.feed(PAPERS[:1], 1, 0, 1, {}).replace(
        b"<opensearch:totalResults>1<", f"<opensearch:totalResults>{total}<".encode()
    )
    with pytest.raises(DoubtfulAnswer):
        check_feed(body)


def test_entries_with_odd_dates_are_counted(
    arxiv: ArxivSource, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the pages that follow hold what they would without them."""
    monkeypatch.setattr("builder.sources.arxiv.export_api.PAGE", 2)
    for i, odd in enumerate([b"2026-W01", b"yesterday", b"2026-13-41T09:30:00Z", b"0000-00-00T00:00:00Z"]):
        asked = {"search_query": f"submittedDate:[20250101000{i} TO 202701010000]", "max_results": "2"}
        status, headers, body = loopback.atom(server.world, asked)
        server.faults = [Fault("start=0", (status, headers, body.replace(b"2026-01-01T09:30:00Z", odd, 2)))]
        found = list(arxiv._api.search(asked["search_query"]))
        assert Drop("http://arxiv.org/abs/2601.00001v1", "bad_record") in found
        assert sorted(item.id for item in found if isinstance(item, Paper)) == [
            f"2601.0000{n}" for n in (2, 3, 4, 5, 6)
        ]


# --- round.toml


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("", "give `contact`"),
        ('contact = "a@b.org"\ndelay = 1.0', "3 s between requests"),
        ('contact = "a@b.org"\n[papers]\ncategories = ["cs.XL"]', "no category 'cs.XL'; did you mean"),
    ],
)
def test_a_round_that_arxiv_would_not_like_is_refused(tmp_path: Path, lines: str, said: str) -> None:
    path = tmp_path / "round.toml"
    path.write_text(f'round = "2026.11"\n[source]\nkind = "arxiv"\n{lines}\n')
    with pytest.raises(RoundError, match=said):
        load_round(path)


def test_politeness_is_no_part_of_the_manifest(tmp_path: Path, server: Loopback) -> None:
    source = make_round(tmp_path, server).config()["source"]
    assert isinstance(source, dict)
    assert {"contact", "delay", "api", "files"}.isdisjoint(source)


# --- recorded answers


@pytest.mark.data
def test_recorded_feeds_are_read() -> None:
    empty = []
    for path in sorted((DATA / "atom" / "recorded").glob("*.xml")):
        try:
            check_feed(path.read_bytes())
        except DoubtfulAnswer as doubt:
            assert doubt.believe, path
            empty.append(path.name[:14])
    assert empty == ["id_0000.0000_s", "id_0808.05394_"]


@pytest.mark.data
@pytest.mark.parametrize("name", ["rate_exceeded_200.txt", "oai_503.txt"])
def test_recorded_errors_are_not_taken_for_feeds(name: str) -> None:
    with pytest.raises(DoubtfulAnswer) as caught:
        check_feed((DATA / "atom" / "errors" / name).read_bytes())
    assert not caught.value.believe


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "version", "n", "primary"),
    [("id_list=1111.2011v2*", 2, 6, "cond-mat.str-el"), ("id_quant-ph_0201082v1*", 1, None, "quant-ph")],
)
def test_recorded_entries_become_papers(
    arxiv: ArxivSource, server: Loopback, name: str, version: int, n: int | None, primary: str
) -> None:
    body = next((DATA / "atom" / "recorded").glob(name)).read_bytes()
    server.faults = [Fault("api", (200, ATOM, body))]
    found = next(item for item in arxiv.by_ids(["1111.2011"]) if isinstance(item, Paper))
    assert found.version == version
    assert found.primary_category == primary
    assert found.authors
    assert n is None or found.title.startswith("Quantum")
