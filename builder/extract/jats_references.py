"""The reference list of a JATS article -> its entries: works are marked as such, and most of what they are is, too."""

import re
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import unquote

from lxml import etree

from builder.extract.references import parse_entry, with_ids
from builder.ids import PaperId
from builder.records import Reference
from builder.sources.jats.markup import attribute, one_line

_CITATIONS = frozenset({"element-citation", "mixed-citation", "nlm-citation", "citation"})
_TITLES = ("article-title", "chapter-title", "part-title", "data-title")
_OF_NAMES = ("surname", "given-names", "prefix", "suffix")
_NOT_PRINTED = frozenset({"pub-id", "label", "comment", "object-id"})
_NOT_TITLE = frozenset({"fn", "xref", "tex-math", "annotation", "annotation-xml"})


def references_of(article: etree._Element) -> tuple[tuple[Reference, ...], dict[str, tuple[int, ...]]]:
    """Return the entries, and for the id of each `ref` their places in the list: several, where a number stands for several works."""
    _part_names(article)
    entries: list[Reference] = []
    indices: dict[str, tuple[int, ...]] = {}
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
        twice |= named.keys() & indices.keys()
        indices |= named
    return tuple(entries), {id_: of_id for id_, of_id in indices.items() if id_ and of_id and id_ not in twice}


def _part_names(article: etree._Element) -> None:
    """Put a blank between the parts of a name that an entry holds without one, so that "DoeJA" is read as it is meant."""
    for part in article.iter(*_OF_NAMES):
        after = part.getnext()
        if after is not None and after.tag in _OF_NAMES and not part.tail:
            part.tail = " "


def _citations(ref: etree._Element) -> list[etree._Element]:
    """Return the works of an entry, each once; the entry itself if nothing in it is marked as a work."""
    works: list[etree._Element] = []
    for child in ref:
        if child.tag == "citation-alternatives":
            works += [alternative for alternative in child if alternative.tag in _CITATIONS][:1]
        elif child.tag in _CITATIONS:
            works.append(child)
    return works or ([ref] if one_line(ref, _NOT_PRINTED) else [])


def _entry(citation: etree._Element, label: str) -> Reference:
    """Return one work; what its elements do not name is read from what is printed."""
    links = [attribute(link, "href") or one_line(link) for link in citation.iter("ext-link", "uri")]
    # Addresses have the signs of older DOIs in code.
    links = [unquote(link) if "doi.org/" in link else link for link in links]
    raw = _printed(citation)
    ids = {attribute(element, "pub-id-type"): one_line(element) for element in citation.iter("pub-id")}
    if doi := re.search(r"10\.\d{4,9}/\S+", ids.get("doi", "")):
        links.append(f"https://doi.org/{doi.group()}")
    if ids.get("arxiv"):
        links.append(f"arXiv:{ids['arxiv'].removeprefix('arXiv:')}")
    # Editors of a volume are no authors of its chapters.
    groups = [group for group in citation.iter("person-group") if group.get("person-group-type", "author") == "author"]
    authors = tuple(one_line(name) for group in groups or [citation] for name in group.iter("surname", "collab"))
    title, year = _title(citation), re.search(r"(?:19|20)\d{2}", one_line(citation.find(".//year")))
    is_told = bool(title and authors and year)
    entry = with_ids(Reference(raw), " ".join([raw, *links])) if is_told else parse_entry(raw, links)
    return replace(
        entry,
        label=label or entry.label,
        title=title or entry.title,
        authors=authors or entry.authors,
        year=int(year.group()) if year else entry.year,
        doi=entry.doi.lower() if entry.doi else None,
        pubmed=_pubmed(ids),
    )


def _pubmed(ids: Mapping[str, str]) -> str | None:
    """Read PubMed Central's id of a work, else PubMed's, from its ids by their types."""
    central = ids.get("pmcid", ids.get("pmc", "")).upper().removeprefix("PMC")
    for name in (f"PMC{central}", f"PMID{ids.get('pmid', '')}"):
        parsed = PaperId.parse(name)
        if parsed:
            return parsed.bare
    return None


def _title(citation: etree._Element) -> str:
    """Return the title of the work: of an article or chapter, else of a book; "" if none is marked."""
    title = next((text for name in _TITLES if (text := one_line(citation.find(f".//{name}"), _NOT_TITLE))), "")
    if not title and citation.get("publication-type", citation.get("citation-type")) == "book":
        title = one_line(citation.find(".//source"))
    return title.strip(" .")


def _printed_name(name: etree._Element) -> str:
    if name.find("surname") is None:
        return one_line(name)
    return " ".join(one_line(each) for each in (name.find("surname"), name.find("given-names")) if each is not None)


def _printed(citation: etree._Element) -> str:
    """Return the entry as it is printed; where the marks between its parts are left to a style, as "Doe J (2020) Title. Journal"."""
    marked = [citation.text or "", *(child.tail or "" for child in citation)]
    if citation.tag != "element-citation" and "".join(marked).strip():
        return one_line(citation, _NOT_PRINTED)
    names = [_printed_name(name) for name in citation.iter("name", "string-name", "collab")]
    title = _title(citation)
    source, volume, pages = (one_line(citation.find(f".//{part}")) for part in ("source", "volume", "fpage"))
    source = "" if source.strip(" .") == title else source
    year = one_line(citation.find(".//year"))
    head = ", ".join(name for name in names if name) + (f" ({year})" if year else "")
    tail = " ".join(part for part in (source, volume) if part) + (f": {pages}" if pages else "")
    joined = ". ".join(part.strip(" .") for part in (f"{head} {title}".strip(), tail) if part.strip(" ."))
    return f"{joined}." if joined else one_line(citation, _NOT_PRINTED)
