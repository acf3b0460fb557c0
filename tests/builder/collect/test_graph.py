"""The co-author graph, and who is who in it among authors with ORCIDs."""

from __future__ import annotations

from dataclasses import replace

from builder.collect.graph import CoAuthorGraph, build_graph, orcids_of
from builder.records import GROUP, Paper
from tests.helpers.graphs import as_networkx
from tests.helpers.papers import paper

ADA, EVE = "0000-0002-1825-0097", "0000-0001-5109-3700"


def test_nodes_are_first_authors_and_edges_join_coauthors() -> None:
    papers = [paper(1, "Ann", "Bob", "Cy"), paper(2, "Bob", "Ann"), paper(3, "Cy", "Dee")]
    graph = build_graph(papers, 50, "largest")
    assert set(as_networkx(graph)) == {"ann", "bob", "cy"}  # Dee wrote nothing as first author
    edges = sorted(sorted(edge) for edge in as_networkx(graph).edges)
    assert edges == [["ann", "bob"], ["ann", "cy"], ["bob", "cy"]]
    assert as_networkx(graph)["ann"]["bob"]["weight"] == 2
    assert (graph.authors, graph.first_authors, graph.report.kept) == (4, 3, 3)


def test_only_the_largest_component_is_kept_unless_all_are_wanted() -> None:
    papers = [paper(1, "Ann", "Bob"), paper(2, "Bob", "Ann"), paper(3, "Zoe")]
    graph = build_graph(papers, 50, "largest")
    assert set(as_networkx(graph)) == {"ann", "bob"}
    assert dict(graph.report.dropped) == {"outside_component": 1}
    assert graph.report.examples == {"outside_component": ["2601.00003"]}
    assert set(as_networkx(build_graph(papers, 50, "all"))) == {"ann", "bob", "zoe"}


def test_long_author_lists_add_no_edges() -> None:
    crowd = [f"P{i}" for i in range(4)]
    papers = [paper(0, *crowd)] + [paper(i + 1, name) for i, name in enumerate(crowd)]
    assert as_networkx(build_graph(papers, 4, "all")).number_of_edges() == 6
    assert as_networkx(build_graph(papers, 3, "all")).number_of_edges() == 0


def test_spellings_of_one_name_are_one_node() -> None:
    graph = build_graph([paper(1, "Zoë B. Ek"), paper(2, "zoe b ek")], 50, "all")
    assert graph.papers == {"zoe b ek": ("2601.00001", "2601.00002")}


def test_neighbour_papers_are_first_author_papers_of_coauthors() -> None:
    papers = [paper(1, "Ann", "Bob"), paper(2, "Bob"), paper(3, "Bob", "Cy"), paper(4, "Ann"), paper(5, "Cy")]
    graph = build_graph(papers, 50, "largest")
    assert graph.neighbour_papers(papers[0]) == ["2601.00002", "2601.00003"]
    assert graph.neighbour_papers(papers[4]) == ["2601.00002", "2601.00003"]


def test_ties_between_components_are_broken_by_name() -> None:
    papers = [paper(1, "Zed"), paper(2, "Amy")]
    forward = build_graph(papers, 50, "largest")
    backward = build_graph(papers[::-1], 50, "largest")
    assert set(as_networkx(forward)) == set(as_networkx(backward))


def test_no_papers_no_graph() -> None:
    graph = build_graph([], 50, "largest")
    assert (as_networkx(graph).number_of_nodes(), graph.report.total) == (0, 0)


# --- ORCIDs


def known(number: int, *authors: tuple[str, str]) -> Paper:
    names, ids = zip(*authors, strict=True)
    return replace(paper(number, *names), author_ids=ids)


def graph_of(papers: list[Paper]) -> CoAuthorGraph:
    return build_graph(papers, 50, "all", orcids=orcids_of(papers))


def test_an_orcid_is_one_author_under_all_spellings() -> None:
    papers = [
        known(1, ("J. Smith", ADA), ("Bob", "")),
        known(2, ("Jane Smith", ADA), ("Cy", "")),
        paper(3, "Bob"),
        paper(4, "Cy"),
    ]
    graph = graph_of(papers)
    assert graph.papers[ADA] == ("2601.00001", "2601.00002")
    assert graph.neighbour_papers(papers[0]) == ["2601.00003", "2601.00004"]
    assert (graph.orcids, graph.shared_names) == (1, 0)


def test_a_name_without_orcid_is_the_only_one_who_has_it() -> None:
    papers = [known(1, ("Jane Smith", ADA)), paper(2, "jane smith")]
    assert graph_of(papers).papers == {ADA: ("2601.00001", "2601.00002")}


def test_two_orcids_of_one_name_are_never_merged() -> None:
    papers = [known(1, ("J Smith", ADA)), known(2, ("J Smith", EVE)), paper(3, "J Smith")]
    graph = graph_of(papers)
    assert graph.papers == {ADA: ("2601.00001",), EVE: ("2601.00002",), "j smith": ("2601.00003",)}
    assert (graph.orcids, graph.shared_names) == (2, 1)


def test_a_consortium_joins_nobody() -> None:
    papers = [known(1, ("Ann", ""), ("The Group", GROUP)), known(2, ("Bob", ""), ("The Group", GROUP))]
    assert graph_of(papers).edges == 0


def test_authors_without_orcids_go_by_name() -> None:
    papers = [paper(1, "Ann", "Bob"), paper(2, "Bob")]
    with_none, without = graph_of(papers), build_graph(papers, 50, "all")
    assert (
        (with_none.papers, with_none.edges)
        == (without.papers, without.edges)
        == ({"ann": ("2601.00001",), "bob": ("2601.00002",)}, 1)
    )


def test_spellings_with_and_without_strokes_are_one_if_they_share_a_coauthor() -> None:
    papers = [paper(1, "Łukasz Nowak", "Bob"), paper(2, "Lukasz Nowak", "Bob"), paper(3, "Bob"), paper(4, "Søren Bo")]
    alone = [*papers, paper(5, "Soren Bo", "Cy"), paper(6, "Łukasz Nowak")]
    graph = graph_of(alone)
    assert graph.papers["łukasz nowak"] == ("2601.00001", "2601.00002", "2601.00006")
    assert {"søren bo", "soren bo"} <= graph.papers.keys() and "lukasz nowak" not in graph.papers
    assert graph.authors == 5
    assert graph.neighbour_papers(papers[1]) == ["2601.00003"]
    # Two who write together are two.
    together = graph_of([*papers, paper(5, "Łukasz Nowak", "Lukasz Nowak")])
    assert "lukasz nowak" in together.papers


def test_an_orcid_of_one_spelling_is_that_of_the_other_if_they_share_a_coauthor() -> None:
    papers = [known(1, ("Łukasz Nowak", ADA), ("Bob", "")), paper(2, "Lukasz Nowak", "Bob")]
    assert graph_of(papers).papers == {ADA: ("2601.00001", "2601.00002")}
    strokeless = [known(1, ("Lukasz Nowak", ADA), ("Bob", "")), paper(2, "Łukasz Nowak", "Bob")]
    assert len(graph_of(strokeless).papers) == 1
    apart = [*papers[:1], known(2, ("Lukasz Nowak", EVE), ("Bob", ""))]
    assert len(graph_of(apart).papers) == 2
