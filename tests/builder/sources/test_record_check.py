"""Records of arXiv: names of authors, and papers that were taken back."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from builder.ids import names_of
from builder.records import UNKNOWN_LICENSE
from builder.retractions import is_taken_back
from builder.sources.metadata_file import checked_paper, paper_from_record
from standins.places import table_beside

# What comments, abstracts and titles say, and whether they say that their paper was taken back.
_TAKEN_BACK = table_beside(__file__, "taken_back.json")


@pytest.mark.parametrize(("comment", "abstract", "withdrawn"), _TAKEN_BACK["records"])
def test_a_paper_that_was_taken_back(comment: str | None, abstract: str | None, *, withdrawn: bool) -> None:
    assert is_taken_back("A title", abstract, comment) == withdrawn


def test_what_stands_between_names_is_no_author() -> None:
    listed = [
        "ATLAS Collaboration",
        ":",
        " Ada  Ek ",
        "et al.",
        "et al",
        "others",
        "Jr.",
        "on behalf of the X Collaboration",
        "Bo:",
        "",
    ]
    assert names_of(listed) == ("ATLAS Collaboration", "Ada Ek", "Bo")
    record = {"id": "2601.00001", "title": "T", "categories": "cs.CL", "published": "2026-01-01"}
    names = "ATLAS Collaboration: Ada Ek (1, 2), Ola Bo (2) and Eva Li, et al."
    assert paper_from_record(record | {"authors": names}).authors == (
        "ATLAS Collaboration",
        "Ada Ek",
        "Ola Bo",
        "Eva Li",
    )


@pytest.mark.parametrize(
    ("listed", "names"),
    [
        ("Ada Ek and Ola Bo", ("Ada Ek", "Ola Bo")),
        ("Institute of Physics and Chemistry", ("Institute of Physics and Chemistry",)),
        (r"J\"urgen M{\"u}ller", ("Jürgen Müller",)),
        (r"{\L}ukasz Erd\H{o}s", ("Łukasz Erdős",)),
        (r"Ji\v{r}\'{\i} Mu\c{c}o", ("Jiří Muço",)),
        *((marked, ("Ada Ek",)) for marked in ("Ada Ek†", "Ada Ek *", "Ada Ek1,*", "* Ada Ek", "Ada Ek¹,²")),
        ("Studio 54", ("Studio 54",)),
    ],
)
def test_names_are_in_unicode_and_one_by_one(listed: str, names: tuple[str, ...]) -> None:
    assert names_of([listed]) == names


RECORD: dict[str, Any] = {
    "id": "2601.00001",
    "title": "A Title",
    "abstract": "An abstract.",
    "categories": "cs.CL",
    "published": "2026-01-01",
    "authors": ["Ada Ek", "Bo Li"],
}


@pytest.mark.parametrize(
    ("change", "field", "value"),
    [
        ({"license": "CC\u00a0BY\n4.0"}, "license", "CC BY 4.0"),
        ({"license": "x" * 501}, "license", UNKNOWN_LICENSE),
        ({"license": "x" * 500}, "license", "x" * 500),
        ({"title": "A\x00 \x1b[31mTitle\x85"}, "title", "A [31mTitle"),
        ({"abstract": "An\x07 abstract.\x9b"}, "abstract", "An abstract."),
        ({"authors": ["Ada\x00Ek", "Bo Li"]}, "authors", ("Ada Ek", "Bo Li")),
        ({"author_ids": ["", "0000-0002-1825-0097"], "authors": ["Ada Ek", " "]}, "authors", ("Ada Ek",)),
        ({"author_ids": ["", "0000-0002-1825-0097"], "authors": ["Ada Ek", " "]}, "author_ids", ("",)),
        ({"published": "2026-01-01T23:30:00-05:00"}, "published", date(2026, 1, 2)),
        ({"published": "2026-01-01T00:30:00+02:00"}, "published", date(2025, 12, 31)),
        ({"categories": "math.NA 14J60 (Primary) cs.CL I.2.7"}, "categories", ("math.NA", "cs.CL")),
        ({"categories": "cs.CL F.4.1|F.3.1 F.2.2.a [2010] I.2.7. x"}, "categories", ("cs.CL",)),
        ({"categories": ["cs.CL", "I.2.7 Natural Language Processing", "hep-ph"]}, "categories", ("cs.CL", "hep-ph")),
        ({"categories": "cs.CL K.m I2.7 D.2.4/I.2.7 msc2020 (Prim.) ACM-class"}, "categories", ("cs.CL",)),
        ({"categories": ["math.AG", "14J60 (Primary), 14F05,65D1214", "I.2.7; I.2.10"]}, "categories", ("math.AG",)),
        ({"published": "2026-01-01T23:30:00Z"}, "published", date(2026, 1, 1)),
        ({"doi": "https://doi.org/10.1000/ABC"}, "doi", "10.1000/abc"),
        ({"doi": "10.1000/ABC; 10.1000/X"}, "doi", "10.1000/abc"),
        ({"authors": "Lee, Ann; Ek, Bo"}, "authors", ("Ann Lee", "Bo Ek")),
        ({"authors": "Ann Lee, Bo Ek; Cy Alm, Di Wu"}, "authors", ("Ann Lee", "Bo Ek", "Cy Alm", "Di Wu")),
    ],
)
def test_a_record_enters_in_the_form_that_evaluators_read(change: dict[str, Any], field: str, value: object) -> None:
    paper = checked_paper(paper_from_record(RECORD | change))
    assert getattr(paper, field) == value


@pytest.mark.parametrize(
    "change", [{"license": "CC\u00a0BY"}, {"license": "x" * 501}, {"title": "A\x00"}, {"authors": ("", "Bo")}]
)
def test_no_other_record_enters(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"license|title|author"):
        checked_paper(replace(paper_from_record(RECORD), **change))


@pytest.mark.parametrize(("title", "withdrawn"), _TAKEN_BACK["titles"])
def test_a_title_that_says_it(title: str, *, withdrawn: bool) -> None:
    assert is_taken_back(title, "An abstract.") == withdrawn
