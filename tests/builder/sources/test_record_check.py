"""Records of arXiv: names of authors, and papers that were taken back."""

from __future__ import annotations

import pytest

from builder.sources.metadata_file import is_withdrawn, names_of, paper_from_record


@pytest.mark.parametrize(
    ("comment", "abstract", "withdrawn"),
    [
        ("This paper has been withdrawn by the authors", "", True),
        ("Withdrawn due to an error", "", True),
        ("4 pages, paper withdrawn by author", "", True),
        ("Submission removed by arXiv", "", True),
        ("The paper is withdrawn for further changes", "", True),
        ("", "This paper has been withdrawn by the author due to an error.", True),
        ("", "Withdrawn.", True),
        ("12 pages, figure 3 withdrawn", "", False),
        ("Replaces withdrawn paper 2601.00001", "", False),
        ("Data of patients who were withdrawn", "", False),
        ("", "We study drugs that were withdrawn.", False),
        (None, None, False),
    ],
)
def test_a_paper_that_was_taken_back(comment: str | None, abstract: str | None, *, withdrawn: bool) -> None:
    assert is_withdrawn(comment, abstract) == withdrawn


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
