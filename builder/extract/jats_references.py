"""The reference list of a JATS article, and which of its entries each `ref` holds: several, where a number stands for several works."""

import re
from dataclasses import replace

from lxml import etree

from builder.extract.references import parse_entry, with_ids
from builder.ids import PaperId
from builder.records import Reference
from builder.sources.jats.markup import attribute, one_line

_CITATIONS = frozenset({"element-citation", "mixed-citation", "nlm-citation", "citation"})
_TITLES = ("article-title", "chapter-title", "part-title", "data-title")
_NOT_PRINTED = frozenset({"pub-id", "label", "comment", "object-id"})
_NOT_TITLE = frozenset({"fn", "xref", "tex-math", "annotation", "annotation-xml"})
_YEAR = re.compile(r"(?:19|20)\d{2}")
_DOI = re.compile(r"10\.\d{4,9}/\S+")


def read_references(article: etree._Element) -> tuple[tuple[Reference, ...], dict[str, tuple[int, ...]]]:
    """The entries, and for the id of each `ref` their places in the list."""
    entries: list[Reference] = []
    places: dict[str, tuple[int, ...]] = {}
    twice: set[str] = set()
    for ref in (ref for part in ("body", "back") for top in article.findall(part) for ref in top.iter("ref")):
        label = one_line(ref.find("label")).strip("[](). ")
        first = len(entries)
        works = _citations(ref)
        entries += [_entry(citation, label) for citation in works]
        every = tuple(range(first, len(entries)))
        named = {ref.get("id", ""): every}
        named |= {citation.get("id", ""): every for citation in ref.iter(*_CITATIONS)}
        # A link may be to one of the works that share a number.
        named |= {citation.get("id", ""): (first + i,) for i, citation in enumerate(works)}
        twice |= named.keys() & places.keys()
        places |= named
    return tuple(entries), {id_: of_id for id_, of_id in places.items() if id_ and id_ not in twice}


def _citations(ref: etree._Element) -> list[etree._Element]:
    """The works of an entry, each once; the entry itself if nothing in it is marked as a work."""
    works: list[etree._Element] = []
    for child in ref:
        if child.tag == "citation-alternatives":
            works += [alternative for alternative in child if alternative.tag in _CITATIONS][:1]
        elif child.tag in _CITATIONS:
            works.append(child)
    return works or ([ref] if one_line(ref, _NOT_PRINTED) else [])


def _entry(citation: etree._Element, label: str) -> Reference:
    """One work; what its elements do not name is read from what is printed."""
    links = [attribute(link, "href") or one_line(link) for link in citation.iter("ext-link", "uri")]
    raw = _printed(citation)
    ids = {attribute(element, "pub-id-type"): one_line(element) for element in citation.iter("pub-id")}
    if doi := _DOI.search(ids.get("doi", "")):
        links.append(f"https://doi.org/{doi.group()}")
    if ids.get("arxiv"):
        links.append(f"arXiv:{ids['arxiv'].removeprefix('arXiv:')}")
    pubmed = (f"PMC{ids.get('pmcid', ids.get('pmc', '')).upper().removeprefix('PMC')}", f"PMID{ids.get('pmid', '')}")
    # Editors of a volume are no authors of its chapters.
    groups = [group for group in citation.iter("person-group") if group.get("person-group-type", "author") == "author"]
    authors = tuple(one_line(name) for group in groups or [citation] for name in group.iter("surname", "collab"))
    title, year = _title(citation), _YEAR.search(one_line(citation.find(".//year")))
    if title and authors and year:
        entry = with_ids(Reference(raw), " ".join([raw, *links]))
    else:
        entry = parse_entry(raw, links)
    return replace(
        entry,
        label=label or entry.label,
        title=title or entry.title,
        authors=authors or entry.authors,
        year=int(year.group()) if year else entry.year,
        doi=entry.doi.lower() if entry.doi else None,
        pubmed=next((parsed.bare for name in pubmed if (parsed := PaperId.parse(name))), None),
    )


def _title(citation: etree._Element) -> str:
    """The title of the work: of an article or chapter, else of a book; "" if none is marked."""
    title = next((text for name in _TITLES if (text := one_line(citation.find(f".//{name}"), _NOT_TITLE))), "")
    if not title and citation.get("publication-type", citation.get("citation-type")) == "book":
        title = one_line(citation.find(".//source"))
    return title.strip(" .")


def _printed(citation: etree._Element) -> str:
    """The entry as it is printed; where the marks between its parts are left to a style, as "Doe J (2020) Title. Journal"."""
    marked = [citation.text or "", *(child.tail or "" for child in citation)]
    if citation.tag != "element-citation" and any(re.search(r"[^\s]", text) for text in marked):
        return one_line(citation, _NOT_PRINTED)
    names = [
        " ".join(one_line(part) for part in (name.find("surname"), name.find("given-names")) if part is not None)
        if name.find("surname") is not None
        else one_line(name)
        for name in citation.iter("name", "string-name", "collab")
    ]
    title = _title(citation)
    source, volume, pages = (one_line(citation.find(f".//{part}")) for part in ("source", "volume", "fpage"))
    source = "" if source.strip(" .") == title else source
    year = one_line(citation.find(".//year"))
    head = ", ".join(name for name in names if name) + (f" ({year})" if year else "")
    tail = " ".join(part for part in (source, volume) if part) + (f": {pages}" if pages else "")
    joined = ". ".join(part.strip(" .") for part in (f"{head} {title}".strip(), tail) if part.strip(" ."))
    return f"{joined}." if joined else one_line(citation, _NOT_PRINTED)
