"""What a heading's words say about the section's role in a paper; the top-level sections of a document, and which play a role."""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from builder.records import Document, Role
from lm_eval_tasks.base.text import fold

# By their value.
ROMAN = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII", "XIII", "XIV", "XV")
_NUMBER = re.compile(
    r"^\s*(?:(?i:section|chapter|part)\s+|appendix\s+|§+\s*)?(?:0\.)?"
    r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,3}|[IVX]{1,5}|[A-Z](?:\.\d{1,2}){0,3})"
    r"(?P<mark>[.:)]|\s?[|∣•—–-]\.?)?(?:\s+|(?<=[.:)|∣])(?=[A-Z]))(?P<title>\S.*)$"
)
_PATTERNS: dict[Role, re.Pattern[str]] = {
    "references": re.compile(
        r"(?:list of )?references(?: cited| and notes)?|bibliography|literature cited|works cited"
    ),
    "acknowledgements": re.compile(
        r"acknowledge?ments?\b.*|thanks|author(?:s'?|’s|s’)? contributions?.*"
        r"|funding(?: (?:sources?|statements?|information|support|disclosures?|details|agenc|bod(?:y|ies)|and |for |acknowl|this ).*)?"
        r"|contributions? statement|disclosure of funding.*|conflicts? of interests?.*|competing interests?.*"
        r"|declaration of .*|(?:(?:data|codes?|software|materials?|and|&),? )+availability.*|availability of (?:data|code|materials?).*"
        r"|credit authorship.*|about the authors?"
    ),
    "related_work": re.compile(
        r"(?:.*\b)?related (?:works?|research|literature|studies|study|approaches|papers?)\b.*"
        r"|(?:background and |background & )?(?:prior|previous) (?:works?|research)"
        r"|(?:.*\b)?literature (?:review|survey|overview)(?: .*)?|(?:a )?review of (?:the )?literature"
    ),
    "conclusion": re.compile(
        r"(?:.*\b)?conclu(?:sions?|ding)\b(?! validity).*|summary (?:and|&) .*|closing remarks|final remarks"
    ),
    "introduction": re.compile(
        r"(?:general |brief |an? )?introduction(?:\W+(?!to |of ).*| and .*)?|intro|(?:.*\b)(?:and|&) introduction|introductory remarks"
    ),
    "appendix": re.compile(
        r"(?:(?:online|supplementa(?:ry|l)|technical|web|additional|statistical|mathematical|proofs?|the|our|to|in|of|overview|outline"
        r"|organi[sz]ation|structure|contents?|table|roadmap|list|[a-z]) )*appendi(?:x|ces)\b.*"
        r"|suppl[ei]ment(?:al|ary|s)?(?: (?:materials?|information|text|figures?|notes?)\b.*)?"
        r"|(?:(?:[a-z]{2,6}ps|ic[a-z]{1,3}|[a-z]{0,4}acl|emnlp|aaai|arr|tmlr|20\d\d|paper|reproducibility|responsible|nlp|research|submission|the|our)"
        r" )*checklist(?: (?:for|of) authors)?|online appendix.*"
    ),
}
# Names that count for a role only if no other heading names it plainly.
_WEAK: dict[Role, re.Pattern[str]] = {
    "related_work": re.compile(
        r"(?:.*\b)?(?:prior|previous|earlier|existing) (?:works?|research|literature|studies|approaches|surveys)(?: .*)?"
        r"|state[ -]of[ -]the[ -]art|prior art|background and (?:prior|previous) .*"
    ),
    "introduction": re.compile(
        r"(?:general |brief |an? )?introduction (?:to|of) .*|(?:background and )?motivations?(?: and background)?|(?:our )?(?:aims?|goals?)"
    ),
    "conclusion": re.compile(r"summary|(?:brief|final) summary|outlook|(?:discussion|summary) and outlook"),
}
_KNOWN = re.compile(
    r"abstract|summary|introduction|background(?: .*)?|preliminaries|motivation|(?:our |proposed )?(?:methods?|methodology|approach)"
    r"|(?:materials and )?methods|model|(?:the )?proposed .*|theory|experiments?|experimental .*|evaluation|empirical .*"
    r"|results(?: and (?:discussion|analysis))?|analysis|discussions?(?: .*)?|limitations?(?: .*)?|threats to validity"
    r"|future works?|broader impacts?(?: .*)?|ethic.*|impact statement|problem (?:statement|formulation|definition)"
    r"|case stud(?:y|ies)|implementation(?: details)?|data(?:sets?)?|observations.*|notation"
)
# Small capitals come out of a PDF as "I NTRODUCTION" and letter-spaced headings as "C O N C L U S I O N".
_SQUEEZED = {
    plain.replace(" ", ""): plain
    for plain in (
        "abstract, introduction, related work, related works, conclusion, conclusions, references, "
        "acknowledgments, acknowledgements, acknowledgment, acknowledgement, appendix, background, "
        "background and related work, prior work, previous work, literature review, discussion, "
        "discussion and conclusion, discussion and conclusions, conclusion and future work, "
        "conclusions and future work, experiments, results, methods, method, bibliography, "
        "supplementary material, summary, evaluation, concluding remarks"
    ).split(", ")
}


def split_number(text: str) -> tuple[str, str]:
    """Split a heading into its number ("" if it has none) and its words."""
    match = _NUMBER.match(text)
    # An article, as in "A fresh look at ...", not the letter of an appendix.
    if match is None or (match["number"] == "A" and not match["mark"] and match["title"][:1].islower()):
        return "", text.strip()
    return match["number"], match["title"].strip()


@lru_cache(maxsize=1 << 14)
def normalise(words: str) -> str:
    """Return a heading's words in the form that the patterns know: folded, without edge punctuation or letter-spacing."""
    text = fold(words).strip(" .:—–-*†‡")
    return _SQUEEZED.get(text.replace(" ", ""), text)


@lru_cache(maxsize=1 << 14)
def role_of(words: str) -> Role | None:
    """Return the role that a heading's words (without number) name; None when they name none of the special ones."""
    text = normalise(words)
    return next((role for role, pattern in _PATTERNS.items() if len(text) <= 90 and pattern.fullmatch(text)), None)


def weak_role_of(words: str) -> Role | None:
    """Return the role that a heading's words name if no other heading of the paper names it plainly."""
    return next((role for role, pattern in _WEAK.items() if pattern.fullmatch(normalise(words))), None)


@lru_cache(maxsize=1 << 14)
def is_known(words: str) -> bool:
    """Tell whether papers commonly call a section so."""
    text = normalise(words)
    return len(text) <= 60 and bool(role_of(words) or weak_role_of(words) or _KNOWN.fullmatch(text))


# --- the sections of a document

# Sections that are not part of the main body.
OUTSIDE: frozenset[Role] = frozenset({"references", "appendix", "acknowledgements"})


def role_span(document: Document, role: Role) -> frozenset[int]:
    """Return the indices of the sections of a role, the subsections of each included."""
    span: set[int] = set()
    level: int | None = None
    for i, section in enumerate(document.sections):
        if level is not None and section.level <= level:
            level = None
        if level is None and section.role == role:
            level = section.level
        if level is not None and section.role not in OUTSIDE:
            span.add(i)
    return frozenset(span)


def cited_in_related_work(document: Document) -> list[int]:
    """Return the indices of the entries that the related-work section cites, in the order of their first mention."""
    span = role_span(document, "related_work")
    return list(
        dict.fromkeys(i for mention in document.mentions if mention.section in span for i in mention.references)
    )


@dataclass(frozen=True, slots=True)
class TopSection:
    """A top-level section: its heading, its role, and the indices of its sections, subsections included."""

    heading: str
    role: Role
    sections: tuple[int, ...]


def top_sections(document: Document) -> list[TopSection]:
    """Return the top-level sections of a paper, references, appendices and acknowledgements left out."""
    sections = document.sections
    top = min((section.level for section in sections), default=1)
    starts = [i for i, section in enumerate(sections) if i == 0 or section.level <= top]
    found = []
    for start, end in pairwise([*starts, len(sections)]):
        first = sections[start]
        if first.role not in OUTSIDE:
            inside = tuple(i for i in range(start, end) if sections[i].role not in OUTSIDE)
            found.append(TopSection(first.heading, first.role, inside))
    return found
