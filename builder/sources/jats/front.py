"""What the front of a JATS article says: title, abstract, authors, dates, licence, ids and subject -> Paper.

https://jats.nlm.nih.gov/archiving/tag-library/1.3/element/article-meta.html
"""

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from datetime import date

from lxml import etree

from builder.ids import bare_ids, names_of
from builder.records import GROUP, Drop, Paper
from builder.retractions import OF_ARTICLES, is_taken_back
from builder.sources.jats.licenses import license_of
from builder.sources.jats.markup import OF_FORMULAS, attribute, one_line
from builder.sources.metadata_file import checked_paper
from lm_eval_tasks.base.text import MONTHS, fold, with_subtitle

# What reports no study of its own (https://jats.nlm.nih.gov/archiving/tag-library/1.3/attribute/article-type.html).
_NO_RESEARCH = frozenset(
    "abstract addendum announcement article-commentary book-review books-received calendar collection commentary correction "
    "corrected-article discussion dissertation editorial expression-of-concern in-brief interview introduction letter "
    "meeting-report news obituary oration partial-retraction product-review reply reprint retraction retracted-article "
    "translation other".split()
)
# Marks in titles, names and abstracts that are no words of theirs.
NOTES = frozenset({"fn", "xref", "graphic", "inline-graphic", "tex-math", "label", "index-term"})
_MARKS = NOTES - {"xref"} | OF_FORMULAS
# What an abstract shows beside its text.
_BESIDE = frozenset("def-list glossary fig table-wrap boxed-text supplementary-material media caption".split())
# Where a group's name stands beside what it is made of.
_OF_GROUPS = NOTES | frozenset("contrib-group name string-name aff address addr-line email ext-link uri sup".split())
_LANGUAGES = dict(eng="en", fre="fr", fra="fr", ger="de", deu="de", spa="es", por="pt", ita="it", chi="zh", zho="zh")
# Kinds of abstract besides the authors' own: digests, summaries for others, tables of contents.
_OWN_ABSTRACTS = ("", "abstract", "structured", "section", "author")
_OTHER_SUMMARIES = re.compile(
    r"(?:simple|plain[ -](?:language|english)|author|authors'|editors?'?s?|lay|non-?technical) (?:summary|abstract)"
    r"|(?:significance|impact)(?: statement)?|statement of significance|highlights|key (?:points|messages)|key ?words|index terms"
    r"|(?:graphic(?:al)?|video|tweetable|visual) abstract|elife digest|digest"
    r"|(?:electronic )?supplementary (?:information|materials?|data)",
    re.IGNORECASE,
)
# Paragraphs that publishers add to an abstract.
_PUBLISHERS = re.compile(
    r"(?:doi:? ?)?(?:https?://(?:dx\.)?doi\.org/)?10\.\d{4,}/\S+|please see later in the article for the editors['’] summary\W*"
    r"|(?:the|this) (?:online version|article)\b.{0,80}\bcontains supplementary material\b.*"
    r"|(?:key ?words?|index terms)\s*[:—–].*|(?:copyright )?(?:©|\(c\) ?\d).*|this article is protected by copyright\b.*"
    r"|all rights reserved\W*",
    re.IGNORECASE,
)
# Groups of subjects that name kinds of articles.
_ARTICLE_KINDS = frozenset({"display-channel", "author-type", "article-type", "article-collection"})
_KIND_NAMES = re.compile(
    r"(?:original |new |short |brief |regular |full |data |review |opinion |methods? |software |tools? and |technical |systematic )*"
    r"(?:research|articles?|results?|reports?|papers?|reviews?|communications?|contributions?|letters?|studies|study|notes?|resources?"
    r"|reporting|advances?|essays?|perspectives?|viewpoints?|opinions?|commentary|education|formal comment|protocols?|methodology"
    r"|health in action|policy forum|research in translation|guidelines and guidance)(?: articles?)?",
    re.IGNORECASE,
)
_PUBLIC = frozenset({"epub", "epub-original", "ppub", "epub-ppub", "pub", "publication", "preprint", "epreprint"})
# Kinds and subtitles of articles that were taken back.
_TAKEN_BACK = frozenset(("retracted", "withdrawn", "retracted article", "withdrawn article"))
_RELEASED = "pmc-release"
_OF_ARCHIVES = frozenset({_RELEASED, "nihms-submitted"})
_PREPRINT_DOI = re.compile(r"10\.(?:1101|64898)/(\d{4})\.(\d\d)\.(\d\d)\.\d+")
_ORCID = re.compile(r"(\d{4}-\d{4}-\d{4}-\d{3}[\dX])$", re.IGNORECASE)
# What contributors are who are no authors.
_OTHER_PARTS = re.compile(
    "edit|review|referee|translat|illustrat|photograph|compil|collaborator|contributor|member|guest|non-byline"
)
_AUTHORS = re.compile(r"author|^(?:group|collab(?:oration)?|consortium|corresp(?:onding)?)$")
# A word before an abstract on its line.
_LED_BY = re.compile(r"^(?:abstract|summary)\s?[.:—–]\s+(?=[A-Z])", re.IGNORECASE)
# Marks of notes beside a name.
_VERSION = re.compile(r"(?:1\.)?([1-9]\d{0,3})")
_BESIDE_NAMES = " ,*∗†‡§¶"
_LONGEST_CATEGORY = 60
# By their first letters, also as French, German, Italian, Portuguese and Spanish journals have them.
_MONTHS = {month[:3]: str(i) for i, month in enumerate(MONTHS, 1)} | {
    letters: str(month)
    for month, spelled in (
        *((1, "gen ene"), (2, "fev"), (4, "avr abr"), (5, "mai mag"), (6, "giu juin"), (7, "lug juil")),
        *((8, "aou ago"), (9, "set"), (10, "okt out ott"), (12, "dez dic")),
    )
    for letters in spelled.split()
}
# "5 June 2020", "June 5, 2020", "June 2020", "2020-06-05".
_PRINTED_DAYS = (
    re.compile(r"(?:(?P<day>\d{1,2})\.?\s+)?(?P<month>[^\W\d_]+)\.?,?\s+(?P<year>[12]\d{3})"),
    re.compile(r"(?P<month>[^\W\d_]+)\.?\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<year>[12]\d{3})"),
    re.compile(r"(?P<year>[12]\d{3})-(?P<month>\d\d)(?:-(?P<day>\d\d))?"),
)
_TO_THE_DAY = 2
_SEASONS = {"winter": "1", "spring": "3", "summer": "6", "autumn": "9", "fall": "9"}


def paper_of(article: etree._Element, version: int = 1) -> Paper | Drop:
    """Return the record of an article, or why it does not become one: not_research, no_text, bad_record, withdrawn.

    Args:
        version: which one it is if it does not say so.
    """
    metadata = article.find("front/article-meta")
    ids = ids_of(metadata) if metadata is not None else []
    name = ids[0] if ids else "an article without an id"
    if metadata is None or not ids:
        return Drop(name, "bad_record")
    if article.get("article-type", "") in _NO_RESEARCH:
        return Drop(name, "not_research")
    if article.find("body//p") is None:
        return Drop(name, "no_text")
    byline = list(_byline(metadata))
    doi = next((id_ for id_ in ids if id_.startswith("10.")), "")
    # bioRxiv's second one is "1.2".
    number = _VERSION.fullmatch(next((one_line(element) for element in metadata.iter("article-version")), ""))
    try:
        published, updated = _dates(metadata, ids[0])
        paper = Paper(
            id=ids[0],
            version=int(number[1]) if number else version,
            title=title_of(metadata),
            abstract=abstract_of(metadata) or _abstract_in(article),
            authors=tuple(author for author, _ in byline),
            categories=tuple(_categories(article, metadata)),
            published=published,
            updated=max(published, updated),
            license=license_of(metadata),
            doi=doi,
            author_ids=author_ids_of(byline),
            other_ids=tuple(ids[1:]),
        )
        return Drop(name, "withdrawn") if _is_taken_back(metadata, paper) else checked_paper(paper)
    except ValueError:
        return Drop(name, "bad_record")


def title_of(metadata: etree._Element) -> str:
    """Return the title of an article and its subtitle; "" if it has none."""
    group = metadata.find("title-group")
    if group is None:
        return ""
    title = one_line(group.find("article-title"), NOTES)
    for subtitle in group.findall("subtitle"):
        if "running" not in subtitle.get("content-type", ""):
            title = with_subtitle(title, one_line(subtitle, NOTES))
    return title


def _abstract_in(article: etree._Element) -> str:
    """Return the abstract of an article that has it as a section of its body; "" if it has none."""
    sections = (
        each
        for each in article.findall("body/sec")
        if one_line(each.find("title")).strip(" .:").casefold() == "abstract"
    )
    return next((" ".join(one_line(part, NOTES) for part in each.iter("p")) for each in sections), "")


def _is_taken_back(metadata: etree._Element, paper: Paper) -> bool:
    """Tell whether an article names its retraction, in its title or abstract or by a link."""
    links = {
        (each.get("related-article-type") or each.get("event-type") or "").casefold()
        for each in metadata.iter("related-article", "related-object", "event")
    }
    links |= {(each.get("date-type") or "").casefold() for each in metadata.iter("date")}
    kinds = {one_line(each).casefold() for each in metadata.iter("subject", "subtitle")}
    is_marked = not links.isdisjoint(OF_ARTICLES) or not kinds.isdisjoint(_TAKEN_BACK)
    return is_marked or is_taken_back(paper.title, paper.abstract)


def ids_of(metadata: etree._Element) -> list[str]:
    """Return the ids of an article, the one that it goes by first: DOI, then PubMed Central's, Europe PMC's for preprints, PubMed's."""
    given = {attribute(element, "pub-id-type"): one_line(element) for element in metadata.findall("article-id")}
    pmc = given.get("pmcid") or given.get("pmc") or given.get("pmc-uid") or ""
    pmid = f"PMID{given.get('pmid', '')}"
    return bare_ids((given.get("doi", ""), f"PMC{pmc.upper().removeprefix('PMC')}", given.get("ppr", ""), pmid))


# --- authors


def _byline(metadata: etree._Element) -> Iterator[tuple[str, str]]:
    """Yield the authors in order: name, and ORCID, `GROUP`, or ""."""
    everybody = metadata.findall("contrib-group/contrib")
    # Members of a consortium are listed without a kind, beside the authors.
    authors = [contributor for contributor in everybody if _is_author(contributor)]
    for contributor in authors or [each for each in everybody if not _OTHER_PARTS.search(_part_of(each))]:
        group = next(contributor.iter("collab"), None)
        if group is not None and contributor.find("name") is None and contributor.find("name-alternatives") is None:
            if name := one_line(group, _OF_GROUPS).strip(" :"):
                yield name, GROUP
            continue
        person = _person(contributor)
        people = names_of([person]) or (person,)
        own = orcid(one_line(contributor.find("contrib-id[@contrib-id-type='orcid']")))
        yield from ((name, own if len(people) == 1 else "") for name in people if name)


def _part_of(contributor: etree._Element) -> str:
    """Return what a contributor's group and own kind say of the part in the article."""
    group = contributor.getparent()
    of_group = group.get("content-type", "") if group is not None else ""
    return f"{of_group} {contributor.get('contrib-type', '')}".casefold().strip()


def _is_author(contributor: etree._Element) -> bool:
    type_, part = contributor.get("contrib-type", "").casefold(), _part_of(contributor)
    if not type_ and (contributor.get("corresp") == "yes" or contributor.find("collab") is not None):
        return True
    of_group = part.removesuffix(type_)
    return bool(_AUTHORS.search(type_) or (type_ and part.startswith("author"))) and not (
        _OTHER_PARTS.search(of_group) or (type_ != "author" and _OTHER_PARTS.search(type_))
    )


def author_ids_of(byline: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return `Paper.author_ids` for a byline of names and ids: none if nobody has one."""
    ids = tuple(id_ for _, id_ in byline)
    return ids if any(ids) else ()


def _person(contributor: etree._Element) -> str:
    """Return a name as it is printed: family names of the East first."""
    printed = [name for prefix in ("", "name-alternatives/") for name in contributor.iterfind(f"{prefix}string-name")]
    names = [*contributor.iterfind("name"), *contributor.iterfind("name-alternatives/name"), *printed]
    names = [name for name in names if name.find("surname") is not None]
    if not names:
        return one_line(next(iter(printed), None), NOTES | {"sup"}).strip(_BESIDE_NAMES)
    language = _article_language(contributor)
    name = next((name for name in names if _language(name) == language), names[0])
    surname, given, suffix = (
        one_line(name.find(part), NOTES | {"sup"}).strip(_BESIDE_NAMES) for part in ("surname", "given-names", "suffix")
    )
    parts = (surname, given) if name.get("name-style") == "eastern" else (given, surname)
    return " ".join(part for part in (*parts, suffix) if part)


def orcid(text: str) -> str:
    """Return an ORCID in its usual form; "" for a text that is none, by its check digit (ISO 7064, MOD 11-2)."""
    if (match := _ORCID.search(text.strip(" /"))) is None:
        return ""
    digits = match[1].replace("-", "").upper()
    total = 0
    for digit in digits[:-1]:
        total = (total + int(digit)) * 2
    expected = (12 - total % 11) % 11
    return match[1].upper() if digits[-1] == ("X" if expected == 10 else str(expected)) else ""


# --- abstract, subjects, dates


def abstract_of(metadata: etree._Element) -> str:
    """Return the authors' abstract, the parts of a structured one joined; digests and summaries for other readers are left out."""
    own: dict[str, etree._Element] = {}
    for abstract in (*metadata.findall("abstract"), *metadata.findall("trans-abstract")):
        is_own = abstract.get("abstract-type", "") in _OWN_ABSTRACTS and not _is_for_others(abstract)
        if is_own and one_line(abstract, _MARKS | _BESIDE | {"title"}):
            own.setdefault(_language(abstract), abstract)
    if not own:
        return ""
    language = _article_language(metadata)
    chosen = next(name for name in ("", language, "en", *own) if name in own)
    return _text_of(own[chosen], chosen or language)


def _text_of(abstract: etree._Element, language: str) -> str:
    """Return the text of an abstract, without what it shows beside, for others, or in another language."""
    parts = []
    others = {
        part for section in abstract.iter("sec") if _is_for_others(section) for part in section.iter("title", "p")
    }
    for part in abstract.iter("title", "p"):
        within = [part, *part.iterancestors()]
        inner = within[: within.index(abstract)]
        # A paragraph has the text of those within its lists.
        is_beside = any(each.tag in _BESIDE or (each is not part and each.tag == "p") for each in inner)
        if part in others or is_beside or any(_language(each) not in ("", language) for each in inner):
            continue
        text = one_line(part, _MARKS | _BESIDE)
        if _PUBLISHERS.fullmatch(text):
            continue
        if part.tag == "p":
            parts.append(text)
        elif text.casefold().strip(" .:") not in ("abstract", "summary", "") and part.getparent() is not abstract:
            parts.append(text if text.endswith((".", ":", "?")) else f"{text}:")
    text = " ".join(part for part in parts if part) or one_line(abstract, _MARKS | _BESIDE | {"title"})
    return _LED_BY.sub("", text)


def _article_language(element: etree._Element) -> str:
    return next((named for each in element.iterancestors("article") if (named := _language(each))), "en")


def _language(element: etree._Element) -> str:
    """Return the language that an element states, in two letters where there are, without its region."""
    name: str = element.get("{http://www.w3.org/XML/1998/namespace}lang", "").casefold().partition("-")[0]
    return _LANGUAGES.get(name, name)


def other_abstracts(metadata: etree._Element) -> int:
    """Return how many abstracts and parts of abstracts are not shown because they are for other readers."""
    parts = sum(map(_is_for_others, metadata.iterfind("abstract//sec")))
    return sum(a.get("abstract-type", "") not in _OWN_ABSTRACTS for a in metadata.findall("abstract")) + parts


def _is_for_others(section: etree._Element) -> bool:
    return _OTHER_SUMMARIES.fullmatch(one_line(section.find("title")).strip(" .:")) is not None


def _categories(article: etree._Element, metadata: etree._Element) -> Iterator[str]:
    """Yield subject areas, each as `area` and then as `area.subject`; the journal where an article names none.

    A group called "heading" names the kind of article in some journals, the subject in others.
    """
    seen: dict[str, None] = {}
    groups = [
        group
        for group in metadata.findall("article-categories/subj-group")
        if group.get("subj-group-type") not in _ARTICLE_KINDS
    ]
    for group in sorted(groups, key=lambda group: group.get("subj-group-type") == "heading"):
        below = one_line(group.find("subj-group/subject"))
        below = "" if _KIND_NAMES.fullmatch(below) else below
        for subject in group.findall("subject"):
            words = one_line(subject)
            if words and not _KIND_NAMES.fullmatch(words):
                area, _, inner = words.partition("/")
                seen[category_of(area)] = None
                seen[".".join(filter(None, (category_of(area), category_of(inner or below))))] = None
    journal = article.find("front/journal-meta//journal-title")
    yield from [name for name in seen if name] or filter(None, [category_of(one_line(journal))])


def category_of(words: str) -> str:
    """Count the words as the name of a category: "biology-and-life-sciences"."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", words).strip("-").lower().lstrip("0123456789-")
    if len(plain) > _LONGEST_CATEGORY:
        plain = plain[: _LONGEST_CATEGORY + 1].rpartition("-")[0] or plain[:_LONGEST_CATEGORY]
    return plain if len(plain) > 1 else ""


def _dates(metadata: etree._Element, id_: str) -> tuple[date, date]:
    """Return the first day on which the article, or its preprint, was public, and that of this version."""
    dated = _dated(metadata)
    public = _public_days(dated, id_)
    preprints = [
        day
        for element in (*metadata.iterfind("history/date"), *metadata.iterfind("pub-history/event/date"))
        if "preprint" in _kind_of(element) and (day := _day(element))
    ]
    # A year alone, as of a collection, says less than a month.
    known = max((exact for _, exact in public), default=0)
    first = min((day for day, exact in (*public, *preprints) if exact >= known), default=None)
    if first is None:
        raise ValueError("no day of publication")
    versions = (day for kind, (day, exact) in dated if exact == _TO_THE_DAY and kind == "epub-version")
    return first, max(versions, default=first)


def _dated(metadata: etree._Element) -> list[tuple[str, tuple[date, int]]]:
    """Return the dates of an article by their kinds, see `_day`."""
    return [(_kind_of(element), day) for element in metadata.iterfind("pub-date") if (day := _day(element))]


def _public_days(dated: Sequence[tuple[str, tuple[date, int]]], id_: str) -> list[tuple[date, int]]:
    """Return when an article was public, see `_day`: to the day, or as exactly as the file tells.

    Archives release some articles later, and receive manuscripts before they are public: their days count only where nothing else is
    known, or no more than the same year.
    """
    to_the_day = [day for kind, day in dated if kind in _PUBLIC and day[1] == _TO_THE_DAY]
    if to_the_day:
        return to_the_day
    # A preprint's DOI has the day on which the server received it; the file names no other.
    if in_doi := _PREPRINT_DOI.fullmatch(id_):
        return [(date(*map(int, in_doi.groups())), _TO_THE_DAY)]
    own = [day for kind, day in dated if kind not in _OF_ARCHIVES]
    of_months = [day for day in own if day[1]]
    years = {day.year for day, _ in own}
    released = [day for kind, day in dated if kind == _RELEASED and day[0].year in years]
    return of_months or (own + released if own else [day for _, day in dated])


def is_of_a_year(metadata: etree._Element, id_: str) -> bool:
    """Tell whether an article says no more of the day on which it was public than its year."""
    return not any(exact for _, exact in _public_days(_dated(metadata), id_))


def _kind_of(element: etree._Element) -> str:
    parent = element.getparent()
    event = parent.get("event-type", "") if parent is not None else ""
    return element.get("pub-type") or element.get("date-type") or event or "pub"


def _day(element: etree._Element) -> tuple[date, int] | None:
    """Return a date, and how exact it is: a year or a season (0), a month (1), or to the day; of what is not, the first day."""
    year, month, number = (one_line(element.find(part)) for part in ("year", "month", "day"))
    # https://jats.nlm.nih.gov/archiving/tag-library/1.3/attribute/iso-8601-date.html
    iso = re.sub(r"^(\d{4})(\d\d)(\d\d)$", r"\1-\2-\3", element.get("iso-8601-date", "")[:10])
    in_numbers = (*iso.split("-"), "", "", "")[:3]
    if not month and year in ("", in_numbers[0]):
        year, month, number = in_numbers
    printed = one_line(element.find("string-date"))
    if not year and (match := next(filter(None, (each.fullmatch(printed) for each in _PRINTED_DAYS)), None)):
        year, month, number = (match[part] or "" for part in ("year", "month", "day"))
    month = month or one_line(element.find("season"))
    word = re.split(r"[^a-z]", fold(month))[0]
    month = _SEASONS.get(word) or _MONTHS.get(word[:4]) or _MONTHS.get(word[:3]) or month
    if not re.fullmatch(r"[12]\d{3}", year):
        return None
    if not re.fullmatch(r"0?[1-9]|1[0-2]", month):
        return date(int(year), 1, 1), 0
    last = monthrange(int(year), int(month))[1]
    digits = re.sub(r"(?:st|nd|rd|th)$", "", number)
    is_whole = re.fullmatch(r"\d{1,2}", digits) is not None and 1 <= int(digits) <= last
    return date(int(year), int(month), int(digits) if is_whole else 1), _TO_THE_DAY if is_whole else 1
