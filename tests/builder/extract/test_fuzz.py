"""Damaged files: whatever the bytes, the answer is a document or a reason."""

from __future__ import annotations

import random
from pathlib import Path
from typing import get_args

import pytest

from builder.extract.worker import answer
from builder.records import ExtractReason
from builder.sources.sample import draw, page
from builder.sources.sample.world import make_world
from tests.helpers.damage import damaged

pytestmark = pytest.mark.slow

ROUNDS = 100
REASONS = {"", *get_args(ExtractReason)}


@pytest.mark.parametrize("kind", ["pdf", "html"])
def test_damaged_files_give_a_document_or_a_reason(tmp_path: Path, kind: str) -> None:
    rng = random.Random(11)
    papers = [paper for paper in make_world(1, 20, 9) if not paper.flaw][-2:]
    sources: list[bytes] = []
    for paper in papers:
        draw(paper, tmp_path / "source.pdf")
        sources.append((tmp_path / "source.pdf").read_bytes() if kind == "pdf" else page(paper).encode())
    outcomes = set()
    for i in range(ROUNDS):
        path = tmp_path / f"damaged.{kind}"
        path.write_bytes(damaged(sources[i % len(sources)], rng))
        result = answer(path)
        assert result["reason"] in REASONS, (i, result["reason"], result["detail"])
        assert (result["document"] is None) == bool(result["reason"])
        outcomes.add(result["reason"])
    assert "" in outcomes
    assert len(outcomes) > 1


def test_pure_noise(tmp_path: Path) -> None:
    rng = random.Random(5)
    for i in range(60):
        path = tmp_path / ("noise.pdf" if i % 2 else "noise.html")
        path.write_bytes((b"%PDF-1.7\n" if i % 4 == 1 else b"") + rng.randbytes(rng.randrange(2000)))
        assert answer(path)["reason"] in REASONS - {""}


def test_a_cycle_among_the_pages_is_damage(tmp_path: Path) -> None:
    tree = b"2 0 obj <</Type /Pages /Count 2 /Kids [3 0 R 2 0 R]>> endobj\n"
    page_of_it = b"3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 9 9]>> endobj\n"
    file = tmp_path / "cycle.pdf"
    file.write_bytes(
        b"%PDF-1.7\n1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj\n" + tree + page_of_it + b"trailer <</Root 1 0 R>>\n"
    )
    assert answer(file)["reason"] == "damaged"
