"""Bodies, citations and reference lists of JATS articles."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.jats import ARTICLES, letters, of_bodies, parsed, running
from builder.extract.jats import read_jats
from builder.extract.worker import answer
from builder.records import NO_TEXT, Document
from builder.sources.jats.front import abstract_of
from builder.sources.jats.markup import parse_article as parsed_article
from builder.sources.sample.world import make_world
from standins.jats_world import article, doi_of
from standins.places import table_beside
from tests.helpers.planted import citations

_PRINTED = table_beside(__file__, "printed.json")
FRONT = """<front><article-meta><article-id pub-id-type="doi">10.5555/x.1</article-id><title-group><article-title>A
<italic>Title</italic><xref ref-type="fn" rid="f1">*</xref></article-title></title-group>
<abstract><title>Abstract</title><sec><title>Background</title><p>Why.</p></sec><sec><title>Results:</title><p>What.</p></sec></abstract>
<abstract abstract-type="summary"><p>A digest for others.</p></abstract></article-meta></front>"""
BODY = """<body><sec sec-type="intro"><p>As shown [<xref ref-type="bibr" rid="b2">2</xref>], by many
[<xref ref-type="bibr" rid="b1">1</xref>, <xref ref-type="bibr" rid="b3">3</xref>], by more
[<xref ref-type="bibr" rid="b1">1</xref>]&#x2013;[<xref ref-type="bibr" rid="b4">4</xref>], and so
on<sup><xref ref-type="bibr" rid="b3">3</xref>&#x2013;<xref ref-type="bibr" rid="b5">5</xref></sup>; see
<xref ref-type="fig" rid="f1">figure 1</xref>.<fig id="f1"><caption><p>A caption <xref ref-type="bibr" rid="b1">1</xref>.</p></caption></fig></p>
<p>Where <inline-formula><alternatives><inline-graphic/><tex-math>x^2</tex-math><mml:math xmlns:mml="http://www.w3.org/1998/Math/MathML"><mml:mi>x</mml:mi></mml:math></alternatives></inline-formula>
is small:<disp-formula>y = x</disp-formula> so it ends.</p><boxed-text><p>A box.</p></boxed-text></sec>
<sec><label>2</label><title>Methods</title><p>First.</p><sec><title>2.1 Data</title><list><list-item><p>One</p></list-item>
<list-item><p>Two (<xref ref-type="bibr" rid="b6">Ek, 2019</xref>).</p></list-item></list></sec></sec>
<sec><title>Conclusions</title><p>The end.</p></sec>
<sec><title>Supporting Information</title><p>Table S1.</p></sec></body>"""
BACK = """<back><ack><p>Thanks.</p></ack><ref-list><title>References</title>
<ref id="b1"><label>1.</label><element-citation publication-type="journal"><person-group person-group-type="author"><name><surname>Doe</surname>
<given-names>J</given-names></name></person-group><year>2019</year><article-title>A first title of some length</article-title>
<source>Tests</source><volume>3</volume><fpage>4</fpage><pub-id pub-id-type="doi">10.5555/First</pub-id><pub-id pub-id-type="pmid">123</pub-id></element-citation></ref>
<ref id="b2"><label>2</label><mixed-citation><name><surname>Roe</surname> <given-names>K</given-names></name>. (<year>2020</year>) <article-title>A second title</article-title>.
<source>Tests</source> 4: 5. <ext-link xlink:href="https://doi.org/10.5555/second" xmlns:xlink="http://www.w3.org/1999/xlink">link</ext-link></mixed-citation></ref>
<ref id="b3"><label>3</label><mixed-citation id="b3a">Ann A. (2001) Work a of three. Tests.</mixed-citation><mixed-citation>Bob B. (2002) Work b of three. Tests.</mixed-citation></ref>
<ref id="b4"><label>4</label><mixed-citation>Cy, C. (2004). Plain words of an entry. Tests.</mixed-citation></ref>
<ref id="b5"><label>5</label><citation citation-type="book"><name><surname>Dee</surname><given-names>D</given-names></name><source>A whole book</source><year>1999</year></citation></ref>
<ref id="b6"><label>6</label><mixed-citation>Ek E. (2019) The sixth. <pub-id pub-id-type="pmcid">PMC77</pub-id></mixed-citation></ref>
<ref id="b7"><label>7</label></ref></ref-list></back>
<sub-article><body><p>A decision letter.</p></body></sub-article>"""
ARTICLE = f'<article article-type="research-article">{FRONT}{BODY}{BACK}</article>'


def read(folder: Path, text: str = ARTICLE) -> Document:
    path = folder / "article.xml"
    path.write_text(text, encoding="utf-8")
    return read_jats(path).document


def test_sections_have_levels_roles_and_their_own_text(tmp_path: Path) -> None:
    document = read(tmp_path)
    assert [(s.heading, s.role, s.level) for s in document.sections] == [
        ("Introduction", "introduction", 1),
        ("2 Methods", "body", 1),
        ("2.1 Data", "body", 2),
        ("Conclusions", "conclusion", 1),
        ("References", "references", 1),
    ]
    introduction, methods, data, *_ = (section.text for section in document.sections)
    assert introduction.splitlines() == [
        "As shown [2], by many [1, 3], by more [1]–[4], and so on [3–5]; see figure 1.",
        "Where x is small: so it ends.",
    ]
    assert methods == "First."
    assert data.splitlines() == ["One", "Two (Ek, 2019)."]
    assert (document.title, document.abstract) == ("A Title", "Background: Why. Results: What.")
    whole = " ".join(section.text for section in document.sections)
    for beside in ("caption", "A box", "y = x", "x^2", "Table S1", "decision", "digest", "Thanks"):
        assert beside not in whole


def test_marks_cite_all_that_they_stand_for(tmp_path: Path) -> None:
    document = read(tmp_path)
    marks = {document.sections[m.section].text[m.start : m.end]: (m.references, m.grouped) for m in document.mentions}
    # The third entry holds two works, so that the fourth is number 4 in the list.
    assert marks == {
        "2": ((1,), False),
        "1, 3": ((0, 2, 3), True),
        "1]–[4": ((0, 1, 2, 3, 4), True),
        "3–5": ((2, 3, 4, 5), True),
        "Ek, 2019": ((6,), False),
    }


@pytest.mark.parametrize(("printed", "linked", "cited"), _PRINTED["ranges"])
def test_what_a_mark_prints_says_the_works_of_its_ranges(
    tmp_path: Path, printed: str, linked: str, cited: list[int]
) -> None:
    text = ARTICLE.replace(
        '[<xref ref-type="bibr" rid="b2">2</xref>]', f'[<xref ref-type="bibr" rid="{linked}">{printed}</xref>]'
    )
    first = read(tmp_path, text).mentions[0]
    assert (first.references, first.grouped) == (tuple(cited), len(cited) > 1)


def test_a_range_in_a_list_without_labels_ends_where_it_says(tmp_path: Path) -> None:
    refs = "".join(
        f'<ref id="r{i}"><mixed-citation>Doe J. Work {i}. Tests.</mixed-citation></ref>' for i in range(1, 11)
    )
    body = '<body><sec><title>Introduction</title><p>As [<xref ref-type="bibr" rid="r2">2–5</xref>].</p></sec></body>'
    text = f"<article>{FRONT}{body}<back><ref-list>{refs}</ref-list></back></article>"
    assert read(tmp_path, text).mentions[0].references == (1, 2, 3, 4)


@pytest.mark.parametrize(("printed", "text"), _PRINTED["raised"])
def test_what_is_raised_lowered_or_apart_stays_so(tmp_path: Path, printed: str, text: str) -> None:
    body = f"<body><sec><title>Introduction</title><p>{printed}</p></sec></body>"
    assert read(tmp_path, ARTICLE.replace(BODY, body)).sections[0].text == text


TERMS = "<def-list><title>Abbreviations</title><def-item><term>BS</term><def><p>bay salinity</p></def></def-item></def-list>"


@pytest.mark.parametrize(
    "before",
    [
        TERMS,
        f"<glossary>{TERMS}</glossary>",
        "<sec><title>List of abbreviations</title><p>BS: bay salinity.</p></sec>",
        "<sec><title>1. Non-standard abbreviations</title><p>BS: bay salinity.</p></sec>",
        '<sec sec-type="abbreviations"><title>Words</title><p>BS: bay salinity.</p></sec>',
        f"<sec><title>Words</title>{TERMS}</sec>",
    ],
)
def test_lists_of_terms_are_no_text_and_no_introduction(tmp_path: Path, before: str) -> None:
    body = f"<body>{before}<sec><title>Background</title><p>Bays are cold.</p></sec><sec><title>Methods</title><p>How.</p></sec></body>"
    document = read(tmp_path, ARTICLE.replace(BODY, body))
    assert [(s.heading, s.role, s.text) for s in document.sections[:2]] == [
        ("Background", "introduction", "Bays are cold."),
        ("Methods", "body", "How."),
    ]


@pytest.mark.parametrize(
    "before",
    ["<p><bold>Abbreviations:</bold> BS, bay salinity.</p>", "<sec><title>Highlights</title><p>Cold.</p></sec>"],
)
def test_what_stands_before_the_background_is_no_introduction(tmp_path: Path, before: str) -> None:
    body = f"<body>{before}<sec><title>Background</title><p>Bays are cold.</p></sec><sec><title>Methods</title><p>How.</p></sec></body>"
    sections = read(tmp_path, ARTICLE.replace(BODY, body)).sections
    assert [s.text for s in sections if s.role == "introduction"] == ["Bays are cold."]


def test_a_section_without_a_title_around_all_others_is_none(tmp_path: Path) -> None:
    body = BODY.replace("<body>", "<body><sec>").replace("</body>", "</sec></body>")
    assert read(tmp_path, ARTICLE.replace(BODY, body)) == read(tmp_path)


@pytest.mark.parametrize("between", ["–", " – ", "-"])
def test_years_and_names_are_no_ranges(tmp_path: Path, between: str) -> None:
    for first, last in (("2010", "2012"), ("Adams (2010)", "Young (2011)"), ("Adams", "Young")):
        links = f'<xref ref-type="bibr" rid="b1">{first}</xref>{between}<xref ref-type="bibr" rid="b6">{last}</xref>'
        text = ARTICLE.replace('[<xref ref-type="bibr" rid="b2">2</xref>]', f"({links})")
        assert read(tmp_path, text).mentions[0].references == (0, 6)


def test_entries_say_what_their_elements_say(tmp_path: Path) -> None:
    one, two, a, b, four, book, last = read(tmp_path).references
    assert (one.label, one.authors, one.year, one.title) == ("1", ("Doe",), 2019, "A first title of some length")
    assert (one.doi, one.pubmed) == ("10.5555/first", "PMID123")
    assert one.raw == "Doe J (2019) A first title of some length. Tests 3: 4."
    assert (two.title, two.doi, two.year) == ("A second title", "10.5555/second", 2020)
    assert [entry.label for entry in (a, b)] == ["3", "3"]
    assert "Work b" in b.raw
    assert four.title == "Plain words of an entry"
    assert (book.title, book.year) == ("A whole book", 1999)
    assert last.pubmed == "PMC77"


@pytest.mark.parametrize(
    ("body", "roles"),
    [
        ("<p>It opens.</p><sec><title>Results</title><p>R.</p></sec>", ["introduction", "body"]),
        ("<sec><title>Results</title><p>R.</p></sec><sec><title>Background</title><p>B.</p></sec>", ["body", "body"]),
        ("<p>All of it.</p>", ["body"]),
    ],
)
def test_what_introduces_an_article_without_an_introduction(tmp_path: Path, body: str, roles: list[str]) -> None:
    document = read(tmp_path, f"<article>{FRONT}<body>{body}</body></article>")
    assert [section.role for section in document.sections] == roles


BOMB = '<!DOCTYPE article [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>' + ARTICLE.replace("First.", "&b;")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (BOMB, "damaged"),
        (
            f'<!DOCTYPE article [<!ENTITY x SYSTEM "file:///etc/hostname">]>{ARTICLE.replace("First.", "&x;")}',
            "damaged",
        ),
        (ARTICLE[:-200], "damaged"),
        ("<html><body>Not here</body></html>", "not_jats"),
        ("", "not_jats"),
        (f"<article>{FRONT}</article>", "no_sections"),
        (f"<article>{FRONT}<body/></article>", "no_sections"),
    ],
)
def test_files_that_give_no_document_say_why(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "article.xml").write_text(text)
    result = answer(tmp_path / "article.xml")
    assert (result["reason"], result["document"]) == (reason, None)


def test_entities_of_html_are_characters_and_the_dtd_is_not_asked(tmp_path: Path) -> None:
    text = '<!DOCTYPE article SYSTEM "http://127.0.0.1:9/article.dtd">' + ARTICLE.replace(
        "First.", "A&nbsp;&alpha;&unknown;."
    )
    assert read(tmp_path, text).sections[1].text == "A α."


def test_made_up_articles_are_read_as_they_were_written(tmp_path: Path) -> None:
    for paper in make_world(3, 8, 12):
        document = read(tmp_path, article(paper))
        assert (document.title, document.abstract) == (paper.title, paper.abstract)
        assert [(s.heading, s.text.split("\n")) for s in document.sections[:-1]] == [
            (section.heading, list(section.paragraphs)) for section in paper.sections
        ]
        cited = sorted(i for mention in document.mentions for i in mention.references)
        assert cited == sorted(i for i, _, _ in citations(paper))
        known = [re.search(r"arXiv:(\d{4}\.\d{5})", entry) for entry in paper.references]
        assert [entry.doi for entry in document.references] == [doi_of(match[1]) if match else None for match in known]


# --- real articles, read once more by other means


@pytest.mark.slow
@pytest.mark.data
def test_real_articles_lose_no_paragraph_and_no_citation() -> None:
    found = of_bodies()
    assert found["paragraphs"] > 5000
    assert found["paragraphs_found"] >= 0.995
    assert found["links"] > 10_000
    assert found["links_found"] >= 0.999
    assert found["entries_of_refs"] >= 1


@pytest.mark.slow
@pytest.mark.data
def test_letters_and_answers_below_real_articles_are_no_text_of_theirs() -> None:
    for file in sorted(ARTICLES.glob("*.xml.xz")):
        root = parsed(file)
        body, document = root.find("body"), read_jats(file).document
        assert len(document.references) >= sum(1 for _ in root.iter("ref"))
        if body is None or root.find("sub-article") is None:
            continue
        text = letters("\n".join(section.text for section in document.sections))
        whole = letters("".join(running(body)))
        for paragraph in root.iterfind("sub-article//p"):
            own = letters("".join(running(paragraph)))
            # Answers to reviewers quote the article.
            assert len(own) <= 200 or own in whole or own not in text


def test_a_lost_formula_leaves_no_introduction_to_ask_for(tmp_path: Path) -> None:
    formula = "<inline-formula><inline-graphic/></inline-formula>"
    methods = "<sec><title>Methods</title><p>M.</p></sec>"
    for inner in (f"<p>For {formula} small.</p>", f"<p>One.</p><sec><title>Aims</title><p>So {formula}.</p></sec>"):
        body = f"<sec><title>Introduction</title>{inner}</sec>{methods}"
        document = read(tmp_path, ARTICLE.replace(BODY, f"<body>{body}</body>"))
        assert "introduction" not in [section.role for section in document.sections]
    assert NO_TEXT in read(tmp_path, ARTICLE.replace("<italic>Title</italic>", formula)).title


def test_before_methods_alone_stands_a_whole_paper(tmp_path: Path) -> None:
    lead, methods = "<p>Intro.</p><p>We found X.</p>", "<sec><title>Methods</title><p>M.</p></sec>"
    results = "<sec><title>Results</title><p>R.</p></sec>"
    for body, role in ((lead + methods, "body"), (lead + methods + results, "introduction")):
        document = read(tmp_path, ARTICLE.replace(BODY, f"<body>{body}</body>"))
        assert document.sections[0].role == role


def test_links_into_lists_that_number_again_to_parts_and_to_ids_that_stand_twice(tmp_path: Path) -> None:
    def ref(id_: str, label: int, *works: str) -> str:
        inner = "".join(f'<mixed-citation id="{id_}{n}">{work}</mixed-citation>' for n, work in enumerate(works))
        return f'<ref id="{id_}"><label>{label}</label>{inner}</ref>'

    main = [
        ref("r1", 1, "Doe J. One. 2001"),
        ref("r2", 2, "Doe J. A. 2001", "Doe J. B. 2001"),
        ref("r3", 3, "Doe J. Three."),
    ]
    more = [ref("s1", 1, "Roe K. Other one. 2001"), ref("s1", 2, "Roe K. Other two. 2001")]
    back = f"<back><ref-list>{''.join(main)}</ref-list><ref-list>{''.join(more)}</ref-list></back>"
    links = ("r1", "1"), ("r21", "2b"), ("s1", "1")
    marks = "".join(f'<p>So [<xref rid="{id_}">{text}</xref>] it is.</p>' for id_, text in links)
    spread = '<p>So [<xref rid="r1">1</xref>-<xref rid="r3">3</xref>] it is.</p>'
    body = f"<body><sec><title>Introduction</title>{marks}{spread}</sec></body>"
    document = read(tmp_path, ARTICLE.replace(BODY, body).replace(BACK, back))
    assert [mention.references for mention in document.mentions] == [(0,), (2,), (0, 1, 2, 3)]


@pytest.mark.parametrize(
    ("printed", "text"),
    [
        ("Known<sup>1,2</sup> so.", "Known so."),
        ("Known<sup>14</sup> so.", "Known so."),
        ("At 10<sup>5</sup> per height<sup>2</sup>.", "At 10^5 per height^2."),
        ('Data<xref ref-type="fn" rid="f1"><sup>1</sup></xref> here.', "Data here."),
        ("<bold>Abstract.</bold> Own words.", "Own words."),
    ],
)
def test_marks_of_notes_are_no_words_of_an_abstract(printed: str, text: str) -> None:
    abstract = f"<abstract><p>{printed}</p><p>© 2014 The Authors.</p><p>Keywords: fish</p></abstract>"
    other = "<abstract><title>Plain English summary</title><p>Lay.</p></abstract>"
    front = re.sub(r"<abstract>.*</abstract>", other + abstract, FRONT, flags=re.DOTALL)
    article_text = f'<article article-type="research-article">{front}{BODY}</article>'
    assert abstract_of(parsed_article(article_text.encode(), "an article").find("front/article-meta")) == text


def test_a_subtitle_belongs_to_the_title_and_names_have_blanks(tmp_path: Path) -> None:
    subtitle = "</article-title><subtitle>A part of it</subtitle>"
    name = "<surname>Doe</surname><given-names>JA</given-names>"
    entry = (
        f'<ref id="glued"><mixed-citation><name>{name}</name>. A title. Tests 2020.</mixed-citation></ref></ref-list>'
    )
    document = read(tmp_path, ARTICLE.replace("</article-title>", subtitle, 1).replace("</ref-list>", entry, 1))
    assert document.title.endswith(": A part of it")
    assert document.references[-1].raw.startswith("Doe JA. ")


def test_conclusions_behind_the_body_are_read_and_statements_are_not(tmp_path: Path) -> None:
    behind = "<sec><title>Conclusions</title><p>It is so.</p></sec><sec><title>Funding</title><p>None.</p></sec>"
    behind += "<notes><sec><title>STAR★Methods</title><p>We went there.</p></sec></notes>"
    sections = read(tmp_path, ARTICLE.replace("<back>", f"<back>{behind}", 1)).sections
    assert [section.text for section in sections if section.role == "conclusion"][-1] == "It is so."
    assert not any("None." in section.text for section in sections)
    assert any("We went there." in section.text for section in sections)
