from __future__ import annotations

import random
import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from statistics import fmean

import pymupdf
import pytest

from builder.extract.html import read_html
from builder.ids import author_key
from builder.sources.sample import SampleSource, draw, page
from builder.sources.sample.world import LAST_DAY, WorldPaper, make_world, months_until
from lm_eval_tasks.base.rouge import rouge_l_content
from tests.helpers.planted import citations


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


def test_a_world_is_what_its_arguments_say_and_later_months_change_nothing_of_it() -> None:
    first, longer = make_world(3, 20, 30), make_world(3, 20, 30, later=2)
    assert first == make_world(3, 20, 30)
    assert first != make_world(4, 20, 30)
    assert longer[: len(first)] == first
    assert {f"{paper.published:%y%m}" for paper in longer[len(first) :]} == {"2611", "2612"}
    assert [months_until(date(*day)) for day in ((2025, 1, 31), (2026, 10, 31), (2026, 11, 30), (2027, 1, 31))] == [
        *(0, 0, 1, 3)
    ]


@pytest.mark.parametrize("authors", range(1, 8))
def test_a_world_may_be_small(authors: int) -> None:
    assert len(make_world(0, authors, 15)) == 15


def test_the_same_paper_gives_the_same_bytes(tmp_path: Path) -> None:
    paper = make_world(0, 20, 12)[-1]
    for name in ("a.pdf", "b.pdf"):
        draw(paper, tmp_path / name)
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes()


def test_a_pdf_has_all_that_its_paper_says(tmp_path: Path) -> None:
    for paper in [paper for paper in make_world(0, 60, 120) if not paper.flaw][:40]:
        draw(paper, tmp_path / "a.pdf")
        with pymupdf.open(tmp_path / "a.pdf") as pdf:
            printed = sum(len(page.get_text().split()) for page in pdf)
        assert printed > len(body(paper).split()) + len(" ".join(paper.references).split())


@pytest.mark.slow
def test_a_half_drawn_world_is_drawn_again(tmp_path: Path) -> None:
    first = SampleSource(tmp_path, 1, 10, 6)
    place = first.metadata.parent
    first.metadata.unlink()
    (place / "pdf" / "9999.99999.pdf").touch()
    again = SampleSource(tmp_path, 1, 10, 6)
    assert len(list(again.submitted_between(None, None))) == 6
    assert not (place / "pdf" / "9999.99999.pdf").exists()


# --- the texts make sense


def body(paper: WorldPaper) -> str:
    return "\n".join(text for section in paper.sections for text in section.paragraphs)


def extract(text: str, target: str, words: int) -> str:
    """The sentences that together are nearest to a target, chosen one by one, in the order of the text."""
    sentences = re.split(r"(?<=[.?!])\s+", text)
    chosen: list[int] = []
    while sum(len(sentences[i].split()) for i in chosen) < words:
        scores = {
            i: rouge_l_content(target, " ".join(sentences[k] for k in sorted([*chosen, i])))
            for i in range(len(sentences))
            if i not in chosen
        }
        chosen.append(max(scores, key=scores.__getitem__))
    return " ".join(sentences[i] for i in sorted(chosen))


def mean_score(papers: Sequence[WorldPaper], answers: Sequence[str]) -> float:
    return fmean(rouge_l_content(paper.abstract, text) for paper, text in zip(papers, answers, strict=True))


@pytest.mark.parametrize("seed", [2026, *(pytest.param(seed, marks=pytest.mark.long) for seed in (0, 1))])
def test_baselines_rank_as_on_real_papers(seed: int) -> None:
    rng = random.Random(seed)
    world = [paper for paper in make_world(seed, 60, 120) if not paper.flaw]
    papers = world[60:90]
    words = 84
    texts = [body(paper) for paper in papers]
    near = [
        [other.abstract for other in world if other is not paper and set(other.authors) & set(paper.authors)]
        for paper in papers
    ]
    shuffled = [
        " ".join(rng.sample(parts, len(parts))) for parts in (re.split(r"(?<=[.?!])\s+", text) for text in texts)
    ]
    wrong = fmean(mean_score(papers, [papers[i - k].abstract for i in range(len(papers))]) for k in range(1, 9))
    copied = fmean(mean_score(papers, [rng.choice(abstracts) for abstracts in near]) for _ in range(8))
    mixed = mean_score(papers, [" ".join(text.split()[:words]) for text in shuffled])
    lead = mean_score(papers, [" ".join(text.split()[:words]) for text in texts])
    extracted = mean_score(
        papers[:8], [extract(text, paper.abstract, words) for text, paper in zip(texts[:8], papers, strict=False)]
    )
    assert wrong < copied < mixed < lead < extracted


def test_the_body_says_what_the_abstract_says() -> None:
    for paper in make_world(4, 20, 30):
        text = body(paper)
        assert all(all(section.paragraphs) for section in paper.sections)
        assert paper.method in text
        facts = re.findall(
            r"\d+(?:\.\d+)?|\b[A-Z][a-z]+(?:Bench|Corpus|Set|Suite|Pool|Archive|Trials)\b", paper.abstract
        )
        assert len(facts) >= 2
        assert all(re.search(rf"\b{re.escape(fact)}\b", text) for fact in facts)
        assert len(paper.title.split()) >= 4


def test_a_page_cites_where_the_paper_says(tmp_path: Path) -> None:
    roles = {"method": "body", "experiments": "body"}
    for paper in make_world(6, 20, 24):
        file = tmp_path / "page.html"
        file.write_text(page(paper), encoding="utf-8")
        document = read_html(file).document
        seen = {
            (i, document.sections[mention.section].role) for mention in document.mentions for i in mention.references
        }
        assert seen == {(i, roles.get(role, role)) for i, role, _ in citations(paper)} or "Introduction" not in {
            section.heading for section in paper.sections
        }


def test_every_work_is_cited_where_there_is_a_section_for_it() -> None:
    for paper in make_world(5, 20, 30):
        cited = {i for i, _, _ in citations(paper)}
        if any(section.role == "related_work" for section in paper.sections):
            assert cited == set(range(len(paper.marks)))
        assert {role for _, role, _ in citations(paper)} <= {"introduction", "related_work", "method", "experiments"}


@pytest.mark.long
def test_a_world_scales_to_a_million_tokens() -> None:
    world = make_world(0, 300, 1_000)
    assert len({paper.title for paper in world}) > 990
    assert sum(len(body(paper)) for paper in world) / 4 > 2_500_000
    sentences = [sentence for paper in world[:50] for sentence in set(re.split(r"(?<=[.?!]) ", body(paper)))]
    repeated = sum(len(re.split(r"(?<=[.?!]) ", body(paper))) for paper in world[:50]) - len(sentences)
    assert repeated < 0.02 * len(sentences)
