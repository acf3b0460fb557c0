from __future__ import annotations

import pytest

from builder.ids import PaperId, author_key, bare_id
from lm_eval_tasks.core.text import title_key


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2311.01234", ("2311.01234", None)),
        ("2311.01234v3", ("2311.01234", 3)),
        ("0801.0012v1", ("0801.0012", 1)),
        ("hep-ex/0406020v1", ("hep-ex/0406020", 1)),
        ("math.GT/0309136", ("math.GT/0309136", None)),
        ("arXiv:2311.01234", ("2311.01234", None)),
        ("../../etc/passwd", None),
        ("2311.01234/../x", None),
        ("2311.1", None),
        ("", None),
    ],
)
def test_only_arxiv_ids_are_ids(text: str, expected: tuple[str, int | None] | None) -> None:
    assert PaperId.parse(text) == (PaperId(*expected) if expected else None)


def test_ids_become_file_names_and_back() -> None:
    assert PaperId("hep-ex/0406020").stem == "hep-ex_0406020"
    assert PaperId.of_stem("hep-ex_0406020") == PaperId("hep-ex/0406020")
    assert PaperId.of_stem("2311.01234v2") == PaperId("2311.01234", 2)
    assert PaperId.of_stem("my thesis") is None


def test_a_name_loses_its_version_only_where_it_is_an_id() -> None:
    assert bare_id("2311.01234v2") == "2311.01234"
    assert bare_id("a title with v2") == "a title with v2"


def test_author_names_fold() -> None:
    assert author_key("  Zlatko  TEŠANOVIĆ ") == author_key("zlatko tesanovic")
    assert author_key("J. K. Rowe") == author_key("J K Rowe")
    assert author_key("Wei Li") != author_key("Li Wei")


def test_titles_fold_to_letters_and_digits() -> None:
    assert title_key("Self-Attention:  a “Review”, 2nd ed.") == title_key("selfattention a review 2nd ed")
