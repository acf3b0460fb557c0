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


@pytest.mark.parametrize(
    ("comment", "abstract", "withdrawn"),
    [
        ("This paper has been withdrawn by the authors", "", True),
        ("Withdrawn due to an error", "", True),
        ("4 pages, paper withdrawn by author", "", True),
        ("Withdrawn: error in Lemma 2", "", True),
        ("Withdrawn, see arXiv:2601.00002", "", True),
        ("v3: withdrawn, error found", "", True),
        ("Paper is withdrawn: error", "", True),
        ("10 pages, withdrawn", "", True),
        ("Withdrawn. Superseded by arXiv:2601.00002", "", True),
        ("arXiv admin note: withdrawn due to false authorship", "", True),
        ("", "Due to an error in Lemma 2, this paper has been withdrawn.", True),
        ("", "This version of the paper has been withdrawn", True),
        ("", "Retracted by the authors.", True),
        ("", "Withdrawn by the clinician, 20 patients had relapse.", False),
        ("", "This report has been withdrawn from circulation in 1972.", False),
        ("", "A duplicate of the sample was withdrawn from the freezer.", False),
        ("This arXiv submission has been withdrawn", "", True),
        ("Withdrawn from the AAAI review process", "", False),
        ("", "We are withdrawing this paper.", True),
        ("", "We found an error in Lemma 2. This paper has been withdrawn.", True),
        ("", "We retract the paper's first theorem and prove another.", False),
        ("Submission removed by arXiv", "", True),
        ("The paper is withdrawn for further changes", "", True),
        ("", "This paper has been withdrawn by the author due to an error.", True),
        ("", "Withdrawn.", True),
        ("12 pages, figure 3 withdrawn", "", False),
        ("Replaces withdrawn paper 2601.00001", "", False),
        ("Data of patients who were withdrawn", "", False),
        ("", "We study drugs that were withdrawn.", False),
        (None, None, False),
        ("", "We withdraw this paper because of an error in section 3.", True),
        ("", "The authors have withdrawn this manuscript and do not wish it to be cited.", True),
        ("The authors have withdrawn due to an error", "", True),
        ("This version withdrawn by arXiv administrators because of overlap", "", True),
        ("Submitted by mistake, duplicate of 2601.00002 and was withdrawn", "", True),
        ("", "The authors of retracted papers have withdrawn from public life.", False),
        ("", "This submission is a duplicate of 2601.00002 and was withdrawn.", True),
        ("", "Paper withdrawn due to an error in lemma 2.", True),
        ("", "The authors withdraw this paper.", True),
        ("", "We have decided to withdraw this paper.", True),
        ("", "I withdraw this paper because of an error.", True),
        ("This work was withdrawn from ICLR and is under review at ICML", "", False),
        ("", "We withdraw blood from patients and study it.", False),
        ("", "We study the papers that were withdrawn from arXiv.", False),
        ("", "Retracted papers are cited for years.", False),
        ("This paper has now been withdrawn", "", True),
        ("The current version has been withdrawn by the authors", "", True),
        ("Withdrawn - error in Lemma 3", "", True),
        ("Temporarily withdrawn (see abstract)", "", True),
        ("Withdrawn in favor of arXiv:2601.00002", "", True),
        ("6 pages; 2 figures; withdrawn by author because of an error", "", True),
        ("", "This preprint was posted in error and has been withdrawn.", True),
    ],
)
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
        ({"authors": "Ann Lee, Bo Ek and Cy Alm"}, "authors", ("Ann Lee", "Bo Ek", "Cy Alm")),
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


@pytest.mark.parametrize(
    ("title", "withdrawn"),
    [
        ("RETRACTED: Ice on lakes", True),
        ("TEMPORARY REMOVAL: Ice on lakes", True),
        ("Retraction of: “Ice on lakes”", True),
        ("Removal: a study of ice", False),
        ("RETRACTED ARTICLE: Ice on lakes", True),
        ("Notice of Retraction: Ice on lakes", True),
        ("Ice on lakes - RETRACTED", True),
        ("RETRACTED Ice on lakes", True),
        ("Retracted article: ice on lakes", True),
        ("Ice on lakes (Retracted article. See vol. 12)", True),
        ("Notice of Retraction Ice on lakes", True),
        ("Retraction: maps of spaces onto retracts", False),
        ("Retraction Note: A map of ice", True),
        ("A map of ice: RETRACTED", True),
        ("Withdrawn: how adolescents cope", False),
        ("[Retracted] Ice on lakes", True),
        ("Ice on lakes (Retracted)", True),
        ("Retraction notice to: Ice on lakes", True),
        ("Withdrawn: Ice on lakes", True),
        ("Retracted papers and those who cite them", False),
        ("Retraction of the eye in snails", False),
        ("Why are papers retracted?", False),
        ("Withdrawn behaviour in mice", False),
    ],
)
def test_a_title_that_says_it(title: str, *, withdrawn: bool) -> None:
    assert is_taken_back(title, "An abstract.") == withdrawn
