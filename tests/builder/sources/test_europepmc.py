"""Europe PMC as a source, over a loopback service with its habits and faults, and rounds that it gives."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from lxml import etree

from builder.errors import SourceError
from builder.records import NO_LICENSE, UNKNOWN_LICENSE, Drop, Paper
from builder.round.model import Round
from builder.sources.europepmc import EuropePmcSource, paper_of, plain
from builder.sources.jats.markup import one_line
from builder.sources.jats.source import JatsSource
from builder.store import STORE, Store
from lm_eval_tasks.engines.registry import LocalEngine
from lm_eval_tasks.families.rounds import read_manifest
from standins.jats_world import EuropePmc, draw_jats, orcid_of, result_of
from standins.loopback import Fault, World, serve
from standins.rounds import crawl_only, hashes, run
from tests.helpers.dump import content
from tests.helpers.warm import Warm

FIRST, LAST = date(2025, 9, 1), date(2026, 10, 31)


@pytest.fixture(scope="module")
def articles(tmp_path_factory: pytest.TempPathFactory) -> JatsSource:
    place = tmp_path_factory.mktemp("europepmc")
    return JatsSource(str(draw_jats(place / "articles", papers=60)), place / "work")


@pytest.fixture
def service(articles: JatsSource) -> Iterator[EuropePmc]:
    world = World(articles)
    with serve(world, EuropePmc) as server:
        assert isinstance(server, EuropePmc)
        yield server


def make_round(folder: Path, service: EuropePmc, name: str = "2026.11", **tables: object) -> Round:
    source = {**service.tables(), **tables.pop("source", {})}  # type: ignore[dict-item]
    fields: dict[str, object] = {
        "round": name,
        "settings": ["Title-10K", "Abs-9K"],
        "workspace": folder / "work",
        "output": folder / "academiceval",
        "source": source,
        "papers": {"published_from": FIRST},
        "graph": {"component": "all"},
        "split": {"validation": 0.2, "test": 0.3},
    }
    return Round.model_validate({**fields, **tables})


def source_of(round_: Round, store: Store) -> EuropePmcSource:
    return EuropePmcSource(round_.source, round_, store)  # type: ignore[arg-type]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "work" / STORE) as opened:
        yield opened


def test_a_window_gives_its_papers_page_by_page(
    tmp_path: Path, service: EuropePmc, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builder.sources.europepmc.PAGE", 25)
    source = source_of(make_round(tmp_path, service, licenses="redistributable"), store)
    papers = [item for item in source.submitted_between(FIRST, LAST) if isinstance(item, Paper)]
    assert {paper.id for paper in papers} == {paper.id for paper in service.world.papers}
    assert len(service.log) == 3  # 60 papers
    assert 'LICENSE:"cc by"' in service.log[0]
    assert "OPEN_ACCESS:y" in service.log[0]
    first = next(paper for paper in papers if any(map(orcid_of, paper.authors)))
    assert first.author_ids == tuple(map(orcid_of, first.authors))
    assert (first.license, first.abstract.startswith("Background: ")) == (UNKNOWN_LICENSE, True)
    assert not first.title.endswith(".")


def test_a_page_that_lacks_results_is_asked_for_again(tmp_path: Path, service: EuropePmc, store: Store) -> None:
    some = [result_of(paper) for paper in service.world.papers[:7]]
    partial = json.dumps({"hitCount": 60, "nextCursorMark": "*", "resultList": {"result": some}}).encode()
    service.faults = [
        Fault("search", (200, {}, partial)),
        Fault("search", (200, {}, b"<html>busy</html>")),
        Fault("search", (429, {"Retry-After": "0"}, b"")),
        Fault("search", cut=200),
    ]
    source = source_of(make_round(tmp_path, service), store)
    assert len([*source.submitted_between(FIRST, LAST)]) == 60
    assert len(service.log) == 5


def test_a_number_of_papers_is_taken_from_all_months(tmp_path: Path, service: EuropePmc, store: Store) -> None:
    source = source_of(make_round(tmp_path, service, source={"papers": 14, "field": "birds"}), store)
    papers = [item for item in source.submitted_between(FIRST, LAST) if isinstance(item, Paper)]
    assert len(papers) <= 14
    assert len({paper.published.replace(day=1) for paper in papers}) == len(papers)
    assert {paper.categories for paper in papers} == {("birds",)}
    # An update asks for its month's part, not for the whole number; of a month that the store has, for no more than is missing.
    assert len([*source.submitted_between(LAST.replace(day=1), LAST)]) <= 2
    store.add_papers(papers, since="2026.11")
    assert not [*source.submitted_between(LAST.replace(day=2), LAST)]


@pytest.mark.parametrize(
    ("marked", "text"),
    [
        ("10<sup>5</sup> cells (3.2 &times; 10<sup>-4</sup> M)", "10^5 cells (3.2 × 10^-4 M)"),
        ("age<median and BMI>30, 1<p<2, of H<sub>2</sub>O", "age<median and BMI>30, 1<p<2, of H2O"),
        ("A <i>Drosophila</i> gene &lt; 5 & more", "A Drosophila gene < 5 & more"),
    ],
)
def test_exponents_and_signs_stay(marked: str, text: str, service: EuropePmc) -> None:
    made = paper_of({**result_of(service.world.papers[0]), "abstractText": marked}, "")
    assert isinstance(made, Paper)
    assert made.abstract == text


def test_papers_by_author_title_and_id(tmp_path: Path, service: EuropePmc, store: Store) -> None:
    source = source_of(make_round(tmp_path, service), store)
    wanted = service.world.papers[5]
    by_author = [item.id for item in source.by_author(wanted.authors[0], FIRST, LAST)]
    assert wanted.id in by_author
    assert all(wanted.authors[0] in service.world.by_id[id_].authors for id_ in by_author)
    assert [item.id for item in source.search_titles([wanted.title])] == [wanted.id]
    found = [item.id for item in source.by_ids([wanted.id, "10.5555/nobody.has.it", "2601.00001"])]
    assert found == [wanted.id]


def test_the_files_own_licence_decides(tmp_path: Path, service: EuropePmc, store: Store) -> None:
    round_ = make_round(tmp_path, service)
    source = source_of(round_, store)
    papers = [item for item in source.submitted_between(FIRST, LAST) if isinstance(item, Paper)][:5]
    store.add_papers(papers, since="2026.11")
    service.faults = [Fault(papers[0].other_ids[0], (404, {}, b""))]
    learnt = dict(source.licenses(papers))
    assert papers[0].id not in learnt  # nothing is known without a file, which the service may lack for now
    for paper in papers[1:]:
        stated = service.world.by_id[paper.id].license
        assert learnt[paper.id] == (NO_LICENSE if stated == UNKNOWN_LICENSE else stated)
    # The files are kept; what is not there is not asked for again.
    asked = len(service.log)
    assert source.fetch("jats", papers[1].id, 1) is not None
    assert source.fetch("jats", papers[0].id, 1) is None
    assert len(service.log) == asked


def test_another_article_than_was_asked_for_is_not_kept(tmp_path: Path, service: EuropePmc, store: Store) -> None:
    source = source_of(make_round(tmp_path, service), store)
    store.add_papers(service.world.papers[:2], since="2026.11")
    first, second = service.world.papers[:2]
    file = service.world.source.fetch("jats", second.id, 1)
    assert file is not None
    service.faults = [
        Fault(first.other_ids[0], (200, {}, file.read_bytes())),
        Fault(first.other_ids[0], (200, {}, b"<html><article>Not found</article></html>")),
    ]
    fetched = source.fetch("jats", first.id, 1)
    assert fetched is not None
    assert first.id.encode() in fetched.read_bytes()


def test_a_circle_is_noticed(tmp_path: Path, service: EuropePmc, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builder.sources.europepmc.PAGE", 25)
    service.faults = [Fault("search", service._search({"query": "", "pageSize": "25", "cursorMark": "*"}), skip=1)]
    with pytest.raises(SourceError, match="in circles"):
        list(source_of(make_round(tmp_path, service), store).submitted_between(FIRST, LAST))
    assert len([*source_of(make_round(tmp_path, service), store).submitted_between(FIRST, LAST)]) == 60  # asked again


def test_what_is_no_study_or_no_record_says_why(service: EuropePmc) -> None:
    result = result_of(service.world.papers[0])
    assert isinstance(paper_of(result, ""), Paper)
    for change, reason in (
        ({"pubTypeList": {"pubType": ["Editorial"]}}, "not_research"),
        ({"firstPublicationDate": "soon"}, "bad_record"),
        ({"authorList": {"author": []}}, "bad_record"),
        ({"title": None}, "bad_record"),
        ({"doi": None, "pmcid": None}, "bad_record"),
    ):
        made = paper_of({**result, **change}, "")
        assert isinstance(made, Drop)
        assert made.reason == reason


def test_a_service_that_cannot_be_reached_is_one_sentence(tmp_path: Path, store: Store, service: EuropePmc) -> None:
    round_ = make_round(tmp_path, service, source={"api": "http://127.0.0.1:9/rest"})
    with pytest.raises(SourceError, match="init --source sample"):
        list(source_of(round_, store).submitted_between(FIRST, LAST))


def test_a_round_of_open_access_papers_is_built_and_published_whole(tmp_path: Path, service: EuropePmc) -> None:
    round_ = make_round(tmp_path, service, licenses="redistributable", link={"searches": 0})
    outcome = run(round_, LocalEngine(1))
    manifest = read_manifest(outcome.output)
    reports = {report.stage: report for report in manifest.reports}
    allowed = [
        paper
        for paper in service.world.papers
        if "by/" in paper.license or "by-sa" in paper.license or "zero" in paper.license
    ]
    assert reports["samples title"].kept == len(allowed)
    # One request for the list, one for each file.
    assert len(service.log) == 61
    assert service.most_open == 1
    assert manifest.reading is not None
    assert manifest.reading.documents == {"jats": 60}
    card = (outcome.output / "README.md").read_text()
    assert "https://doi.org/" in card
    assert "arxiv-per-paper" not in card
    lost = 60 - len(allowed)
    assert f"Of 60 papers (samples title), {lost} ({lost / 60:.0%}) were left out for their licence." in card
    assert manifest.links.get("doi", 0) > 0


@pytest.mark.long
def test_two_months_with_kills_give_the_same_store(tmp_path: Path, service: EuropePmc, warm: Warm) -> None:
    seed = service.world.papers[0].authors[0]
    outcomes = []
    for name in ("whole", "killed"):
        folder = tmp_path / name
        tables = {"crawl": {"seeds": [seed], "authors": 30}, "update": {"papers": 5}}
        first = make_round(folder, service, "2026.09", **tables)
        second = make_round(folder, service, "2026.11", **tables)
        if name == "killed":
            _kill_often(folder, first, service, warm)
        run(first, LocalEngine(1), replace=True)
        crawl_only(second)
        run(second, LocalEngine(1), replace=True)
        outcomes.append((content(folder / "work" / STORE, "answers"), hashes(second.output)))
    assert outcomes[0][1] == outcomes[1][1]
    assert outcomes[0][0] == outcomes[1][0]


def _kill_often(folder: Path, round_: Round, service: EuropePmc, warm: Warm) -> None:
    """Start the round again and again, and kill it some requests later each time."""
    folder.mkdir()
    source = "\n".join(
        f"{key} = {json.dumps(value)}"
        for key, value in round_.source.model_dump(mode="json").items()
        if value not in (None, [])
    )
    (folder / "round.toml").write_text(
        f'round = "{round_.round}"\nsettings = ["Title-10K", "Abs-9K"]\n[source]\n{source}\n[papers]\npublished_from = {FIRST}\n'
        f'[graph]\ncomponent = "all"\n[split]\nvalidation = 0.2\ntest = 0.3\n[crawl]\nseeds = {json.dumps(list(round_.crawl.seeds))}\n'
        "authors = 30\n[update]\npapers = 5\n"
    )
    asked = len(service.log)
    for more in (2, 9, 25):
        process = warm.popen(["academiceval", "run", folder / "round.toml", "--jobs", "1"], cwd=folder)
        while process.poll() is None and len(service.log) < asked + more:
            time.sleep(0.01)
        assert process.kill_all(), "it ended before it was killed"


def test_an_odd_character_is_a_blank() -> None:
    """Of the font Symbol, and of a code page that some records are in: with such characters, a record would be refused."""
    assert plain("At 30 \uf0b0C it\x92s <i>warm</i>") == "At 30 C it s warm"
    assert one_line(etree.fromstring("<p>At 30 \uf0b0C, \x92warm</p>")) == "At 30 C, warm"
