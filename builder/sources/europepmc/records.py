"""What Europe PMC's search says of an article (`resultType=core`) -> Paper.

https://europepmc.org/docs/EBI_Europe_PMC_Web_Service_Reference.pdf
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

from builder.ids import bare_ids
from builder.records import GROUP, UNKNOWN_LICENSE, Drop, Paper
from builder.sources.jats.front import author_ids_of, category_of, orcid
from builder.sources.record_check import checked_paper
from lm_eval_tasks.core.text import ODD, day

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEADING = re.compile(r"<h4>\s*(.*?)\s*:?\s*</h4>\s*", re.DOTALL)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
# Kinds of publication that report no study of their own.
_NO_RESEARCH = frozenset(
    "editorial,comment,letter,news,correction,retraction of publication,retraction notice,expression of concern,biography,"
    "interview,book review,published erratum,retracted publication".split(",")
)


def paper_of(result: dict[str, Any], field: str) -> Paper | Drop:
    """One result as a paper, without a licence: its file decides that.

    Args:
        field: that was searched for, its category; "" for the journal's name.
    """
    ids = _ids(result)
    name = ids[0] if ids else str(result.get("id"))[:100]
    try:
        kinds = {str(kind).casefold() for kind in (result.get("pubTypeList") or {}).get("pubType") or ()}
        if kinds & _NO_RESEARCH:
            return Drop(name, "not_research")
        byline = list(_byline(result))
        journal = str(((result.get("journalInfo") or {}).get("journal") or {}).get("title") or "")
        published = day(result["firstPublicationDate"])
        return checked_paper(
            Paper(
                id=ids[0],
                version=1,
                title=plain(result["title"]).removesuffix("."),
                abstract=plain(_HEADING.sub(r"\1: ", result.get("abstractText") or "")),
                authors=tuple(author for author, _ in byline),
                categories=tuple(filter(None, [category_of(field) or category_of(journal)])),
                published=published,
                updated=published,
                license=UNKNOWN_LICENSE,
                doi=next((id_ for id_ in ids if id_.startswith("10.")), ""),
                author_ids=author_ids_of(byline),
                other_ids=tuple(ids[1:]),
            )
        )
    except ODD:
        return Drop(name, "bad_record")


def _ids(result: dict[str, Any]) -> list[str]:
    """The ids of a result, the one that it goes by first."""
    preprint = result.get("id") if result.get("source") == "PPR" else ""
    names = (result.get("doi"), result.get("pmcid"), preprint, f"PMID{result.get('pmid') or ''}")
    return bare_ids(str(name or "") for name in names)


def _byline(result: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for author in (result.get("authorList") or {}).get("author") or ():
        if group := author.get("collectiveName"):
            yield plain(group), GROUP
            continue
        name = " ".join(part for part in (author.get("firstName"), author.get("lastName")) if part)
        known = author.get("authorId") or {}
        yield (
            plain(name or author["fullName"]),
            orcid(str(known.get("value") or "")) if known.get("type") == "ORCID" else "",
        )


def plain(text: str) -> str:
    """A text without its marks, on one line."""
    return " ".join(html.unescape(_TAG.sub("", text)).split())
