from __future__ import annotations

from datetime import date

import pytest

from builder.ids import IdKind, PaperId, author_key, bare_id, stem_of, url_of, with_version
from lm_eval_tasks.base.text import title_key
from standins.places import table_beside

_IDS = table_beside(__file__, "paper_ids.json")


@pytest.mark.parametrize(("text", "expected"), _IDS)
def test_only_ids_are_ids(text: str, expected: tuple[IdKind, str, int | None] | None) -> None:
    assert PaperId.parse(text) == (PaperId(*expected) if expected else None)


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("hep-ex/0406020", "hep-ex_0406020"),
        ("2311.01234", "2311.01234"),
        ("PMC7654321", "PMC7654321"),
        ("10.1000/...", "10.1000%2F..."),
        ("10.1371/journal.p_one;2-3(4):a", "10.1371%2Fjournal.p_one%3B2-3%284%29%3Aa"),
    ],
)
def test_ids_become_file_names_and_back(name: str, stem: str) -> None:
    assert stem_of(name) == stem
    assert "/" not in stem
    assert PaperId.of_stem(stem) == PaperId.parse(name)


def test_what_is_no_id_is_no_file_name() -> None:
    assert PaperId.of_stem("2311.01234v2") == PaperId("arxiv", "2311.01234", 2)
    assert PaperId.of_stem("my thesis") is None
    with pytest.raises(ValueError, match="is not the id of a paper"):
        stem_of("../x")


def test_ids_have_pages_and_months() -> None:
    assert url_of("2311.01234v2") == "https://arxiv.org/abs/2311.01234v2"
    assert url_of("10.1000/a;b") == "https://doi.org/10.1000/a%3Bb"
    assert url_of("PMC1") == "https://europepmc.org/article/PMC/PMC1"
    assert url_of("a title") is None
    months = [
        parsed.month
        for name in ("2311.01234", "2313.01234", "math.GT/0309136", "hep-th/9901001v3")
        if (parsed := PaperId.parse(name))
    ]
    assert months == [date(2023, 11, 1), None, date(2003, 9, 1), date(1999, 1, 1)]


def test_a_version_is_part_of_arxivs_ids_alone() -> None:
    assert with_version("2311.01234", 2) == "2311.01234v2"
    assert with_version("PMC1", 2) == "PMC1"
    assert with_version("a title", 1) == "a titlev1"


def test_a_name_loses_its_version_only_where_it_is_an_id() -> None:
    assert bare_id("2311.01234v2") == "2311.01234"
    assert bare_id("a title with v2") == "a title with v2"


def test_author_names_fold() -> None:
    assert author_key("  Zlatko  TEŠANOVIĆ ") == author_key("zlatko tesanovic")
    assert author_key("J. K. Rowe") == author_key("J K Rowe")
    assert author_key("Conan O’Brien") == author_key("Conan O'Brien")
    assert author_key("J‐P. Li") == author_key("J–P Li") == author_key("J-P Li†")
    assert author_key("Wei Li") != author_key("Li Wei")


def test_titles_fold_to_letters_and_digits() -> None:
    assert title_key("Self-Attention:  a “Review”, 2nd ed.") == title_key("selfattention a review 2nd ed")
