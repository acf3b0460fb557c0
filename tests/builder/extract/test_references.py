from __future__ import annotations

import pytest

from builder.extract.lines import Line
from builder.extract.mentions import find_mentions
from builder.extract.references import parse_entry, read_entries
from builder.records import Reference, Section
from standins.places import table_beside

_PRINTED = table_beside(__file__, "printed.json")
TITLE = "Sparse routing for long inputs"


def line(text: str, y: float, x: float = 72.0, start: bool = False) -> Line:
    return Line(0, x, y, x + 5.0 * len(text), y + 9, text, 9.0, False, False, start=start)


@pytest.mark.parametrize(
    ("raw", "label", "authors", "year"),
    [
        (
            f"[3] J. Doe, K. Roe, and L. He. {TITLE}. Journal of Tests, 12(3):4-5, 2019.",
            "3",
            ("Doe", "Roe", "He"),
            2019,
        ),
        (f"[3] J. Doe and K. Roe, “{TITLE},” in Proc. Tests, 2019, pp. 1–9.", "3", ("Doe", "Roe"), 2019),
        (f"3. Doe, J., Roe, K.: {TITLE}. In: Tests, pp. 1-9. Springer (2019)", "3", ("Doe", "Roe"), 2019),
        (f"Jane Doe and Karl Roe. 2019. {TITLE}. In Proceedings of Tests, pages 1-9.", "", ("Doe", "Roe"), 2019),
        (f"Doe, J. and Roe, K. {TITLE}. In Tests, 2019.", "", ("Doe", "Roe"), 2019),
        (f"Jane Doe, Karl Roe, et al. {TITLE}. arXiv preprint arXiv:1901.01234, 2019.", "", ("Doe", "Roe"), 2019),
        (f"[DR19] Jane Doe and Karl Roe. {TITLE}. In Tests, 2019.", "DR19", ("Doe", "Roe"), 2019),
        (f"Doe, J., & Roe, K. (2019). {TITLE}. Tests, 3, 1-9.", "", ("Doe", "Roe"), 2019),
    ],
)
def test_entries_of_the_common_styles(raw: str, label: str, authors: tuple[str, ...], year: int) -> None:
    entry = parse_entry(raw)
    assert (entry.title, entry.label, entry.authors, entry.year) == (TITLE, label, authors, year)


@pytest.mark.parametrize(("text", "found"), _PRINTED["arxiv_ids"])
def test_arxiv_ids_in_entries(text: str, found: str | None) -> None:
    assert parse_entry(f"J. Doe. {TITLE}. {text}.").arxiv_id == found


def test_doi_and_url() -> None:
    entry = parse_entry(f"J. Doe. {TITLE}. Tests, 2019. doi:10.1145/3292500.3330701. https://example.org/a_b.")
    assert entry.doi == "10.1145/3292500.3330701"
    assert entry.url == "https://example.org/a_b"
    pages = "10.1002/(SICI)1097-0258(19980815/30)17:15/16<1661::AID-SIM968>3.0.CO;2-2"
    assert parse_entry(f"J. Doe. {TITLE}. {pages}.").doi == pages
    assert parse_entry(f"J. Doe. {TITLE}. doi:10.1016/j.xyz123PMID:12345678").doi == "10.1016/j.xyz123"
    for doi in ("10.3390/epubs12", "10.1234/republish.2019"):
        assert parse_entry(f"J. Doe. {TITLE}. Tests. doi: {doi}").doi == doi
    assert parse_entry(f"J. Doe. {TITLE}. Tests. doi: 10.1145/3442188. 3445922.").doi == "10.1145/3442188.3445922"
    assert parse_entry(f"J. Doe. {TITLE}. Tests. doi: 10.1145/ 3442188.3445922.").doi == "10.1145/3442188.3445922"
    for cited in ("10.1145/3442188. 2021", "10.1038/nature14539. 26017442", "10.1007/s11263-015-0816-y. 211252 images"):
        doi = cited.partition(". ")[0]
        assert parse_entry(f"J. Doe. {TITLE}. Tests. doi: {cited}.").doi == doi


@pytest.mark.parametrize(
    ("printed", "arxiv_id", "doi"),
    [
        ("hep-th/ 9711200", "hep-th/9711200", None),
        ("[hep-ph/03010 01]", "hep-ph/0301001", None),
        ("https://doi.org/10.48550/ arXiv.2401. 12345", None, "10.48550/arXiv.2401.12345"),
        ("doi: 10.1371/journal.pone. 0012345", None, "10.1371/journal.pone.0012345"),
        ("doi: 10.18653/v1/2024.acl-long. 59. URL https://a.b/c", None, "10.18653/v1/2024.acl-long.59"),
        ("doi: 10.1039/D1ME 00154J", None, "10.1039/D1ME00154J"),
    ],
)
def test_ids_that_a_line_divides_are_whole(printed: str, arxiv_id: str | None, doi: str | None) -> None:
    entry = parse_entry(f"J. Doe. {TITLE}. Tests, 2019. {printed}.")
    assert (entry.arxiv_id, entry.doi) == (arxiv_id, doi)


@pytest.mark.parametrize(
    "day", ["(2019, May 5)", "(5 May 2019)", "2019, May 5", "(May 2019)", "5 May 2019", "(2019-05-05)"]
)
def test_a_day_of_apa_is_no_title(day: str) -> None:
    assert parse_entry(f"Doe, J., & Roe, C. {day}. The news of the day. Tests.").title == "The news of the day"


def test_names_that_end_in_capitals() -> None:
    assert parse_entry("OpenAI. (2023, March 14). The model of the day.").authors == ("OpenAI",)
    people = parse_entry("OpenAI, Josh Doe, and Steven Roe. The model of the day. 2023.").authors
    assert people == ("OpenAI", "Doe", "Roe")
    assert parse_entry("DoeJA, RoeK. The news of the day. Tests, 2020.").authors == ("Doe", "Roe")


def test_numbered_entries_are_split_at_the_next_number() -> None:
    lines = [
        line("[1] A. Doe. First title in", 0),
        line("[2020] of a year. Tests.", 11),
        line("[2] B. Roe. Second.", 22),
        line("[3] C. He. Third one.", 33),
    ]
    assert [entry.raw[:7] for entry in read_entries(lines)] == ["[1] A. ", "[2] B. ", "[3] C. "]


def mentions(text: str, *entries: Reference) -> list[tuple[str, tuple[int, ...], bool]]:
    sections = [Section("1 Introduction", "introduction", 1, text)]
    return [(text[m.start : m.end], m.references, m.grouped) for m in find_mentions(sections, entries)]


def numbered(n: int) -> list[Reference]:
    return [Reference(f"raw {i}", label=str(i + 1)) for i in range(n)]


def test_numeric_mentions() -> None:
    text = "One [2], many [1, 3–5], none [99], an interval [0, 1], a year [2020], a place [4, Theorem 2]."
    # The appendix has a list that counts from 1, too.
    assert mentions(text, *numbered(6), *numbered(3)) == [
        ("2", (1,), False),
        ("1, 3–5", (0, 2, 3, 4), True),
        ("4", (3,), False),
    ]


def test_intervals_are_no_mentions() -> None:
    assert mentions("in [0.5, 1] and [-1, 1] and [0, 1], as [1, 2] shows", *numbered(3)) == [("1, 2", (0, 1), True)]


def test_round_brackets_cite_if_they_name_most_of_the_list() -> None:
    text = "Others (2) found this (1; 3), by what is known (4), and by equation (5)."
    assert mentions(text, *numbered(5)) == [("2", (1,), False), ("1; 3", (0, 2), True), ("4", (3,), False)]
    assert mentions(text, *numbered(9)) == []
    assert mentions(f"{text} So does [5].", *numbered(5)) == [("5", (4,), False)]


def test_initials_may_be_glued_to_a_name() -> None:
    entry = parse_entry("DoeJA, RoeK, McDonaldP. A title that says something of readers. J Tests. 2019;3:1-9.")
    assert entry.authors == ("Doe", "Roe", "McDonald")


def test_author_year_mentions() -> None:
    entries = [
        Reference("r", authors=("Doe", "Roe"), year=2019),
        Reference("r", authors=("He",), year=2020),
        Reference("r", authors=("Doe",), year=2020),
        Reference("r", authors=("Doe",), year=2020),
        Reference("r", authors=("van den Berg",), year=2018),
    ]
    text = "As Doe and Roe (2019) and He et al. (2020) say (Doe, 2020b; He, 2020). Nobody (Poe, 1999)."
    assert mentions(text, *entries) == [
        ("Doe and Roe (2019)", (0,), False),
        ("He et al. (2020)", (1,), False),
        ("Doe, 2020b", (3,), True),
        ("He, 2020", (1,), True),
    ]
    several = "Doe (2019, 2020b) said it (Doe et al., 2020a,b), Doe 2020a, b) and Doe (2020, p. 3), Doe (2020, a page)."
    assert mentions(several, *entries) == [
        ("Doe (2019, 2020b)", (0, 3), True),
        ("Doe et al., 2020a,b", (2, 3), True),
        ("Doe 2020a, b", (2, 3), True),
        ("Doe (2020", (2,), False),
        ("Doe (2020", (2,), False),
    ]
    # Numbers and words that name no work of the list end the mark.
    for ends in ("Doe, 2019, 2048, 4096.", "(Doe, 2019, 1999)", "(Doe 2019a, i, ii)", "(Doe, 2019a, s)"):
        [(_, cited, grouped)] = mentions(ends, *entries)
        assert (cited, grouped) == ((0,), False), ends


def test_a_citation_goes_to_the_work_of_its_authors_and_letter() -> None:
    entries = [
        Reference("Li, Far, and Liu. 2018a.", authors=("Li", "Far", "Liu"), year=2018),
        Reference("Li and Liang. 2018.", authors=("Li", "Liang"), year=2018),
        Reference("Li, Ma, and Zhang. 2018b.", authors=("Li", "Ma", "Zhang"), year=2018),
        Reference("Li. 2018.", authors=("Li",), year=2018),
        Reference("Ek. 2024b.", authors=("Ek",), year=2024),
        Reference("Ek. 2024a.", authors=("Ek",), year=2024),
        Reference("van den Oord et al. 2018.", authors=("Oord",), year=2018),
    ]
    text = "Li et al. (2018a), Li et al. (2018b), Li and Liang (2018), Li (2018), Ek (2024a), Ek (2024b) (van den Oord et al., 2018)."
    found = mentions(text, *entries)
    assert [cited for _, cited, _ in found] == [(0,), (2,), (1,), (3,), (5,), (4,), (6,)]
    assert found[-1][0] == "van den Oord et al., 2018"


@pytest.mark.parametrize(("behind", "year"), _PRINTED["years"])
def test_pages_and_days_of_access_are_no_year(behind: str, year: int) -> None:
    assert parse_entry(f"J. Doe and R. Roe, “{TITLE},” {behind}").year == year


def test_letter_labels() -> None:
    entries = [Reference("r", label="DR19"), Reference("r", label="He+20")]
    assert mentions("See [DR19, Lemma 2] and [DR19, He+20] but not [i].", *entries) == [
        ("DR19, Lemma 2", (0,), False),
        ("DR19, He+20", (0, 1), True),
    ]


def test_reference_lists_do_not_cite() -> None:
    sections = [Section("References", "references", 1, "[1] A. Doe.")]
    assert find_mentions(sections, numbered(1)) == ()


LONG = "Sparse routing of long inputs in cold water"
STYLES = [
    (f"Berg I, van der Holm AC, Lund C. {LONG}. J Fish Biol. 2011;12(3):45-8.", LONG),
    (f"Berg I, Holm A, et al. {LONG}. J. Fish Biol. 2011 Jan 3;12:45.", LONG),
    (f"Berg I. {LONG}. Nature 2011;12:45-8.", LONG),
    (f"Berg I, Holm A. Herring? {LONG} [Internet]. J Fish Biol. 2011;12:45.", f"Herring? {LONG}"),
    (f"Berg I, Lund C: {LONG}. J Fish 2011, 12:45.", LONG),
    (f"Berg I, Lund C (2011) {LONG}. J Fish 12: 45-48.", LONG),
    (f"I. Berg, C. A. Lund, {LONG}, J. Fish 12 (2011) 45-48.", LONG),
    (f"I. Berg and C. Lund, {LONG}, Phys. Rev. Lett. 12, 345 (2011).", LONG),
    (f"I. Berg and C. Lund, “{LONG},” J. Fish, vol. 12, pp. 4-8, 2011.", LONG),
    ("I. Berg and C. Lund, Phys. Rev. Lett. 12, 345 (2011).", ""),
    ("Berg, I.; Lund, C. A. J. Fish Biol. 2011, 12, 345.", ""),
    ("Berg, I., & Lund, C. 2011, ApJ, 12, 345", ""),
    (f"John F. Berg and Ida Lund. {LONG}. Journal of Fish, 12:345, 2011.", LONG),
    (f"Berg, I. What is a fish? {LONG}. Nature 12, 345 (2011).", f"What is a fish? {LONG}"),
    (f"Berg I, Lund C. Why “cold” {LONG}. J Fish. 2011;12:45.", f"Why “cold” {LONG}"),
]


@pytest.mark.parametrize(("entry", "title"), STYLES)
def test_styles_without_marks_between_title_and_journal(entry: str, title: str) -> None:
    assert parse_entry(entry).title == title
    assert parse_entry(f"[7] {entry}").authors[0] == "Berg"


@pytest.mark.parametrize("piece", ["A. Aa, ", "AA, ", "Aa BB, ", "Aa, A.; ", "“aa ", ", a 12 ", "van de "])
def test_an_entry_takes_no_longer_than_it_is(piece: str) -> None:
    assert parse_entry(piece * 1_000).raw


def test_a_list_of_names_that_a_column_divides_is_one_entry() -> None:
    lines = [
        line("Ann Alba. A first title that is", 0),
        line("continued here. 2019.", 11, 84),
        line("Jane Doe, Karl Roe,", 22),
        line("and Max Poe.", 33, 84),
        line("A second title of note. 2020.", 0, 310),
        line("URL https://example.org/b", 11, 310),
        line("Lu He. A third one. Tests,", 22, 310),
        line("2021.", 33, 322),
        line("Keywords of no entry", 44, 310),
    ]
    entries = read_entries(lines)
    assert [entry.year for entry in entries] == [2019, 2020, 2021]
    assert (entries[1].raw[:8], entries[1].url) == ("Jane Doe", "https://example.org/b")


def test_entries_a_little_apart_are_several() -> None:
    """As in AAAI's style: neither labels nor indents, and last lines that are nearly full."""
    text = (
        "Ek, A.; and Bo, C. 2020. A title of some length that is",
        "continued here until the end of the column. In Tests.",
    )
    lines = [line(words, y=25.0 * i + 11 * k) for i in range(4) for k, words in enumerate(text)]
    assert len(read_entries(lines)) == 4


def test_the_lives_of_the_authors_are_no_part_of_the_last_entry() -> None:
    entries = [line(f"[{i}] A. Ek. A cited title of note. Tests, 2020.", y=12.0 * i) for i in range(1, 4)]
    life = [
        line("Ann Ek is an author of tests and of what they hold. " * 2, y=60 + 12.0 * i, start=i == 0)
        for i in range(8)
    ]
    assert read_entries([*entries, *life])[-1].raw == "[3] A. Ek. A cited title of note. Tests, 2020."


def test_a_numbered_list_with_a_gap_loses_no_entry() -> None:
    text = "A. Ek. A cited title of some length, and more of it. Journal of Tests, 2020."
    labels = (1, 2, 3, 4, *range(8, 15))
    lines = [line(f"[{label}] {text}", y=12.0 * i, start=True) for i, label in enumerate(labels)]
    assert "[14]" in "".join(entry.raw for entry in read_entries(lines))
    assert read_entries([]) == []
