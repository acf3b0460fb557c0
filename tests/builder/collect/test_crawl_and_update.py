"""The walk from seed authors, its monthly update, and that kills change nothing: over a mirror and a loopback arXiv."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from builder.collect.update import update
from builder.errors import RoundError
from builder.pipeline import collect
from builder.records import Drop, Paper, months_before
from builder.round.model import Round
from builder.sources.mirror import MirrorSource
from builder.sources.sample import SampleSource
from builder.store import STORE, Author, Store
from lm_eval_tasks.engines.registry import LocalEngine
from lm_eval_tasks.families.rounds import read_manifest
from standins.loopback import Fault, Loopback, World, serve
from standins.rounds import crawl_only, run
from tests.helpers.dump import content
from tests.helpers.graphs import as_networkx
from tests.helpers.papers import mirror, paper
from tests.helpers.served import Command
from tests.helpers.warm import Warm

JANUARY = [
    paper(1, "Ada A", "Bo B", "Cy C"),
    paper(2, "Ada A", "Bo B"),
    paper(3, "Bo B", "Dee D", day=3),
    paper(4, "Cy C", day=4),
    paper(5, "Dee D", "Eve E", day=5),
    paper(6, "Eve E", day=6),
    paper(7, "Xi X", day=7),
    paper(8, "Ada A", day=8, category="math.AG"),
]
FEBRUARY = [
    paper(11, "Ada A", "New N", day=32),
    paper(12, "Ada A", "New N", day=33),
    paper(13, "Bo B", "Far F", day=34),
    paper(14, "New N", "Next T", day=35),
    paper(15, "Far F", day=36),
    paper(16, "Next T", day=37),
    paper(17, "Xi X", day=38),
    paper(18, "Cy C", day=39, category="math.AG"),
]
SEEDS = {"seeds": ["Ada A"], "authors": 50}


def make_round(folder: Path, name: str = "2026.02", **tables: object) -> Round:
    fields: dict[str, object] = {
        "round": name,
        "workspace": folder / "work",
        "output": folder / "academiceval",
        "source": {"kind": "mirror", "path": folder / "mirror"},
        "papers": {"categories": ["cs.CL"]},
        "crawl": SEEDS,
    }
    return Round.model_validate({**fields, **tables})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    mirror(tmp_path / "mirror", JANUARY + FEBRUARY)
    return tmp_path


def visited(folder: Path, round_: str = "2026.02") -> set[str]:
    with Store.open(folder / "work" / STORE) as store:
        return set(store.frontier.members(round_))


def pool(folder: Path) -> list[str]:
    with Store.open(folder / "work" / STORE) as store:
        return [p.id[-2:] for p in store.papers()]


# --- the walk


def test_the_walk_reaches_what_is_connected_and_takes_what_belongs(folder: Path) -> None:
    graph, (crawled, on_graph) = crawl_only(make_round(folder))
    assert visited(folder) == {"ada a", "bo b", "cy c", "dee d", "eve e"}
    assert pool(folder) == ["01", "02", "03", "04", "05", "06"]
    assert (crawled.stage, crawled.total, crawled.kept, crawled.dropped) == ("crawl", 7, 6, {"other_category": 1})
    assert on_graph.kept == 6
    assert graph.papers["ada a"] == ("2601.00001", "2601.00002")


@pytest.mark.parametrize("crawl", [SEEDS, {}])
def test_a_class_among_the_categories_is_left_out_and_counted(tmp_path: Path, crawl: dict[str, Any]) -> None:
    classed = [replace(one, categories=("cs.CL", "I.2.7")) for one in JANUARY[:2]]
    mirror(tmp_path / "mirror", [*classed, *JANUARY[2:]])
    _, (crawled, _) = crawl_only(make_round(tmp_path, crawl=crawl))
    assert (crawled.dropped, crawled.mended) == ({"other_category": 1}, {"class": 2})
    assert "other_category 1; left out of kept papers: class 2 (" in crawled.line()
    with Store.open(tmp_path / "work" / STORE) as store:
        [paper_] = store.papers([JANUARY[0].id])
    assert (paper_.categories, paper_.classes) == (("cs.CL",), ("I.2.7",))


@pytest.mark.parametrize(
    ("tables", "reached"),
    [
        # Breadth-first, most shared papers first.
        ({"crawl": {"seeds": ["Ada A"], "authors": 2}}, {"ada a", "bo b"}),
        # Whose closest co-author is Ada again.
        ({"crawl": {"seeds": ["Ada A"], "neighbours": 1}}, {"ada a", "bo b"}),
        ({"crawl": {"seeds": ["Ada A"], "papers": 3}}, {"ada a", "bo b"}),
        # Papers with very many authors bring nobody.
        ({"graph": {"max_authors": 2}}, {"ada a", "bo b", "dee d", "eve e"}),
    ],
)
def test_the_walk_keeps_to_its_limits(folder: Path, tables: dict[str, object], reached: set[str]) -> None:
    crawl_only(make_round(folder, **tables))
    assert visited(folder) == reached


def test_authors_that_were_not_visited_are_not_on_the_graph(folder: Path) -> None:
    graph, (_, on_graph) = crawl_only(make_round(folder, crawl={"seeds": ["Bo B"], "authors": 1}))
    assert set(as_networkx(graph)) == {"bo b"}
    assert on_graph.dropped == {"not_visited": 2}


def test_higher_limits_go_on_from_where_the_walk_stopped(folder: Path) -> None:
    crawl_only(make_round(folder, crawl={"seeds": ["Ada A"], "authors": 2}))
    crawl_only(make_round(folder))
    assert len(visited(folder)) == 5


@pytest.mark.slow
def test_active_authors_are_admitted_less_often(tmp_path: Path) -> None:
    """A hundred co-authors with one paper each and a hundred with nine: the draw thins out the latter."""
    papers = [paper(1, "Hub H", *(f"Idle {i}" for i in range(100)), *(f"Busy {i}" for i in range(100)))]
    papers += [paper(10 + 10 * i + j, f"Busy {i}", "Hub H", day=1) for i in range(100) for j in range(9)]
    mirror(tmp_path / "mirror", papers)
    tables = {"graph": {"max_authors": 500}, "source": {"kind": "mirror", "path": tmp_path / "mirror"}}
    limits = {"seeds": ["Hub H"], "authors": 1, "neighbours": 500}
    names = {}
    for penalty in (0.0, 1.0):
        for seed in (1, 2):
            place = tmp_path / f"{penalty}-{seed}"
            round_ = make_round(place, crawl={**limits, "activity_penalty": penalty}, seed=seed, **tables)
            crawl_only(round_)
            with Store.open(place / "work" / STORE) as store:
                waiting = []
                while author := store.frontier.next("2026.02"):
                    waiting.append(author.key)
                    store.frontier.visit(author.key, "2026.02")
            names[penalty, seed] = waiting
            assert round_.config()["crawl"]["activity_penalty"] == penalty  # type: ignore[index]
    assert len(names[0.0, 1]) == 200
    idle, busy = (sum(name.startswith(kind) for name in names[1.0, 1]) for kind in ("idle", "busy"))
    assert idle == 100
    assert 2 <= busy <= 25  # expected: one in ten
    assert names[1.0, 1] != names[1.0, 2]


def test_names_are_kept_as_printed_and_filed_folded(tmp_path: Path) -> None:
    mirror(tmp_path / "mirror", [paper(1, "Ada A", "Zoë  Ünal"), paper(2, "ZOE UNAL", day=1)])
    graph, _ = crawl_only(make_round(tmp_path))
    assert set(as_networkx(graph)) == {"ada a", "zoe unal"}


def test_a_forgotten_record_of_a_file_of_references_is_read_again(folder: Path, store: Store) -> None:
    source = {"kind": "mirror", "path": folder / "mirror", "references": [folder / "mirror" / "meta.jsonl"]}
    for _ in range(2):
        collect(make_round(folder, source=source), Watched(folder), store)
        assert store.knows("2601.00007")
        store.forget(["2601.00007"])


# --- what can be wrong


@pytest.mark.parametrize(
    ("seeds", "said"),
    [
        (["Ada Q"], "no paper of the seed author 'Ada Q' in the round's window"),
        (["Ada A", "New N"], "no paper of the seed author 'New N'"),
    ],
)
def test_an_unknown_seed_is_named(folder: Path, seeds: list[str], said: str) -> None:
    with pytest.raises(RoundError, match=said):
        crawl_only(make_round(folder, crawl={"seeds": seeds}))
    crawl_only(make_round(folder))  # nothing of the failed call is in the way


def test_a_seed_without_a_paper_of_its_own_is_named(tmp_path: Path) -> None:
    mirror(tmp_path / "mirror", [paper(1, "Ada A", "Bo B")])
    with pytest.raises(RoundError, match=r"'Bo B' has no first-author paper in the round's window \(1 as co-author\)"):
        crawl_only(make_round(tmp_path, crawl={"seeds": ["Bo B"]}))


def test_a_walk_does_not_change_its_shape(folder: Path) -> None:
    crawl_only(make_round(folder))
    with pytest.raises(RoundError, match=r"crawled with crawl.neighbours = 50, but round.toml says 3"):
        crawl_only(make_round(folder, crawl={**SEEDS, "neighbours": 3}))
    later = make_round(folder, "2026.03", papers={"categories": ["math.AG"], "published_to": "2026-02-28"})
    with pytest.raises(RoundError, match=r"papers.categories"):
        crawl_only(later)


# --- the update


@pytest.mark.parametrize(
    ("wanted", "members", "papers"),
    [
        (0, set(), {"11", "12", "13"}),
        (5, {"new n", "next t"}, {"11", "12", "13", "14", "16"}),
        (99, {"new n", "far f", "next t"}, {"11", "12", "13", "14", "15", "16"}),
    ],
)
def test_candidates_of_active_authors_come_first(
    folder: Path, wanted: int, members: set[str], papers: set[str]
) -> None:
    crawl_only(make_round(folder))
    graph, (updated, _) = crawl_only(make_round(folder, "2026.03", update={"papers": wanted}))
    assert visited(folder, "2026.03") - visited(folder) == members
    assert set(pool(folder)) == {"01", "02", "03", "04", "05", "06"} | papers
    assert updated.kept == len(papers)
    assert updated.dropped["other_category"] == 1
    assert updated.dropped["no_graph_author"] == 7 - len(papers)
    assert set(as_networkx(graph)) == {"ada a", "bo b", "cy c", "dee d", "eve e"} | members


def test_an_update_is_done_once_and_older_rounds_stay_as_they_were(folder: Path) -> None:
    before = crawl_only(make_round(folder))[0]
    later = make_round(folder, "2026.03", update={"papers": 99})
    first = crawl_only(later)
    state = content(folder / "work" / STORE)
    assert [r.to_dict() for r in crawl_only(later)[1]] == [r.to_dict() for r in first[1]]
    assert content(folder / "work" / STORE) == state
    again = crawl_only(make_round(folder))[0]
    assert (again.papers, sorted(as_networkx(again).edges)) == (before.papers, sorted(as_networkx(before).edges))


def test_papers_announced_late_are_found_in_the_overlap(folder: Path) -> None:
    crawl_only(make_round(folder))
    late = replace(paper(9, "Ada A", day=30), title="Submitted in January, announced in February")
    mirror(folder / "mirror", [*JANUARY, late, *FEBRUARY])
    crawl_only(make_round(folder, "2026.03"))
    assert "09" in pool(folder)
    assert "2601.00009" not in crawl_only(make_round(folder))[0].papers["ada a"]


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ("2026.03", "2026.02", "the graph of round 2026.03, which covers 2026-02-28: give a later round"),
        ("2026.02", "2026.03", "the graph of round 2026.02, which covers 2026-02-28: give a later round"),
    ],
)
def test_an_update_of_nothing_says_so(folder: Path, first: str, second: str, said: str) -> None:
    papers = {"categories": ["cs.CL"], "published_to": "2026-02-28"}
    crawl_only(make_round(folder, first, papers=papers))
    with pytest.raises(RoundError, match=said):
        crawl_only(make_round(folder, second, papers=papers))


def test_without_seeds_a_later_round_takes_all_that_a_folder_has_by_now(folder: Path) -> None:
    crawl_only(make_round(folder, crawl={}, papers={"published_to": "2026-01-31"}))
    before = pool(folder)
    mirror(folder / "mirror", [*JANUARY, paper(9, "Old N", "Ada A", day=2), *FEBRUARY])
    later = make_round(folder, "2026.03", crawl={}, papers={"published_to": "2026-02-28"})
    reports = crawl_only(later)[1]
    assert (len(before), len(pool(folder)), reports[0].kept) == (8, 17, 17)
    assert "outside_window" not in reports[0].dropped


def test_a_paper_of_an_earlier_round_is_none_of_the_new_ones_that_an_update_wants(folder: Path) -> None:
    mirror(folder / "mirror", [*JANUARY, paper(9, "New N", "Ada A", day=29), *FEBRUARY])
    for name in ("2026.02", "2026.03"):
        crawl_only(make_round(folder, name, crawl={"seeds": ["Ada A"], "authors": 1}, update={"papers": 4}))
    # As one counts who goes on where an update was killed: 11, 12, 14, 16.
    assert visited(folder, "2026.03") == {"ada a", "new n", "next t"}


def test_what_a_source_withdrew_or_no_longer_has_is_of_no_later_pool(tmp_path: Path) -> None:
    withdrawn = paper(2, "Ada A", abstract="This paper has been withdrawn.")
    two = [paper(1, "Ada A"), paper(2, "Ada A")]
    held = []
    months = [("2026.02", [*two, paper(3, "Ada A")]), ("2026.02", two), ("2026.03", [two[0], withdrawn])]
    for name, papers in (*months, ("2026.04", two), ("2026.05", two[1:])):
        mirror(tmp_path / "mirror", papers)
        held.append(len(crawl_only(make_round(tmp_path, name, crawl={}))[0].papers["ada a"]))
    assert held == [3, 2, 1, 2, 1]


def test_a_round_is_what_its_source_has_now_whatever_was_taken_before(tmp_path: Path) -> None:
    mirror(tmp_path / "mirror", [replace(paper(1, "Ada A"), version=2), paper(2, "Ada A")])
    for name, categories in (("2026.02", ["cs.CL"]), ("2026.03", ["cs.CL"])):
        crawl_only(make_round(tmp_path, name, crawl={}, papers={"categories": categories}))
    with pytest.raises(RoundError, match="no paper of the source"):
        crawl_only(make_round(tmp_path, crawl={}, papers={"categories": ["cs.CLL"]}))
    mirror(tmp_path / "mirror", [replace(paper(1, "Ada A"), version=1), replace(paper(2, "Ada A"), license="unknown")])
    for name in ("2026.02", "2026.03"):
        graph, _ = crawl_only(make_round(tmp_path, name, crawl={}, papers={"categories": ["cs.CL"]}))
        assert len(graph.papers["ada a"]) == 2
    with Store.open(tmp_path / "work" / STORE) as store:
        assert [(each.version, each.license == "unknown") for each in store.papers()] == [(1, False), (1, True)]


def test_after_a_round_of_fewer_days_the_next_one_has_what_it_left_out(tmp_path: Path) -> None:
    mirror(tmp_path / "mirror", [paper(n + 1, "Ada A", day=31 * n) for n in range(4)])
    days = [date(2026, month, 28) for month in (3, 1, 4)]
    rounds = [
        make_round(tmp_path, f"2026.0{n}", crawl={}, papers={"published_to": day}) for n, day in enumerate(days, 5)
    ]
    assert [len(crawl_only(round_)[0].papers["ada a"]) for round_ in rounds] == [3, 1, 4]


@pytest.mark.parametrize(
    "tables", [{"papers": {"published_to": date(2026, 1, 20)}}, {"update": {"papers": 98}}, {"crawl": {}}]
)
def test_a_finished_walk_is_of_its_days_and_size_and_stays(folder: Path, tables: dict[str, Any]) -> None:
    crawl_only(make_round(folder))
    crawl_only(make_round(folder, "2026.03", update={"papers": 99}))
    with pytest.raises(RoundError, match="back"):
        crawl_only(make_round(folder, "2026.03", **({"update": {"papers": 99}} | tables)))


@pytest.mark.parametrize("name", ["2026.02", "2026.03"])
def test_a_killed_walk_goes_on_to_its_own_last_day(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name != "2026.02":
        crawl_only(make_round(folder))
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Store, "taken", Mock(side_effect=KeyboardInterrupt))
        crawl_only(make_round(folder, name))
    with pytest.raises(RoundError, match="change it back"):
        crawl_only(make_round(folder, name, papers={"published_to": date(2026, 2, 2)}))


# --- pruning


def test_old_papers_and_inactive_authors_are_pruned_and_counted(folder: Path) -> None:
    crawl_only(make_round(folder))
    crawl_only(make_round(folder, "2026.03", update={"papers": 99}))
    graph, (_, report) = crawl_only(make_round(folder, "2026.03", update={"papers": 99, "max_age_months": 1}))
    assert report.dropped["too_old"] == 6
    assert all(id_ >= "2601.00011" for ids in graph.papers.values() for id_ in ids)
    graph, (_, report) = crawl_only(make_round(folder, "2026.03", update={"papers": 99, "inactive_months": 1}))
    assert set(as_networkx(graph)).isdisjoint({"eve e", "dee d", "cy c"})
    assert report.dropped["inactive_author"] == 3


def test_rounds_of_a_live_source_prune_and_grow_unless_told_otherwise(folder: Path) -> None:
    live = {"kind": "arxiv", "contact": "me@example.org"}
    round_ = make_round(folder, source=live)
    assert (round_.new_papers, round_.max_age_months, round_.inactive_months) == (1000, 36, 24)
    never = make_round(folder, source=live, update={"papers": 0, "max_age_months": 0, "inactive_months": 0})
    assert (never.new_papers, never.max_age_months, never.inactive_months) == (0, None, None)
    mirrored = make_round(folder)
    assert (mirrored.new_papers, mirrored.max_age_months, mirrored.inactive_months) == (0, None, None)
    config = round_.config()["update"]
    assert isinstance(config, dict)
    assert (config["papers"], config["max_age_months"], config["inactive_months"]) == (1000, 36, 24)


def test_pruned_authors_are_not_looked_up_again(folder: Path) -> None:
    crawl_only(make_round(folder, update={"inactive_months": 1}))
    unchecked = []
    for name in ("2026.05", "2026.06"):
        later = make_round(folder, name, update={"inactive_months": 1})
        with Store.open(folder / "work" / STORE) as store:
            before = store.frontier.unchecked(name)
            update(later, Watched(folder), store)
            unchecked.append((before, store.frontier.unchecked(name)))
    assert "Ada A" in {author.name for author in unchecked[0][0]} - {author.name for author in unchecked[0][1]}
    assert unchecked[1][0] == unchecked[1][1] != []


@pytest.mark.parametrize(
    ("day", "months", "before"),
    [
        (date(2026, 3, 31), 1, date(2026, 2, 28)),
        (date(2026, 1, 15), 25, date(2023, 12, 15)),
    ],
)
def test_months_are_counted_back(day: date, months: int, before: date) -> None:
    assert months_before(day, months) == before


# --- killed and started again


class Killed(BaseException):
    """Not an Exception: nothing may catch it."""


class Watched:
    """A mirror that kills after a number of authors that are asked for, or of papers of whole months."""

    def __init__(self, folder: Path, left: int = 10**6) -> None:
        self._source = MirrorSource(folder / "mirror")
        self.left = left

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Killed

    def by_author(self, name: str, first: date | None = None, last: date | None = None) -> Iterator[Paper | Drop]:
        self._count()
        return self._source.by_author(name, first, last)

    def submitted_between(self, first: date | None, last: date | None) -> Iterator[Paper | Drop]:
        for item in self._source.submitted_between(first, last):
            self._count()
            yield item

    def __getattr__(self, name: str) -> object:
        return getattr(self._source, name)


@pytest.mark.parametrize("left", range(9))
def test_a_walk_killed_at_any_question_ends_the_same(folder: Path, left: int) -> None:
    stores = []
    for limits in ([10**6], [left, 10**6]):
        workspace = folder / f"work-{len(limits)}"
        round_ = make_round(folder).model_copy(update={"workspace": workspace})
        for limit in limits:
            with Store.open(workspace / STORE) as store:
                try:
                    collect(round_, Watched(folder, left=limit), store)
                except Killed:
                    continue
                later = make_round(folder, "2026.03", update={"papers": 9})
                for again in (left, 10**6) if len(limits) > 1 else (10**6,):
                    try:
                        collect(later, Watched(folder, left=again), store)
                    except Killed:
                        continue
        stores.append(content(workspace / STORE))
    assert stores[0] == stores[1]


# --- over a loopback arXiv


@pytest.fixture
def server(world: Path, tmp_path: Path) -> Iterator[Loopback]:
    place = tmp_path / "sample"
    shutil.copytree(world / "work" / "sample", place)
    with serve(World(SampleSource(place, authors=20, papers=50))) as running:
        yield running


def arxiv_round(folder: Path, server: Loopback, name: str = "2026.11", **tables: object) -> Round:
    fields: dict[str, object] = {
        "round": name,
        "seed": 7,
        "workspace": folder / "work",
        "output": folder / "academiceval",
        "source": server.tables(),
        "split": {"validation": 0.2, "test": 0.25},
    }
    return Round.model_validate({**fields, **tables})


def first_authors(server: Loopback) -> list[str]:
    return sorted({p.authors[0] for p in server.world.papers})


@pytest.mark.slow
@pytest.mark.long
def test_a_round_from_arxiv_holds_what_the_world_holds(world: Path, tmp_path: Path, server: Loopback) -> None:
    outcome = run(arxiv_round(tmp_path, server), LocalEngine(2))
    theirs = read_manifest(world / "academiceval")
    assert {one.name: one.samples for one in outcome.manifest.configurations} == {
        one.name: one.samples for one in theirs.configurations
    }
    ours = read_manifest(tmp_path / "academiceval")
    assert {name.split("/")[0] for name in ours.files} == {name.split("/")[0] for name in theirs.files}
    asked = len(server.log)
    assert server.asked["oai"] == 1
    assert server.asked["pdf"] < 20  # only papers without good HTML
    run(arxiv_round(tmp_path, server), LocalEngine(2))
    assert len(server.log) == asked


@pytest.mark.slow
def test_an_update_asks_one_list_for_all_authors(tmp_path: Path, server: Loopback) -> None:
    papers = {"published_to": "2026-08-31"}
    limits = {"seeds": first_authors(server)[:3], "authors": 8}
    before, _ = crawl_only(arxiv_round(tmp_path, server, "2026.09", papers=papers, crawl=limits))
    server.log.clear()
    after, _ = crawl_only(arxiv_round(tmp_path, server, crawl=limits, update={"papers": 6}))
    assert len(server.log) == 1
    ids_before, ids_after = ({id_ for ids in graph.papers.values() for id_ in ids} for graph in (before, after))
    assert ids_before < ids_after


@pytest.mark.slow
def test_requests_an_author_and_the_status_of_a_crawl(tmp_path: Path, server: Loopback, command: Command) -> None:
    match = '[reading]\nconfigurations = ["Match-128K"]\ncontexts = 4\ncited_papers = 10\n'
    file = write(tmp_path, server, "authors = 6", match)
    server.faults = [Fault("au:", (403, {}, b"Access Denied"), skip=4)]
    code, _, errors = command("run", file, "--until", "crawl")
    assert code == 1
    assert "denies access" in errors
    code, out, _ = command("status", file)
    assert code == 0
    assert "frontier: 4 authors visited" in out
    assert "left of the crawl: 2 authors, about 0 min" in out
    assert "cited papers to fetch for Match: at most 120, 0.0 h" in out
    assert f"requests to 127.0.0.1:{server.server_port}: 5 in" in out
    assert command("run", file, "--until", "crawl")[0] == 0
    assert server.asked == {"api": 7}  # six authors, and the one that was denied
    assert "round 2026.11: covered to 2026-10-31" in command("status", file)[1]


def write(folder: Path, server: Loopback, crawl_lines: str = "", more: str = "") -> Path:
    source = "\n".join(f"{key} = {json.dumps(value)}" for key, value in server.tables().items())
    file = folder / "round.toml"
    file.write_text(
        f'round = "2026.11"\nseed = 7\n[source]\n{source}\n'
        f"[crawl]\nseeds = {json.dumps(first_authors(server)[:2])}\n{crawl_lines}\n{more}"
    )
    return file


@pytest.mark.slow
def test_kill_9_at_any_point_changes_nothing(warm: Warm, tmp_path: Path, server: Loopback) -> None:
    papers = "[papers]\npublished_to = 2026-08-31\n"
    files = {
        "2026.09": write(tmp_path, server, "authors = 12", papers).rename(tmp_path / "first.toml"),
        "2026.11": write(tmp_path, server, "authors = 12", "[update]\npapers = 9\n"),
    }
    states = []
    for name, kills in (("calm", 0), ("rough", 3)):
        for round_, file in files.items():
            line = ["academiceval", "run", file, "--round", round_, "--until", "crawl", "--workspace", tmp_path / name]
            for _ in range(kills):
                asked = len(server.log)
                process = warm.popen(line)
                while process.poll() is None and len(server.log) < asked + (2 if round_ == "2026.09" else 1):
                    time.sleep(0.002)
                # An update asks once: its second start may have nothing left to ask.
                assert process.kill_all() or round_ == "2026.11", "it ended before it was killed"
            warm.run(line, check=True)
            states.append((round_, content(tmp_path / name / STORE)))
    assert states[0] == states[2]
    assert states[1] == states[3]


@pytest.mark.slow
def test_a_full_disk_is_one_sentence_and_loses_nothing(warm: Warm, tmp_path: Path, server: Loopback) -> None:
    file = write(tmp_path, server)
    line = ["academiceval", "run", "--until", "crawl", file]
    little_room = (
        "import resource, signal, sys; from builder.cli import main; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        f"resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000)); sys.exit(main(['run', '--until', 'crawl', {str(file)!r}]))"
    )
    full = warm.run(["python", "-c", little_room])
    assert full.returncode == 1
    assert re.match("error: the (workspace's )?store cannot be (used|written): .* room", full.stderr)
    assert full.stderr.count("\n") == 1
    warm.run(line, check=True)
    warm.run([*line, "--workspace", tmp_path / "calm"], check=True)
    assert content(tmp_path / "work" / STORE) == content(tmp_path / "calm" / STORE)


@pytest.mark.slow
def test_an_offline_machine_is_one_sentence(tmp_path: Path, server: Loopback, command: Command) -> None:
    file = write(tmp_path, server)
    server.shutdown()
    server.server_close()
    code, _, errors = command("run", file, "--until", "crawl")
    assert code == 1
    assert "failed 3 times, last: it cannot be reached (is this machine online?)" in errors
    assert errors.count("\n") == 1


def test_the_frontier_keeps_the_place_of_who_waits_already(store: Store) -> None:
    one, two = Author("one", "One"), Author("two", "Two")
    store.frontier.admit([one, two], "2026.11")
    store.frontier.admit([two, one], "2026.11")
    assert store.frontier.next("2026.11") == one
    store.frontier.admit([two], "2026.12", priority=3)
    assert store.frontier.next_candidate("2026.12") == two
