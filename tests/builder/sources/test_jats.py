"""What the fronts of JATS articles say, and folders and archives of them as a source."""

from __future__ import annotations

import errno
import gzip
import io
import json
import lzma
import os
import re
import tarfile
import zipfile
from collections import Counter
from datetime import date
from pathlib import Path
from typing import BinaryIO

import pytest
from lxml import etree

from benchmarks.jats import differences, parsed
from builder.errors import ExtractError, SourceError
from builder.extract import worker
from builder.records import GROUP, UNKNOWN_LICENSE, Drop, Paper
from builder.round.allowed import allows
from builder.sources.jats import front
from builder.sources.jats import source as jats_source
from builder.sources.jats.front import orcid, other_abstracts, paper_of
from builder.sources.jats.markup import parse_article, read_article
from builder.sources.jats.source import JatsSource, count_articles
from builder.store import Store
from standins.jats_world import doi_of, draw_jats, drops_of, papers_of, pmcid_of
from standins.places import DATA, table_beside

_LICENCES = table_beside(__file__, "licences.json")

ORCID = "0000-0002-1825-0097"
META = {
    "ids": '<article-id pub-id-type="doi">10.5555/Some.1</article-id><article-id pub-id-type="pmc">77</article-id>'
    '<article-id pub-id-type="pmid">123</article-id>',
    "subjects": '<article-categories><subj-group subj-group-type="heading"><subject>Research Article</subject></subj-group>'
    '<subj-group subj-group-type="Discipline-v3"><subject>Biology and life sciences</subject><subj-group><subject>Neuroscience'
    "</subject></subj-group></subj-group></article-categories>",
    "title": "<title-group><article-title>A <italic>Title</italic> of H<sub>2</sub>O<xref>*</xref></article-title></title-group>",
    "authors": f'<contrib-group><contrib contrib-type="author"><contrib-id contrib-id-type="orcid">https://orcid.org/{ORCID}'
    "</contrib-id><name><surname>Ek</surname><given-names>Ada B</given-names></name></contrib>"
    '<contrib contrib-type="author"><name name-style="eastern"><surname>Li</surname><given-names>Wei</given-names></name></contrib>'
    '<contrib contrib-type="author"><collab>The Consortium<contrib-group><contrib contrib-type="author"><name><surname>Member'
    "</surname><given-names>M</given-names></name></contrib></contrib-group></collab></contrib>"
    '<contrib contrib-type="author non-byline"><name><surname>No</surname><given-names>N</given-names></name></contrib>'
    '<contrib contrib-type="editor"><name><surname>Ed</surname><given-names>E</given-names></name></contrib></contrib-group>',
    "dates": '<pub-date pub-type="collection"><year>2026</year></pub-date><pub-date pub-type="ppub"><month>9</month><year>2026</year>'
    '</pub-date><pub-date pub-type="epub"><day>9</day><month>10</month><year>2026</year></pub-date>',
    "history": "",
    "licence": '<permissions><license xmlns:xlink="http://www.w3.org/1999/xlink" '
    'xlink:href="https://creativecommons.org/licenses/by/4.0/"><license-p>Yes.</license-p></license></permissions>',
    "abstract": "<abstract><p>We did it.</p></abstract>",
}
BODY = "<body><sec><title>Introduction</title><p>Words.</p></sec></body>"


def item(kind: str = "research-article", body: str = BODY, **other: str) -> Paper | Drop:
    metadata = "".join((META | other).values())
    journal = "<journal-meta><journal-title-group><journal-title>Some Journal</journal-title></journal-title-group></journal-meta>"
    text = f'<article article-type="{kind}"><front>{journal}<article-meta>{metadata}</article-meta></front>{body}</article>'
    return paper_of(parse_article(f'<!DOCTYPE article SYSTEM "jats.dtd">{text}'.encode(), "made up"))


def paper(**other: str) -> Paper:
    made = item(**other)
    assert isinstance(made, Paper)
    return made


def test_a_front_gives_a_whole_record() -> None:
    assert paper() == Paper(
        id="10.5555/some.1",
        version=1,
        title="A Title of H2O",
        abstract="We did it.",
        authors=("Ada B Ek", "Li Wei", "The Consortium"),
        categories=("biology-and-life-sciences", "biology-and-life-sciences.neuroscience"),
        published=date(2026, 10, 9),
        updated=date(2026, 10, 9),
        license="http://creativecommons.org/licenses/by/4.0/",
        doi="10.5555/some.1",
        author_ids=(ORCID, "", GROUP),
        other_ids=("PMC77", "PMID123"),
    )
    assert paper(subjects="").categories == ("some-journal",)
    assert paper(ids='<article-id pub-id-type="pmcid">PMC5</article-id>').id == "PMC5"
    versions = {
        stated: paper(version=f"<article-version>{stated}</article-version>").version for stated in ("1.2", "3", "x")
    }
    assert versions == {"1.2": 2, "3": 3, "x": 1}


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (item("editorial"), "not_research"),
        (item(body="<body/>"), "no_text"),
        (item(title=""), "bad_record"),
        (item(authors=""), "bad_record"),
        (item(dates=""), "bad_record"),
        (item(ids=""), "bad_record"),
        (item(ids='<article-id pub-id-type="doi">../../etc</article-id>'), "bad_record"),
    ],
)
def test_what_is_no_paper_says_why(made: Paper | Drop, reason: str) -> None:
    assert isinstance(made, Drop)
    assert made.reason == reason


PRINTED = '<pub-date pub-type="ppub"><month>10</month><year>2026</year></pub-date>'
YEAR = '<pub-date pub-type="collection"><year>2026</year></pub-date>'
RELEASED = '<pub-date pub-type="pmc-release"><day>2</day><month>11</month><year>2027</year></pub-date>'
SUBMITTED = '<pub-date pub-type="nihms-submitted"><day>17</day><month>7</month><year>2026</year></pub-date>'


@pytest.mark.parametrize(
    ("dates", "day"),
    [
        ('<pub-date date-type="pub" iso-8601-date="20260605"/>', date(2026, 6, 5)),
        ('<pub-date date-type="pub"><string-date>June 5, 2026</string-date></pub-date>', date(2026, 6, 5)),
        ('<pub-date date-type="pub"><string-date>2026-06-05</string-date></pub-date>', date(2026, 6, 5)),
        ('<pub-date date-type="pub"><season>Jul-Sep</season><year>2026</year></pub-date>', date(2026, 7, 1)),
        ('<pub-date date-type="pub"><day>5th</day><month>août</month><year>2026</year></pub-date>', date(2026, 8, 5)),
        ('<pub-date date-type="pub"><month>05</month><year>2026</year></pub-date>', date(2026, 5, 1)),
        (YEAR, date(2026, 1, 1)),
        ('<pub-date pub-type="epub"><day>31</day><month>2</month><year>2026</year></pub-date>', date(2026, 2, 1)),
        # An archive's days are later than the article, or before it is public.
        (PRINTED + RELEASED + SUBMITTED, date(2026, 10, 1)),
        (YEAR + RELEASED, date(2026, 1, 1)),
        (YEAR + RELEASED.replace("2027", "2026"), date(2026, 11, 2)),
        (RELEASED, date(2027, 11, 2)),
    ],
)
def test_the_day_of_publication(dates: str, day: date) -> None:
    assert paper(dates=dates).published == day


EARLY = "<day>1</day><month>2</month><year>2026</year>"


@pytest.mark.parametrize(
    ("change", "day"),
    [
        ({"history": f'<history><date date-type="preprint">{EARLY}</date></history>'}, date(2026, 2, 1)),
        (
            {"history": f'<pub-history><event event-type="preprint"><date>{EARLY}</date></event></pub-history>'},
            date(2026, 2, 1),
        ),
        ({"history": f'<history><date date-type="received">{EARLY}</date></history>'}, date(2026, 10, 9)),
        (
            {
                "dates": YEAR.replace("collection", "epub"),
                "ids": '<article-id pub-id-type="doi">10.1101/2025.12.24.123456</article-id>',
            },
            date(2025, 12, 24),
        ),
    ],
)
def test_the_first_public_day_counts(change: dict[str, str], day: date) -> None:
    assert paper(**change).published == day


def test_a_year_alone_is_known_as_one() -> None:
    known = {dates: etree.fromstring(f"<article-meta>{dates}</article-meta>") for dates in (YEAR, META["dates"])}
    assert [front.is_of_a_year(metadata, "10.5555/some.1") for metadata in known.values()] == [True, False]
    assert not front.is_of_a_year(known[YEAR], "10.1101/2026.04.07.030213")


BY = "https://creativecommons.org/licenses/by/4.0/"


def stating(words: str, href: str = "") -> str:
    link = f' xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="{href}"' if href else ""
    return f"<permissions><license{link}><license-p>{words}</license-p></license></permissions>"


@pytest.mark.parametrize(("address", "words", "href"), _LICENCES["read"])
def test_licences_are_read_from_addresses_and_sentences(address: str, words: str, href: str) -> None:
    made = paper(licence=stating(words, href))
    assert made.license == f"http://creativecommons.org/{address}"
    is_free = address.startswith(("licenses/by/", "licenses/by-sa/", "publicdomain/zero/"))
    assert allows(made.license, "redistributable") == is_free


@pytest.mark.parametrize(
    "rights",
    [
        "<copyright-statement>All rights reserved.</copyright-statement>",
        "<license><license-p>Attribution is kind.</license-p></license>",
    ],
)
def test_what_names_no_licence_is_none(rights: str) -> None:
    assert paper(licence=f"<permissions>{rights}</permissions>").license == "none"


@pytest.mark.parametrize("licence", _LICENCES["in doubt"])
def test_nothing_in_doubt_passes_for_a_free_licence(licence: str) -> None:
    assert not allows(paper(licence=licence).license, "redistributable")


def test_summaries_for_others_are_left_out_and_counted() -> None:
    abstracts = (
        '<abstract abstract-type="toc"><p>Toc.</p></abstract><abstract><sec><title>Simple Summary</title><p>For all.</p></sec>'
        "<sec><title>Methods</title><p>We did.</p></sec></abstract>"
    )
    assert paper(abstract=abstracts).abstract == "Methods: We did."
    metadata = etree.fromstring(f"<article-meta>{abstracts}</article-meta>")
    assert other_abstracts(metadata) == 2
    assert paper(abstract="").abstract == ""


def contributor(who: str, kind: str = "author") -> str:
    return f'<contrib contrib-type="{kind}">{who}</contrib>'


NAME = "<name><surname>Ek</surname><given-names>Ada</given-names></name>"
OTHER = "<name><surname>Bo</surname><given-names>Ola</given-names></name>"
GROUPS = "<collab-alternatives><collab>A Group</collab><collab>Los demás</collab></collab-alternatives>"
PLACED = "<collab>A Group<aff>Oslo</aff><address><email>a@b.no</email></address></collab>"


@pytest.mark.parametrize(
    ("groups", "authors"),
    [
        ({"author": contributor(NAME, "person")}, ("Ada Ek",)),
        ({"": contributor(NAME, "person")}, ("Ada Ek",)),
        ({"": contributor(GROUPS) + contributor(NAME)}, ("A Group", "Ada Ek")),
        ({"authors": contributor(NAME), "editors": contributor(OTHER, "person")}, ("Ada Ek",)),
        ({"": contributor(PLACED, "group") + contributor(NAME, "corresponding-author")}, ("A Group", "Ada Ek")),
        ({"": contributor(NAME.replace("Ek", "Ek<sup>1</sup>")), "reviewers": contributor(OTHER)}, ("Ada Ek",)),
    ],
)
def test_every_author_in_order_and_nobody_else(groups: dict[str, str], authors: tuple[str, ...]) -> None:
    of_kind = {kind: f' content-type="{kind}"' if kind else "" for kind in groups}
    written = (f"<contrib-group{of_kind[kind]}>{people}</contrib-group>" for kind, people in groups.items())
    assert paper(authors="".join(written)).authors == authors


def test_the_abstract_is_in_the_articles_language_and_says_everything_once() -> None:
    two = '<abstract xml:lang="de"><p>Deutsch.</p></abstract><abstract xml:lang="en"><p>English.</p></abstract>'
    assert paper(abstract=two).abstract == "English."
    english = '<trans-abstract xml:lang="eng"><p>English.</p></trans-abstract>'
    assert paper(abstract=f'<abstract xml:lang="de"><p>Deutsch.</p></abstract>{english}').abstract == "English."
    mixed = '<abstract><sec xml:lang="es"><p>En breve.</p></sec><sec xml:lang="en"><p>In short.</p></sec></abstract>'
    assert paper(abstract=mixed).abstract == "In short."
    titled = "<abstract><title>Author Summary</title><p>For all.</p></abstract><abstract><p/></abstract><abstract><p>Ours.</p></abstract>"
    assert paper(abstract=titled).abstract == "Ours."
    beside = "<abstract><p>Real.</p><fig><caption><title>Cap.</title><p>More.</p></caption></fig></abstract>"
    assert paper(abstract=beside).abstract == "Real."
    raised = 'others<sup><xref ref-type="bibr" rid="b1">1</xref>,<xref ref-type="bibr" rid="b2">2</xref></sup>, too.'
    assert paper(abstract=f"<abstract><p>As {raised}</p></abstract>").abstract == "As others, too."
    items = "<list><list-item><p>Do tides matter?</p></list-item><list-item><p>Does cold?</p></list-item></list>"
    assert (
        paper(abstract=f"<abstract><p>We ask. {items}</p></abstract>").abstract == "We ask. Do tides matter? Does cold?"
    )
    assert (
        paper(abstract=f"<abstract><p>We ask.</p>{items}</abstract>").abstract == "We ask. Do tides matter? Does cold?"
    )
    assert (
        paper(abstract="<abstract><p>Over 10<sup>5</sup><break/>cells.</p></abstract>").abstract == "Over 10^5 cells."
    )


@pytest.mark.parametrize(
    "added",
    [
        '<p><bold>DOI:</bold> <ext-link ext-link-type="doi">http://dx.doi.org/10.5555/x.001</ext-link></p>',
        "<p><italic>Please see later in the article for the Editors' Summary</italic>.</p>",
        "<sec><title>Supplementary Information</title><p>The online version contains more at 10.5555/y.</p></sec>",
        "<p>The online version of this article (doi:10.5555/y) contains supplementary material, which is available to authorized users.</p>",
    ],
)
def test_what_publishers_add_is_not_the_abstract(added: str) -> None:
    written = "<p>We ask. Data: doi:10.5555/z has them.</p>"
    assert paper(abstract=f"<abstract>{written}{added}</abstract>").abstract == "We ask. Data: doi:10.5555/z has them."


def test_mistyped_orcids_are_none() -> None:
    assert [orcid(text) for text in (ORCID, f"http://orcid.org/{ORCID}/", "0000-0002-1825-0098", "0000", "")] == [
        ORCID,
        ORCID,
        "",
        "",
        "",
    ]


# --- folders and archives


def test_a_folder_is_a_source(tmp_path: Path) -> None:
    folder = draw_jats(tmp_path / "articles", papers=8)
    source = JatsSource(str(folder), tmp_path / "work")
    papers = papers_of(source)
    assert len(papers) == 8
    first = min(papers, key=lambda paper: paper.id)
    arxiv_id = first.id.removeprefix("10.5555/made.up.")
    assert (first.id, first.other_ids) == (doi_of(arxiv_id), (pmcid_of(arxiv_id),))
    assert source.fetch("jats", first.id, 1) == folder / f"{arxiv_id}.xml"
    assert source.fetch("jats", "10.5555/other", 1) is None
    assert [found.id for found in source.by_author(first.authors[0]) if isinstance(found, Paper)]  # by its author too
    assert [found.id for found in source.by_ids([*first.other_ids, "PMC1"])] == [first.id]


def test_an_archive_does_not_fill_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jats_source, "_LEAST_UNPACKED", 1 << 20)
    with tarfile.open(tmp_path / "many.tar.xz", "w:xz") as packed:
        for i in range(60):
            (tmp_path / f"{i}.xml").write_bytes(b" " * (1 << 20))
            packed.add(tmp_path / f"{i}.xml", f"{i}.xml")
    with pytest.raises(SourceError, match="100 times as large"):
        jats_source.files_of(str(tmp_path / "many.tar.xz"), tmp_path / "work")
    assert sum(file.stat().st_size for file in (tmp_path / "work").rglob("*") if file.is_file()) < 10 << 20


def test_many_subjects_are_read_one_after_another() -> None:
    """A front of a few hundred bytes, packed, has so many; a search of the group for each would not end today."""
    subjects = "<subject>Biology</subject>" * 200_000
    article = etree.fromstring(
        f"<article><front><article-meta><article-categories><subj-group>{subjects}</subj-group></article-categories>"
        "<title-group><article-title>A title</article-title></title-group></article-meta></front></article>"
    )
    assert list(front._categories(article, article.find("front/article-meta"))) == ["biology"]


def test_marks_within_and_behind_one_another_are_read_once() -> None:
    formula = "<inline-formula>" * 30 + "x" + "</inline-formula>" * 30
    italic = "<italic>" * 30 + "word" + "</italic><sup>a</sup>" * 30
    title = f"<title-group><article-title>{formula}, {italic}, n{'<sup>a</sup>' * 400}</article-title></title-group>"
    assert paper(title=title).title == f"x, word{'a' * 30}, n{'^a' * 400}"


def test_archives_and_packed_files_are_the_same_source(tmp_path: Path) -> None:
    plain = draw_jats(tmp_path / "plain", papers=8)
    texts = {file.name: file.read_bytes() for file in sorted(plain.iterdir())}
    mixed = tmp_path / "mixed"
    (mixed / "deep").mkdir(parents=True)
    names = list(texts)
    with tarfile.open(mixed / "package.tar.gz", "w:gz") as tar:
        for name in names[:3]:
            info = tarfile.TarInfo(f"PMC1/../../{name}")
            info.size = len(texts[name])
            tar.addfile(info, io.BytesIO(texts[name]))
        link = tarfile.TarInfo("link.xml")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
        tar.addfile(link)
    with zipfile.ZipFile(mixed / os.fsdecode(b"\xff.ZIP"), "w") as packed:  # no UTF-8
        packed.writestr("论" * 96 + ".xml", texts[names[5]])  # too long for a file's name
    with zipfile.ZipFile(mixed / "one.meca", "w") as meca:
        meca.writestr("manifest.xml", "<manifest/>")
        meca.writestr(f"content/{names[3]}", texts[names[3]])
    (mixed / "deep" / f"{names[4]}.xz").write_bytes(lzma.compress(texts[names[4]]))
    for name in names[6:]:
        (mixed / name).write_bytes(texts[name])
    ways = [JatsSource(str(path), tmp_path / path.name / ".." / f"work-{path.name}") for path in (plain, mixed)]
    assert papers_of(ways[0]) == papers_of(ways[1])
    assert not list(tmp_path.rglob("hostname"))


def test_an_address_is_a_source(tmp_path: Path) -> None:
    folder = draw_jats(tmp_path / "articles", papers=4)
    source = JatsSource(f"file://{folder}/*.xml", tmp_path / "work")
    papers = papers_of(source)
    assert len(papers) == 4
    file = source.fetch("jats", papers[0].id, 1)
    assert file is not None
    assert file.is_relative_to(tmp_path / "work")
    assert file.read_bytes() == (folder / f"{papers[0].id.removeprefix('10.5555/made.up.')}.xml").read_bytes()


def test_a_killed_reading_goes_on_and_changed_files_are_read_again(tmp_path: Path) -> None:
    folder = draw_jats(tmp_path / "articles", papers=6)
    whole = papers_of(JatsSource(str(folder), tmp_path / "other"))
    JatsSource(str(folder), tmp_path / "work")
    fronts = tmp_path / "work" / "jats" / "fronts.journal"
    lines = fronts.read_bytes().splitlines(keepends=True)
    # Killed in the middle of a line.
    fronts.write_bytes(b"".join(lines[:3]) + lines[3][:40])
    (fronts.parent / "metadata.jsonl").unlink()
    assert papers_of(JatsSource(str(folder), tmp_path / "work")) == whole
    file = next(iter(sorted(folder.iterdir())))
    file.write_text(file.read_text().replace("<article-title>", "<article-title>Changed "))
    titles = [paper.title for paper in papers_of(JatsSource(str(folder), tmp_path / "work"))]
    assert sum(title.startswith("Changed ") for title in titles) == 1


def test_a_licence_that_is_withdrawn_is_gone(tmp_path: Path) -> None:
    folder = draw_jats(tmp_path / "articles", papers=4)
    with Store.open(tmp_path / "store.sqlite3") as store:
        store.add_papers(papers_of(JatsSource(str(folder), tmp_path / "work")), since="2026.11")
        file = next(file for file in sorted(folder.iterdir()) if "creativecommons" in file.read_text())
        file.write_text(re.sub(r"<permissions>.*</permissions>", "<permissions/>", file.read_text()))
        store.add_papers(papers_of(JatsSource(str(folder), tmp_path / "work")), since="2026.11")
        [changed] = store.papers([doi_of(file.stem)])
        assert changed.license == "none"
        assert store.id_of(pmcid_of(file.stem)) == changed.id


@pytest.mark.parametrize("name", [b"\xe9t\xe9.xml", b"damaged.xml.gz"])
def test_a_file_that_cannot_be_read_is_one_drop(tmp_path: Path, name: bytes) -> None:
    folder = draw_jats(tmp_path / "articles", papers=4)
    packed = bytearray(gzip.compress(b"<article>" * 1000))
    packed[12:40] = b"x" * 28
    (folder / os.fsdecode(name)).write_bytes(packed)
    source = JatsSource(str(folder), tmp_path / "work")
    assert len(papers_of(source)) == 4
    assert list(drops_of(source).values()) == ["bad_record"]


def test_of_two_files_that_say_the_same_the_text_decides_which_is_taken(tmp_path: Path) -> None:
    folder = draw_jats(tmp_path / "articles", papers=1)
    [file] = folder.iterdir()
    other = file.read_text().replace("<article-title>", "<article-title>Another ")
    taken = []
    for names in (("a.xml", "b.xml"), ("b.xml", "a.xml")):
        place = tmp_path / "".join(names)
        place.mkdir()
        for name, text in zip(names, (file.read_text(), other), strict=True):
            (place / name).write_text(text)
        taken.append([paper.title for paper in papers_of(JatsSource(str(place), tmp_path / f"work-{names[0]}"))])
    assert taken[0] == taken[1]


def test_of_an_article_with_several_files_the_newest_version_counts(tmp_path: Path) -> None:
    folder = draw_jats(tmp_path / "articles", papers=4)
    # What a newer version takes back is gone; files of one name are two.
    for file, title in zip(sorted(folder.iterdir()), ("New", "WITHDRAWN:"), strict=False):
        newer = file.read_text().replace("<title-group>", "<article-version>2</article-version><title-group>")
        (folder / title).mkdir()
        (folder / title / "v2.xml").write_text(newer.replace("<article-title>", f"<article-title>{title} "))
        (folder / title / "broken.xml").write_text("<article>")
    # An article of eLife says its version in the name of its file alone; a file of several articles is none.
    last = sorted(folder.glob("*.xml"))[-1]
    (folder / "elife-1-v3.xml").write_text(last.read_text())
    (folder / "set.xml").write_text(f"<pmc-articleset>{'<article><front/></article>' * 2}</pmc-articleset>")
    source = JatsSource(str(folder), tmp_path / "work")
    assert sum(paper.title.startswith("New ") and paper.version == 2 for paper in papers_of(source)) == 1
    assert [paper.version for paper in papers_of(source)].count(3) == 1
    assert Counter(drops_of(source).values()) == {"older_version": 3, "withdrawn": 1, "bad_record": 3}


@pytest.mark.parametrize("name", ["nowhere", "empty", "damaged.zip"])
def test_what_is_no_source_says_so(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "damaged.zip").write_bytes(b"PK\3\4 not really")
    with pytest.raises(SourceError, match=name):
        JatsSource(str(tmp_path / name), tmp_path / "work")


@pytest.mark.slow
@pytest.mark.data
def test_real_fronts_agree_with_their_manifest(tmp_path: Path) -> None:
    source = JatsSource(str(DATA / "jats"), tmp_path / "work")
    known = {
        entry["doi"].lower(): entry
        for entry in map(json.loads, (DATA / "jats" / "MANIFEST.jsonl").read_text().splitlines())
    }
    papers = {paper.id: paper for paper in papers_of(source)}
    dropped = drops_of(source)
    assert papers.keys() | dropped.keys() == known.keys()
    assert set(dropped.values()) == {"not_research"}
    assert {known[id_]["type"] for id_ in dropped} == {"editorial", "discussion"}
    research = [paper for id_, paper in papers.items() if known[id_]["type"] == "research-article"]
    assert len(research) == 97
    assert all(paper.title and paper.authors and paper.categories for paper in research)
    for paper in papers.values():
        metadata = parsed(DATA / "jats" / f"{known[paper.id]['name']}.xml.xz").find("front/article-meta")
        assert metadata is not None
        # Title, names and number of authors, year and licence, against plain paths through the file.
        assert not list(differences(paper, metadata))
        assert paper.license != UNKNOWN_LICENSE


def test_a_disk_that_fails_is_no_fact_about_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command ends, and the same one reads the article later."""
    (tmp_path / "a.xml").write_bytes(b"<article><front/></article>")

    def fails(path: Path) -> BinaryIO:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr("builder.packed.open_packed", fails)
        with pytest.raises(SourceError, match=r"cannot read .*a\.xml: Input/output error"):
            read_article(tmp_path / "a.xml")
        patch.setattr(worker, "sha256_of", fails)
        with pytest.raises(SourceError, match="Input/output error"):
            worker.answer(tmp_path / "a.xml")
    assert read_article(tmp_path / "a.xml").tag == "article"
    with pytest.raises(ExtractError, match="No such file"):
        read_article(tmp_path / "b.xml")


def test_articles_are_counted_where_none_is_packed(tmp_path: Path) -> None:
    assert count_articles(tmp_path / "nowhere") is None
    for name in ("a.xml", "b/c.nxml.gz", "b/d.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert count_articles(tmp_path) == 2
    (tmp_path / "PMC1.tar.gz").touch()
    assert count_articles(tmp_path) is None
