from __future__ import annotations

from pathlib import Path

import pytest

from builder.ids import author_key
from builder.sources.sample.prose import WorldSection
from builder.sources.sample.source import SampleSource
from builder.sources.sample.typeset import draw
from builder.sources.sample.world import LAST_DAY, make_world


def test_the_world_is_as_large_and_as_odd_as_promised() -> None:
    world = make_world(0, 60, 120)
    assert len(world) == 120
    assert (LAST_DAY - world[0].published).days > 390
    assert len({paper.category for paper in world}) >= 4
    assert max(len(paper.authors) for paper in world) == 60
    assert {paper.layout for paper in world} == {"one-column", "two-column"}
    assert {paper.citing for paper in world} == {"numeric", "author-year"}
    assert sum(paper.flaw == "broken" for paper in world) == 1
    headings = [{section.heading for section in paper.sections} for paper in world]
    assert any("Introduction" not in one for one in headings)
    assert any(not one & {"Related Work", "Background and Related Work", "Prior Work"} for one in headings)
    assert any("arXiv preprint arXiv:" in entry for paper in world for entry in paper.references)
    assert any("Made-up Conference" in entry for paper in world for entry in paper.references)
    first = {author_key(paper.authors[0]): paper.category for paper in world}
    same_name = [paper for paper in world if first[author_key(paper.authors[0])] != paper.category]
    assert same_name  # one name, two fields


def test_a_world_is_what_its_arguments_say() -> None:
    assert make_world(3, 20, 30) == make_world(3, 20, 30)
    assert make_world(3, 20, 30) != make_world(4, 20, 30)


def test_the_same_paper_gives_the_same_bytes(tmp_path: Path) -> None:
    paper = make_world(0, 20, 12)[-1]
    for name in ("a.pdf", "b.pdf"):
        draw(paper, tmp_path / name)
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes()


@pytest.mark.slow
def test_a_half_drawn_world_is_drawn_again(tmp_path: Path) -> None:
    first = SampleSource(tmp_path, 1, 10, 6)
    place = first.metadata.parent
    first.metadata.unlink()
    (place / "pdf" / "9999.99999.pdf").touch()
    again = SampleSource(tmp_path, 1, 10, 6)
    assert len(list(again.submitted_between(None, None))) == 6
    assert not (place / "pdf" / "9999.99999.pdf").exists()


def test_sections_are_plain_text() -> None:
    sections = [section for paper in make_world(0, 20, 20) for section in paper.sections]
    assert all(isinstance(section, WorldSection) and all(section.paragraphs) for section in sections)
