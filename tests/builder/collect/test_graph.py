from __future__ import annotations

from builder.collect.graph import build_graph
from tests.helpers.graphs import as_networkx
from tests.helpers.papers import paper


def test_nodes_are_first_authors_and_edges_join_coauthors() -> None:
    papers = [paper(1, "Ann", "Bob", "Cy"), paper(2, "Bob", "Ann"), paper(3, "Cy", "Dee")]
    graph = build_graph(papers, 50, "largest")
    assert set(as_networkx(graph)) == {"ann", "bob", "cy"}  # Dee wrote nothing as first author
    assert {frozenset(edge) for edge in as_networkx(graph).edges} == {
        frozenset("ann bob".split()),
        frozenset("ann cy".split()),
        frozenset("bob cy".split()),
    }
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
    assert set(as_networkx(build_graph(papers, 50, "largest"))) == set(
        as_networkx(build_graph(papers[::-1], 50, "largest"))
    )


def test_no_papers_no_graph() -> None:
    graph = build_graph([], 50, "largest")
    assert (as_networkx(graph).number_of_nodes(), graph.report.total) == (0, 0)
